package harness

import (
	"os"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen. It is no promise of the
// product: it only ends a run that hangs, and a machine ten times slower than
// ours still meets it.
var Patience = patience()

// PatienceVariable sets another patience, such as "30s", for runs in which a test
// must fail: those of mutants.
const PatienceVariable = "BEACON_TEST_PATIENCE"

func patience() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(PatienceVariable)); err == nil {
		return d
	}
	return 5 * time.Minute
}

// Eventually waits until a condition holds, and returns how long that took, for
// logs: a test must not compare it with anything. It looks less often the longer it
// waits, so that looking does not slow what it waits for.
func Eventually(t testing.TB, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		waited := time.Since(began)
		if waited > Patience {
			t.Fatalf("after %v, still not: %s", Patience, what)
		}
		time.Sleep(min(max(waited/10, time.Millisecond), 20*time.Millisecond)) // between two looks
	}
	return time.Since(began)
}
