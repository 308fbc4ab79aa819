//go:build linux

package endtoend_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestCoverageClock: who falls silent covers nothing any more after 240 seconds,
// not before, without anyone doing anything; and does again with his next beat.
// Four minutes on the servers' clocks are six seconds.
func TestCoverageClock(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		const rate = 40
		clock := rig.NewClock(time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC), rate)
		admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
		sc := emptyScene(t, admin)
		sc.clump(10, cityLat, cityLng, 100)
		sc.clump(800, -20, 30, 20_000)
		crowd := newCrowd(t, db, clock.At, 300, sc.discs())
		observers := []*observer{{crowd: crowd, client: admin, server: rig.Start(t, db, clock.Flags()...), rate: rate}}
		if rig.IsPostgres(db) { // which hears of beats a little later
			observers = append(observers, &observer{crowd: crowd, client: admin, server: rig.Start(t, db, clock.Flags()...), rate: rate, behind: 3 * time.Second})
		}
		s := observers[0].server
		ctx, stop := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		defer watching.Wait() // also when the test ends early
		defer stop()
		for _, o := range observers {
			watching.Go(func() { o.watch(ctx, t) })
		}
		crowd.beat(t, admin, s, rate, crowd.members)

		// Every third goes on, the others are silent from now on.
		var kept []*member
		for i := 0; i < len(crowd.members); i += 3 {
			kept = append(kept, crowd.members[i])
		}
		rhythm := time.NewTicker(time.Minute / rate)
		defer rhythm.Stop()
		rig.Eventually(t, "all silent ones are gone", func() bool {
			<-rhythm.C
			crowd.beat(t, admin, s, rate, kept)
			gone := true
			for _, o := range observers {
				gone = gone && o.online.Load() == int64(len(kept))
			}
			return gone || t.Failed()
		})
		for _, m := range crowd.members[1:3] {
			before := statusIn(t, admin, s, m)
			m.beat(t, admin, s, rate)
			if after := statusIn(t, admin, s, m); before != "offline" || after != "online" {
				t.Errorf("%s beat again; it was %s, and is %s", m.SSID, before, after)
			}
		}
		stop()
		watching.Wait()
		for i, o := range observers {
			o.conclude(t, i, len(crowd.members), len(kept))
			o.server.Kill()
		}
		// Who comes up after a crash knows who was heard, and when.
		o := &observer{crowd: crowd, client: admin, server: rig.Start(t, db, clock.Flags()...), rate: rate}
		for range 10 {
			if err := errors.Join(o.lookAtAll(t.Context()), o.lookClosely(t.Context())); err != nil {
				t.Errorf("after a crash: %v", err)
			}
		}
		t.Logf("after a crash, %d were online", o.most) // none, if the machine took long
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
func statusIn(t testing.TB, c *rig.Client, s *rig.Server, m *member) string {
	t.Helper()
	around := groundBox{m.disc.lat + 1e-6, m.disc.lat - 1e-6, m.disc.lng + 1e-6, m.disc.lng - 1e-6}
	for _, item := range mustChart(t, c, s, around, anyZoom).Hotspots {
		if item.ID == m.Hotspot {
			return item.Status
		}
	}
	return "missing"
}

// observer looks at coverage all the time and compares it with when devices were
// heard.
type observer struct {
	crowd  *crowd
	client *rig.Client
	server *rig.Server
	rate   int
	behind time.Duration // how long beats may take to be known

	online        atomic.Int64 // as it was last seen
	looks, late   int
	most, changed int
	measured      int
}

const (
	offlineAfter = 240 * time.Second // how long who is silent is online (decision N15)
	millisecond  = time.Millisecond  // to which times in answers are rounded
	leeway       = 2 * time.Second   // how long it may take, by our clock, until maps are redrawn
)

func (o *observer) watch(ctx context.Context, t *testing.T) {
	rhythm := time.NewTicker(10 * time.Millisecond)
	defer rhythm.Stop()
	for ctx.Err() == nil && !t.Failed() {
		if err := o.lookAtAll(t.Context()); err != nil {
			t.Error(err)
		}
		if err := o.lookClosely(t.Context()); err != nil {
			t.Error(err)
		}
		<-rhythm.C
	}
}

