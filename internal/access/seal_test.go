package access_test

import (
	"bytes"
	"testing"

	"github.com/beacon-wifi/beacon/internal/access"
)

func TestSeal(t *testing.T) {
	data := []byte("a secret of no small length")
	sealed, err := access.Seal("secret", "context", data)
	if err != nil || bytes.Contains(sealed, data[:8]) {
		t.Fatalf("Seal = %q, %v", sealed, err)
	}
	if again, _ := access.Seal("secret", "context", data); bytes.Equal(again[:32], sealed[:32]) || bytes.Equal(again[32:], sealed[32:]) {
		t.Error("sealed twice, it looks the same")
	}
	if got, err := access.Unseal("secret", "context", sealed); err != nil || !bytes.Equal(got, data) {
		t.Errorf("Unseal = %q, %v", got, err)
	}
	for what, try := range map[string]func() ([]byte, error){
		"another secret":  func() ([]byte, error) { return access.Unseal("Secret", "context", sealed) },
		"another context": func() ([]byte, error) { return access.Unseal("secret", "Context", sealed) },
		"nothing":         func() ([]byte, error) { return access.Unseal("secret", "context", nil) },
		"half of it":      func() ([]byte, error) { return access.Unseal("secret", "context", sealed[:len(sealed)/2]) },
		"only a salt":     func() ([]byte, error) { return access.Unseal("secret", "context", sealed[:32]) },
	} {
		if got, err := try(); err == nil {
			t.Errorf("with %s: %q", what, got)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if got, err := access.Unseal("secret", "context", changed); err == nil {
			t.Errorf("with byte %d changed: %q", i, got)
		}
	}
}
