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

// Who waits longer for others may itself stand still for longer: a command on a slow
// machine must not lose its connection between two statements.
func TestLimitsFor(t *testing.T) {
	for wait, want := range map[time.Duration][2]string{0: {"4000", "10000"}, time.Minute: {"60000", "60000"}} {
		got := limitsFor(wait, nil)
		if got["statement_timeout"] != want[0] || got["idle_in_transaction_session_timeout"] != want[1] || got["application_name"] != "beacon" {
			t.Errorf("who waits for %v has the limits %v; want %v", wait, got, want)
		}
	}
}
