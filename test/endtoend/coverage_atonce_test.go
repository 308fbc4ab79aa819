//go:build linux

package endtoend_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestCoverageAtOnce: who has changed something sees it in the next answer about
// coverage, and soon on another server. The clock stands still: nothing but the
// changes changes what is shown.
func TestCoverageAtOnce(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC))
		servers := []*harness.Server{clock.Start(t, db)}
		if harness.IsPostgres(db) {
			servers = append(servers, clock.Start(t, db))
		}
		sc := emptyScene(t, admin)
		sc.clump(level.Rounds(3, 6, 6), cityLat, cityLng, 250)
		for _, at := range sc.sites {
			at.stage = linked
		}
		sc.build(t, servers[0])
		w := &witness{sc: sc, servers: servers, box: groundBox{cityLat + 0.002, cityLat - 0.02, cityLng + 0.02, cityLng - 0.002}}
		w.await(t, servers[len(servers)-1])
		steps := []func(t testing.TB, s *harness.Server, at *site){sc.beat, sc.resize, sc.unlink, sc.link, sc.beat, sc.resize, sc.beat, sc.remove}
		for step, change := range steps {
			for i, at := range sc.sites {
				if i%3 == 2 && step >= len(steps)-1 { // some stay
					continue
				}
				w.see(t, step, at, change)
			}
		}
		w.conclude(t)
	})
}

// witness makes changes and looks at what they do, in a box that some discs reach
// into from outside, and in the world.
type witness struct {
	sc      *scene
	servers []*harness.Server
	box     groundBox

	changes, moved int // how often the area became another
	last           float64
	longest        time.Duration
}

// see makes a change at one server, and wants to see it there at once and
// elsewhere soon. What is true afterwards, that server says of each hotspot.
func (w *witness) see(t *testing.T, step int, at *site, change func(t testing.TB, s *harness.Server, at *site)) {
	t.Helper()
	near := w.changes % len(w.servers)
	change(t, w.servers[near], at)
	got := mustChart(t, w.sc.admin, w.servers[near], w.box, anyZoom) // the very next request
	answered := time.Now()
	all := plot(t, w.sc.admin, w.servers[near], w.sc.hotspots())
	if got.expect(t, w.box, all); t.Failed() {
		t.Fatalf("this was seen right after step %d of hotspot %d", step, at.n)
	}
	if w.changes++; got.AreaKm2 != w.last {
		w.moved++
		w.last = got.AreaKm2
	}
	data := w.look(t, w.servers[near])
	for far, s := range w.servers {
		if far == near {
			continue
		}
		harness.Eventually(t, "another server shows the same", func() bool {
			return w.look(t, s) == data
		})
		w.longest = max(w.longest, time.Since(answered))
	}
}

// look is what a server says, with all hotspots: one that is hidden by others now
// may be seen later.
func (w *witness) look(t *testing.T, s *harness.Server) (data string) {
	t.Helper()
	for _, box := range []groundBox{w.box, wholeWorld} {
		_, a, err := chart(t.Context(), w.sc.admin, s, box, anyZoom)
		if err != nil {
			t.Fatal(err)
		}
		data += string(a.Data)
	}
	return data
}

// await waits until a server knows all hotspots: keys of devices, too, come from
// there.
func (w *witness) await(t *testing.T, s *harness.Server) {
	t.Helper()
	harness.Eventually(t, "all hotspots are there", func() bool {
		return mustChart(t, w.sc.admin, s, wholeWorld, anyZoom).Count == len(w.sc.sites)
	})
}

func (w *witness) conclude(t *testing.T) {
	t.Helper()
	t.Logf("%d changes were seen at once, %d of them in the area; elsewhere after %v at the most", w.changes, w.moved, w.longest)
	if w.moved < w.changes/8 {
		t.Error("too little has changed to prove anything")
	}
}
