package rewards_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestAnswers lets fleets live for months, with processes that die while they
// close and settle, and compares every answer with the oracle's at each step.
func TestAnswers(t *testing.T) {
	level.Repeats(t)
	onBoth(t, func(t *testing.T, open func(testing.TB, time.Time) *store.DB) {
		for seed := range uint64(3) {
			random := rand.New(rand.NewPCG(seed, 5))
			start := time.Date(2019+random.IntN(12), time.Month(1+random.IntN(12)), 1+random.IntN(28), random.IntN(24), 0, 0, 0, time.UTC)
			w := newWorld(t, open(t, start), start, 6)
			o := oracleOf(w)
			changePolicy(&o, beacon.DayOf(start)+beacon.Day(10+random.IntN(40)))
			for range 75 {
				aDay(t, random, w)
				w.midnight(t)
				if err := w.rewards(w.db.Rewards()).Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				tries := 0
				for o.tryStep(t, random) != nil {
					if tries++; tries > 200 {
						t.Fatal("it is never done")
					}
				}
			}
		}
	})
}

// TestManyFleets settles a month for thousands of operators, each with hotspots
// of its own kind, and compares what each of them is told with the oracle's.
func TestManyFleets(t *testing.T) {
	level.Repeats(t)
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 6))
		start := time.Date(2020+random.IntN(10), time.Month(1+random.IntN(12)), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1-random.IntN(3))
		w := newWorld(t, openSQLite(t, start), start, 500)
		o := oracleOf(w)
		changePolicy(&o, beacon.DayOf(start)+beacon.Day(random.IntN(6)))
		for _, user := range w.users {
			for range random.IntN(4) {
				w.register(t, user)
			}
		}
		if err := w.rewards(w.db.Rewards()).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 3 + random.IntN(4) {
			for _, hotspot := range w.live() {
				if random.IntN(6) > 0 {
					w.did(hotspot, someFacts(random))
				}
			}
			w.midnight(t)
			if err := w.rewards(w.db.Rewards()).Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, user := range w.users {
			o.check(t, w.rewards(w.db.Rewards()), user)
		}
	}
}

// changePolicy lets another policy follow the first, from a day on.
func changePolicy(o *oracle, from beacon.Day) {
	second := policy.Policy{
		Version: 2, From: from, Availability: 2_333_333, Performance: [3]beacon.Amount{10_000, 330_000, 770_000}, PerGB: 70_001, Cap: 900_000,
	}
	o.policies = append(policy.Devices(), second)
	o.from = append(o.from, from.Time().Format("2006-01-02"))
	o.terms = append(o.terms, terms{2_333_333, 1, 33, 77, 70_001, 900_000})
}

// aDay lets hotspots come, go, and do something.
func aDay(t *testing.T, random *rand.Rand, w *world) {
	t.Helper()
	if len(w.owners) < 12 && random.IntN(3) > 0 {
		w.register(t, w.users[random.IntN(len(w.users)-1)]) // the last user never has one
	}
	live := w.live()
	for _, hotspot := range live {
		if random.IntN(12) > 0 {
			w.did(hotspot, someFacts(random))
		}
	}
	if len(live) > 0 && random.IntN(4) == 0 {
		w.handOver(t, live[random.IntN(len(live))], w.users[random.IntN(len(w.users)-1)])
	}
	if len(live) > 3 && random.IntN(15) == 0 {
		w.remove(t, live[random.IntN(len(live))])
	}
}

// someFacts are those of a whole day.
func someFacts(random *rand.Rand) beacon.Facts {
	left := beacon.MinutesADay
	part := func() int {
		if random.IntN(3) > 0 {
			return 0
		}
		n := random.IntN(left + 1)
		left -= n
		return n
	}
	f := beacon.Facts{Closed: part(), Excused: part(), Outside: part()}
	f.Expected = left
	f.Served = f.Expected
	if random.IntN(2) == 0 {
		f.Served = random.IntN(f.Expected + 1)
	}
	if random.IntN(4) > 0 {
		f.Bytes = random.Uint64() >> random.IntN(64)
	}
	f.Tier = beacon.Tier(random.IntN(3))
	if random.IntN(20) == 0 {
		f = beacon.Facts{Outside: beacon.MinutesADay}
	}
	return f
}

// tryStep lets a process do what is to be done, which may die meanwhile, and
// looks at what a user is told then.
func (o oracle) tryStep(t *testing.T, random *rand.Rand) error {
	t.Helper()
	m := &mortal{tables: o.db.Rewards(), left: random.IntN(12), after: random.IntN(2) == 0}
	r := o.rewards(m)
	r.inPagesOf(1 + random.IntN(5))
	err := r.Step(t.Context())
	o.check(t, o.rewards(o.db.Rewards()), o.users[random.IntN(len(o.users))])
	return err
}
