package id_test

import (
	"encoding/base32"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/id"
)

// decode is an oracle by the standard library: 26 characters are 130 bits, of
// which the first two are zero.
func decode(t *testing.T, text string) []byte {
	t.Helper()
	crockford := base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
	// Left-pad to 32 characters (20 bytes), then drop the four bytes of padding.
	raw, err := crockford.DecodeString(strings.Repeat("0", 6) + text)
	if err != nil {
		t.Fatal(err)
	}
	return raw[4:]
}

func TestFormat_IsUUIDv7(t *testing.T) {
	at := time.UnixMilli(0x0192f7a1b2c3).UTC()
	got := id.Format("hs_", at, 0xfedcba9876543210, 0x0123456789abcdef)
	uuid := hex.EncodeToString(decode(t, strings.TrimPrefix(got, "hs_")))
	if want := "0192f7a1b2c3" + "7210" + "8123456789abcdef"; uuid != want {
		t.Errorf("%s holds %s; want %s", got, uuid, want)
	}
	if !id.Valid("hs_", got) {
		t.Errorf("Valid refuses %s", got)
	}
}

func TestNew_SortsByTimeAndIsUnique(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	last := ""
	for i := range 10_000 { // two and a half milliseconds
		now := at.Add(time.Duration(i) * 250 * time.Nanosecond)
		fresh := id.New("usr_", now)
		if fresh <= last {
			t.Fatalf("%s, made later, sorts before %s", fresh, last)
		}
		last = fresh
		if twin := id.New("usr_", now); seen[twin] || twin == fresh {
			t.Fatalf("%s came twice", twin)
		}
		seen[fresh] = true
	}
}

func TestValid(t *testing.T) {
	good := id.New("hs_", time.Unix(1_800_000_000, 0))
	for _, bad := range []string{
		"", "hs_", good[:len(good)-1], good + "0", strings.ToUpper(good), "usr_" + good[3:],
		"hs_8" + good[4:], "hs_0i" + good[5:], "hs_0l" + good[5:], "hs_0\x00" + good[5:], good[3:],
	} {
		if id.Valid("hs_", bad) {
			t.Errorf("Valid accepts %q", bad)
		}
	}
	if !id.Valid("hs_", good) {
		t.Errorf("Valid refuses %q", good)
	}
}
