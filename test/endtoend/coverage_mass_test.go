//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/mvt/mvttest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestCoverageMass: thousands of hotspots come online at once, as after a power
// cut, while maps are looked at. Every answer is whole, and after the last beat
// coverage becomes what all of them say. The clock stands still: nobody goes
// offline, however long that takes.
func TestCoverageMass(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		sc := emptyScene(t, admin)
		for i := range 20 { // cities, one of them on both sides of ±180°
			sc.clump(level.Rounds(75, 250, 250), float64(i*5-50), float64(i*18-180), 1500)
		}
		clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC))
		crowd := newCrowd(t, db, clock.Now(), sc.discs())
		early := len(crowd.members) * 5 / 6
		m := &mass{crowd: crowd, client: admin, server: clock.Start(t, db)}
		seed := level.Seed(t)
		random := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
		if got := mustChart(t, admin, m.server, wholeWorld, 0); got.Count != len(crowd.members) || got.online() != 0 || got.AreaKm2 != 0 {
			t.Fatalf("before the first beat, %d hotspots are there, %d online, %v km²", got.Count, got.online(), got.AreaKm2)
		}
		// At first nobody looks: then there is much to redraw for the first who does.
		crowd.beat(t, admin, m.server, crowd.members[:early])
		ctx, stop := context.WithCancel(t.Context())
		var looking sync.WaitGroup
		defer looking.Wait() // also when the test ends early
		defer stop()
		for i, ask := range []question{m.askAll, m.askBox, m.askBox, m.askTile, m.askTile, m.askWhatIf, m.askWhatIf} {
			looking.Go(func() { m.repeat(ctx, t, random(uint64(i)+2), ask) })
		}
		crowd.beat(t, admin, m.server, crowd.members[early:])
		took := harness.Eventually(t, "all are online", func() bool {
			return mustChart(t, admin, m.server, wholeWorld, 0).online() == len(crowd.members) || t.Failed()
		})
		t.Logf("all %d were shown %v after the last beat", len(crowd.members), took)
		harness.Eventually(t, "a hundred answers", func() bool { return m.asked.Load() >= 100 || t.Failed() })
		stop()
		looking.Wait()
		t.Logf("%d answers; the longest took %v", m.asked.Load(), time.Duration(m.longest.Load()))
		m.checkEnd(t, random(1))
	})
}

// mass is those who look while a crowd comes online.
type mass struct {
	crowd  *crowd
	client *harness.Client
	server *harness.Server

	asked   atomic.Int64
	longest atomic.Int64
	least   atomic.Int64 // the most that were seen online
}

// question asks for something random, and finds what is wrong with the answer.
type question func(ctx context.Context, random *rand.Rand) error

// repeat asks again and again, and notes how long that takes.
func (m *mass) repeat(ctx context.Context, t *testing.T, random *rand.Rand, ask question) {
	for ctx.Err() == nil && !t.Failed() {
		began := time.Now()
		if err := ask(t.Context(), random); err != nil {
			t.Error(err)
		}
		m.asked.Add(1)
		m.longest.Store(max(m.longest.Load(), int64(time.Since(began)))) // nearly
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)    // the pause of a client
	}
}

// somewhere is a box with hotspots in it, from a block to a country.
func (m *mass) somewhere(random *rand.Rand) groundBox {
	at := m.crowd.members[random.IntN(len(m.crowd.members))].disc
	size := math.Pow(10, -3+4*random.Float64())
	return groundBox{
		min(90, at.lat+size*random.Float64()), max(-90, at.lat-size*random.Float64()),
		math.Remainder(at.lng+size*random.Float64(), 360), math.Remainder(at.lng-size*random.Float64(), 360),
	}
}

func (m *mass) askBox(ctx context.Context, random *rand.Rand) error {
	_, _, err := chart(ctx, m.client, m.server, m.somewhere(random), random.IntN(24)-1)
	return err
}

