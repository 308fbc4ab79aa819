package postgres

import (
	"testing"
	"time"
)

// A statement that hangs ends before the committer gives up, whatever the URL says.
func TestPatienceFor(t *testing.T) {
	for timeout, want := range map[string]time.Duration{
		"4000": 5 * time.Second, "60000": 61 * time.Second,
		"100": 5 * time.Second, "0": 5 * time.Second, "1min": 5 * time.Second, "": 5 * time.Second,
	} {
		if got := patienceFor(map[string]string{"statement_timeout": timeout}); got != want {
			t.Errorf("statement_timeout %q: the committer waits for %v; want %v", timeout, got, want)
		}
	}
}
