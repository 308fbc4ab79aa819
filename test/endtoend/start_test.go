//go:build linux

package endtoend_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestStartAtOnce: two servers on a database that neither has seen.
func TestStartAtOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			for range level.Rounds(1, 3, 10) {
				db := harness.NewDatabase(t, kind)
				first, second := harness.Begin(t, db), harness.Begin(t, db)
				one, two := first(), second()
				c := harness.NewClient(t, harness.CreateKey(t, db, "hotspots:write").Key)
				c.MustRegister(t, one, 1)
				c.MustRegister(t, two, 2)
				want := harness.Truth(t, harness.OpenStore(t, db))
				if len(want) != 2 {
					t.Errorf("%d hotspots are there; want 2", len(want))
				}
				c.Converges(t, one, want, 2)
				c.Converges(t, two, want, 2)
				one.Kill()
				two.Kill()
			}
		})
	}
}

// TestStopWhileStarting: a server that still waits for its database is told to
// stop. It does, and that is no failure.
func TestStopWhileStarting(t *testing.T) {
	p, behind := harness.ThroughProxy(t, storetest.Postgres(t))
	p.Set(harness.Silent)
	s, _ := harness.Launch(t, behind)
	harness.Eventually(t, "the server knocks at the database", p.Busy)
	s.Stop(t)
}