// lookAtAll counts who is online in the world.
func (o *observer) lookAtAll(ctx context.Context) error {
	asked := time.Now()
	got, a, err := chart(ctx, o.client, o.server, wholeWorld, 3)
	if err != nil {
		return err
	}
	least, most, mostLate := 0, 0, 0
	for _, m := range o.crowd.members {
		surely, maybe, late := m.online(a.At, asked.Add(-o.behind), leeway*time.Duration(o.rate))
		least, most, mostLate = least+surely, most+maybe, mostLate+late
	}
	n := got.online()
	if n < least || n > mostLate {
		return fmt.Errorf("at %v %d are online; want %d to %d", a.At, n, least, most)
	}
	o.looks++
	if n > most {
		o.late++
	}
	if int64(n) != o.online.Swap(int64(n)) {
		o.changed++
	}
	o.most = max(o.most, n)
	return nil
}

// lookClosely compares a few hotspots one by one, and the ground that they cover.
func (o *observer) lookClosely(ctx context.Context) error {
	city := groundBox{cityLat + 0.1, cityLat - 0.1, cityLng + 0.1, cityLng - 0.1}
	asked := time.Now()
	got, a, err := chart(ctx, o.client, o.server, city, anyZoom)
	if err != nil {
		return err
	}
	members := map[string]*member{}
	for _, m := range o.crowd.members {
		if city.holds(m.disc.lat, m.disc.lng) {
			members[m.Hotspot] = m
		}
	}
	var discs []groundDisc
	for _, item := range got.Hotspots {
		m, ok := members[item.ID]
		if !ok {
			return fmt.Errorf("%s came from nowhere", item.ID)
		}
		surely, _, maybe := m.online(a.At, asked.Add(-o.behind), leeway*time.Duration(o.rate))
		if item.Status != "online" && surely > 0 || item.Status == "online" && maybe == 0 {
			return fmt.Errorf("at %v %s is %s, and was last heard %s", a.At, m.SSID, item.Status, m.last())
		}
		if item.Status == "online" {
			discs = append(discs, m.disc)
		}
	}
	if want := city.covered(discs) / 1e6; !nearly(got.AreaKm2, want) || len(got.Hotspots) != len(members) {
		return fmt.Errorf("at %v %d hotspots of %d cover %v km²; want %v", a.At, len(discs), len(got.Hotspots), got.AreaKm2, want)
	}
	o.measured++
	return nil
}

// online tells, as 1 or 0, whether the member is surely online at a time, by what
// was known at another; whether it may be; and whether it may still be shown.
func (m *member) online(at, known time.Time, late time.Duration) (surely, maybe, shown int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.heard {
		if h.known.IsZero() { // it is on its way
			maybe, shown = 1, 1
			continue
		}
		if h.known.Before(known) && at.Before(h.after.Add(offlineAfter-millisecond)) {
			surely = 1
		}
		if !at.After(h.before.Add(offlineAfter + millisecond)) {
			maybe = 1
		}
		if !at.After(h.before.Add(offlineAfter + millisecond + late)) {
			shown = 1
		}
	}
	return surely, maybe, shown
}

// last tells when it was last heard.
func (m *member) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.heard) == 0 {
		return "never"
	}
	h := m.heard[len(m.heard)-1]
	return fmt.Sprintf("between %v and %v", h.after, h.before)
}

// conclude sees to it that there was something to see.
func (o *observer) conclude(t *testing.T, server, all, kept int) {
	t.Helper()
	t.Logf("server %d was looked at %d times, and showed another number %d times; %d times someone was still shown; %d times the ground was measured",
		server, o.looks, o.changed, o.late, o.measured)
	if o.most <= kept || o.most > all || o.changed < 10 || o.measured < 10 {
		t.Errorf("at the most %d were online; too little has changed to prove anything", o.most)
	}
	if o.late > o.looks/4 {
		t.Errorf("%d of %d times someone was still shown", o.late, o.looks)
	}
}
