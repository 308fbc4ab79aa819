package earnings

import (
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// An explanation that is coarse says nothing finer than ten minutes and ten per cent, whatever
// the figures are, and still adds up.
func TestCoarse(t *testing.T) {
	random := rand.New(rand.NewPCG(level.Seed(t), 365))
	for _, rules := range policy.BuiltIn()[1:] {
		for range 10_000 {
			f := beacon.Facts{Served: 1 + random.IntN(1200), Closed: random.IntN(100), Excused: random.IntN(100), Bytes: random.Uint64N(20e9)}
			f.Expected = f.Served + random.IntN(40)
			f.Ground = beacon.Ground{Counts: rules.Counts(), Standing: random.IntN(1000), Own: 1e6 * int64(f.Served), Recent: random.Int64N(1e6), Proof: 1e6, Lat: 7, Lng: 8}
			if rules.Counts() == beacon.InMinutes {
				f.Due, f.Spare = random.Int64N(int64(f.Excused)*1e6+1), beacon.Amount(random.IntN(500_000))
			}
			if random.IntN(3) > 0 {
				f.Shared, f.Older = 1+random.IntN(f.Served), 1+random.IntN(3)
				f.Own -= random.Int64N(int64(f.Shared)*1e6) + 1
			}
			is, less := coarse(&rules, f, true)
			if !less || is.Shared%10 != 0 && is.Shared != is.Served || is.Recent%100_000 != 0 || is.Spare%(rules.Cap/10) != 0 {
				t.Fatalf("%+v is shown as %+v, less: %v", f, is, less)
			}
			if lost := int64(is.Served)*1e6 - is.Own; lost < 0 || is.Own < 0 || is.Shared > 0 && lost/int64(is.Shared)%100_000 != 0 || is.Shared == 0 && lost > 0 {
				t.Fatalf("%+v is shown as %+v, of which %d is lost", f, is, lost)
			}
			if off := is.Shared - f.Shared; off < -5 || off > 5 {
				t.Fatalf("%d shared minutes are shown as %d", f.Shared, is.Shared)
			}
			a := rules.Explain(is)
			left := a.Potential.Total()
			for _, l := range a.Losses {
				if left -= l.Amount.Total(); l.Amount.Availability < 0 || l.Amount.Performance < 0 || l.Amount.Utilization < 0 {
					t.Fatalf("%+v loses %+v", is, l)
				}
			}
			if left != a.Earned.Total() {
				t.Fatalf("%+v does not add up: %+v", is, a)
			}
		}
	}
	// One that shares with nobody, and whose ground was its own all week, is shown as it is.
	alone := beacon.Facts{Served: 1433, Expected: 1440}
	alone.Ground = beacon.Ground{Counts: beacon.InMinutes, Standing: 77, Own: 1433e6, Recent: 1e6, Proof: 1e6, Lat: 7, Lng: 8}
	if is, less := coarse(&policy.BuiltIn()[2], alone, true); is != alone || less {
		t.Errorf("%+v is shown as %+v, less: %v", alone, is, less)
	}
}
