//go:build linux

package torture_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF01_Kill kills a server under load (-9), again and again, each time at
// another point of its work: what was acknowledged is there, what was refused is
// not, and the rest stays what it is first seen as.
func TestF01_Kill(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		s := harness.Start(t, db)
		load := newLoad(t, s)
		times := rounds(3, 12, 120)
		if harness.IsPostgres(db) {
			times = rounds(2, 8, 80)
		}
		for range times {
			running := load.on(t, s)
			running.until(20 + load.rng.IntN(300))
			s.Kill()
			running.stop()
			s = harness.Start(t, db)
			load.check(t, s)
			load.reboot()
		}
		load.checkAll(t, s)
	})
}

// reboot lets every second device begin its counters anew.
func (l *load) reboot() {
	for i := int(l.rounds % 2); i < len(l.devices); i += 2 {
		l.devices[i].Reboot()
	}
}
