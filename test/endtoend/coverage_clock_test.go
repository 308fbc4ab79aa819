//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// offlineAfter is how long who is silent is online (decision N15).
const offlineAfter = 240 * time.Second

// TestCoverageClock: who falls silent covers nothing any more after 240 seconds,
// not before, without anyone doing anything; and does again with the next beat. The
// clock stands still but for when the test moves it, so that it is known to the
// millisecond who is online.
func TestCoverageClock(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC))
		admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		sc := emptyScene(t, admin)
		sc.clump(12, cityLat, cityLng, 100)
		sc.clump(level.Rounds(60, 300, 800), -20, 30, 20_000)
		w := &watched{crowd: newCrowd(t, db, clock.Now(), sc.discs()), client: admin, clock: clock, servers: []*harness.Server{clock.Start(t, db)}}
		if harness.IsPostgres(db) { // which hears of beats a little later
			w.servers = append(w.servers, clock.Start(t, db))
		}

		// Every third goes on to beat. Of the others some fall silent at a time, five
		// seconds after each other.
		silent := make([][]*member, level.Rounds(3, 10, 10))
		var kept []*member
		for i, m := range w.members {
			if group := i / 3 % len(silent); i%3 == 0 {
				kept = append(kept, m)
			} else {
				silent[group] = append(silent[group], m)
			}
		}
		began := clock.Now()
		w.beat(t, kept)
		for _, group := range silent {
			w.beat(t, group)
			clock.Pass(5 * time.Second)
		}
		for minute := range 3 {
			clock.Set(began.Add(time.Duration(minute+1) * time.Minute))
			w.beat(t, kept)
		}
		for group, members := range silent {
			clock.Set(began.Add(time.Duration(group)*5*time.Second + offlineAfter))
			w.check(t)
			before := len(w.online())
			clock.Pass(time.Millisecond)
			if after := len(w.online()); after != before-len(members) || after < len(kept) {
				t.Fatalf("%d were online and %d are, after %d fell silent", before, after, len(members))
			}
			w.await(t, before)
		}
		for _, m := range silent[0][:2] {
			before := statusIn(t, admin, w.servers[0], m)
			w.beatAt(t, m)
			if after := statusIn(t, admin, w.servers[0], m); before != "offline" || after != "online" {
				t.Errorf("%s beat again; it was %s, and is %s", m.SSID, before, after)
			}
		}
		// Who comes up after a crash knows who was heard, and when.
		for _, s := range w.servers {
			s.Kill()
		}
		w.servers = []*harness.Server{clock.Start(t, db)}
		w.check(t)
		before := len(w.online())
		clock.Pass(offlineAfter + time.Millisecond)
		if n := len(w.online()); n != 0 || before != len(kept)+2 {
			t.Errorf("after a crash, %d were online; and in the end %d", before, n)
		}
		w.await(t, before)
	})
}

// discs are those of all sites.
func (sc *scene) discs() (all []groundDisc) {
	for _, at := range sc.sites {
		all = append(all, groundDisc{at.lat, at.lng, max(at.radiusM, 50)})
	}
	return all
}

// statusIn is what coverage says about a hotspot.
func statusIn(t testing.TB, c *harness.Client, s *harness.Server, m *member) string {
	t.Helper()
	around := groundBox{m.disc.lat + 1e-6, m.disc.lat - 1e-6, m.disc.lng + 1e-6, m.disc.lng - 1e-6}
	for _, item := range mustChart(t, c, s, around, anyZoom).Hotspots {
		if item.ID == m.Hotspot {
			return item.Status
		}
	}
	return "missing"
}

// watched is a crowd that beats at the first of some servers, and who of it is
// online by the clock.
type watched struct {
	*crowd
	client  *harness.Client
	clock   *harness.HeldClock
	servers []*harness.Server
	heard   map[*member]time.Time
}

// beat lets members beat once, and waits until all servers know of that.
func (w *watched) beat(t *testing.T, members []*member) {
	t.Helper()
	w.crowd.beat(t, w.client, w.servers[0], members)
	for _, m := range members {
		w.hear(m)
	}
	for _, s := range w.servers[1:] {
		for _, m := range members {
			harness.Eventually(t, "the other server has heard of a beat", func() bool {
				h := w.client.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+m.Hotspot, nil)
				return t.Failed() || harness.ReadingOf(h).Bytes == m.Totals().Sent
			})
		}
	}
	w.check(t)
}

// beatAt lets one beat at the first server.
func (w *watched) beatAt(t *testing.T, m *member) {
	t.Helper()
	m.beat(t, w.client, w.servers[0])
	w.hear(m)
}

func (w *watched) hear(m *member) {
	if w.heard == nil {
		w.heard = map[*member]time.Time{}
	}
	w.heard[m] = w.clock.Now()
}

// online is who is, by the clock.
func (w *watched) online() map[string]*member {
	all := map[string]*member{}
	for m, at := range w.heard {
		if w.clock.Now().Sub(at) <= offlineAfter {
			all[m.Hotspot] = m
		}
	}
	return all
}

// check holds all servers to who is online now.
func (w *watched) check(t *testing.T) {
	t.Helper()
	for i, s := range w.servers {
		if n, problem := w.look(t.Context(), s); problem != "" {
			t.Fatalf("at %v server %d shows %d online: %s", w.clock.Now(), i, n, problem)
		}
	}
}

// await waits until all servers show who is online now. Until then they may show
// some of those who were before, and never fewer than are.
func (w *watched) await(t *testing.T, before int) {
	t.Helper()
	least := len(w.online())
	for i, s := range w.servers {
		problem := "it was not asked"
		defer func() {
			if problem != "" {
				t.Errorf("at %v server %d: %s", w.clock.Now(), i, problem)
			}
		}()
		harness.Eventually(t, "maps are redrawn", func() bool {
			var n int
			if n, problem = w.look(t.Context(), s); n < least || n > before {
				t.Fatalf("at %v %d are online; want %d, and before that %d", w.clock.Now(), n, least, before)
			}
			return problem == ""
		})
	}
}

// look compares how many are online in the world, and in the city who is and the
// ground that they cover. It returns how many were in the world.
func (w *watched) look(ctx context.Context, s *harness.Server) (n int, problem string) {
	want := w.online()
	got, _, err := chart(ctx, w.client, s, wholeWorld, 3)
	if err != nil {
		return -1, err.Error()
	}
	if n = got.online(); n != len(want) {
		return n, fmt.Sprintf("%d are online; want %d", n, len(want))
	}
	city := groundBox{cityLat + 0.1, cityLat - 0.1, cityLng + 0.1, cityLng - 0.1}
	if got, _, err = chart(ctx, w.client, s, city, anyZoom); err != nil {
		return n, err.Error()
	}
	var discs []groundDisc
	for _, item := range got.Hotspots {
		m, ok := want[item.ID]
		if (item.Status == "online") != ok {
			return n, fmt.Sprintf("%s is %s", item.ID, item.Status)
		}
		if ok {
			discs = append(discs, m.disc)
		}
	}
	members := 0
	for _, m := range w.members {
		if city.holds(m.disc.lat, m.disc.lng) {
			members++
		}
	}
	if want := city.covered(discs) / 1e6; !nearly(got.AreaKm2, want) || len(got.Hotspots) != members {
		return n, fmt.Sprintf("%d hotspots of %d cover %v km²; want %v", len(discs), len(got.Hotspots), got.AreaKm2, want)
	}
	return n, ""
}