// askAll counts who is online: nobody who was not heard, and once they are there
// they stay.
func (m *mass) askAll(ctx context.Context, random *rand.Rand) error {
	got, _, err := chart(ctx, m.client, m.server, wholeWorld, random.IntN(23))
	if err != nil {
		return err
	}
	n, least := int64(got.online()), m.least.Load()
	if sent := m.crowd.sent.Load(); got.Count != len(m.crowd.members) || n > sent || n < least {
		return fmt.Errorf("%d of %d hotspots are online; %d have beaten, and %d were online before", n, got.Count, sent, least)
	}
	m.least.Store(n) // who asks this is alone
	return nil
}

func (m *mass) askTile(ctx context.Context, random *rand.Rand) error {
	at := m.crowd.members[random.IntN(len(m.crowd.members))].disc
	z, x, y := tileOf(random.IntN(20), at.lat, at.lng)
	got, err := fetchTile(ctx, m.client, m.server, z, x, y)
	if err == nil && (got.status != http.StatusOK || got.tag == "" || len(got.body) == 0) {
		err = fmt.Errorf("tile %d/%d/%d: %d %q, %d bytes", z, x, y, got.status, got.tag, len(got.body))
	}
	return err
}

func (m *mass) askWhatIf(ctx context.Context, random *rand.Rand) error {
	box := m.somewhere(random)
	got, err := imagine(ctx, m.client, m.server, box, []groundDisc{{(box.north + box.south) / 2, box.west, 400}, {box.north, box.east, 30}})
	if err == nil && !(got.Before >= 0 && got.Added >= 0 && got.After >= got.Before && got.After*1e6 <= box.m2()*(1+1e-9)+1e-6) {
		err = fmt.Errorf("%+v with two more: %+v", box, got)
	}
	return err
}

// checkEnd compares what is covered with what all hotspots, which are online,
// cover.
func (m *mass) checkEnd(t *testing.T, random *rand.Rand) {
	t.Helper()
	var discs []groundDisc
	for _, member := range m.crowd.members {
		discs = append(discs, member.disc)
	}
	for range 5 {
		at := discs[random.IntN(len(discs))]
		box := groundBox{at.lat + 0.004, at.lat - 0.003, math.Remainder(at.lng+0.003, 360), math.Remainder(at.lng-0.004, 360)}
		count := 0
		for _, d := range discs {
			if box.holds(d.lat, d.lng) {
				count++
			}
		}
		got := mustChart(t, m.client, m.server, box, random.IntN(23))
		if want := box.covered(discs) / 1e6; got.Count != count || got.online() != count || !nearly(got.AreaKm2, want) {
			t.Errorf("%+v: %d hotspots, %d online, %v km²; want %d, %v km²", box, got.Count, got.online(), got.AreaKm2, count, want)
		}
	}
	for z := range 3 {
		if count, online := m.inTiles(t, z); count != len(discs) || online != len(discs) {
			t.Errorf("the tiles of zoom %d have %d hotspots, %d online; want %d", z, count, online, len(discs))
		}
	}
}

// inTiles adds up what the tiles of a zoom show.
func (m *mass) inTiles(t *testing.T, z int) (count, online int) {
	t.Helper()
	for i := range 1 << (2 * z) {
		got, err := fetchTile(t.Context(), m.client, m.server, z, i>>z, i&(1<<z-1))
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("a tile was answered %d %v", got.status, err)
		}
		for _, layer := range mvttest.Decode(t, got.body) {
			for _, p := range layer.Points {
				count += wholeNumber(t, p.Properties["count"])
				online += wholeNumber(t, p.Properties["online_count"])
			}
		}
	}
	return count, online
}

func wholeNumber(t *testing.T, value any) int {
	t.Helper()
	switch n := value.(type) {
	case uint64:
		return int(n)
	case int64:
		return int(n)
	}
	t.Fatalf("%v is no whole number", value)
	return 0
}
