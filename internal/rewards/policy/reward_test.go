package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// richest has the highest amounts that a file may have.
var richest = policy.Policy{
	Version: 1, Availability: 1000_000000, Performance: [3]beacon.Amount{10_000000, 10_000000, 10_000000},
	PerGB: 100_000000, Cap: 1000_000000,
}

func TestReward(t *testing.T) {
	const day = beacon.MinutesADay
	for _, test := range []struct {
		name string
		f    beacon.Facts
		want beacon.Earned
	}{
		{"nothing", beacon.Facts{}, beacon.Earned{}},
		{"a whole day", beacon.Facts{Served: day, Expected: day}, beacon.Earned{Availability: 1_000000}},
		{"half of it", beacon.Facts{Served: 720, Expected: day}, beacon.Earned{Availability: 500000}},
		{"all of one minute", beacon.Facts{Served: 1, Expected: 1, Outside: 1439}, beacon.Earned{Availability: 1_000000}},
		{"rounded down", beacon.Facts{Served: 2, Expected: 3}, beacon.Earned{Availability: 666666}},
		{
			"performance of what is paid",
			beacon.Facts{Served: 1, Expected: 3, Tier: beacon.Enhanced},
			beacon.Earned{Availability: 333333, Performance: 83333},
		},
		{
			"premium",
			beacon.Facts{Served: day, Expected: day, Tier: beacon.Premium},
			beacon.Earned{Availability: 1_000000, Performance: 500000},
		},
		{"a gigabyte", beacon.Facts{Bytes: 1e9}, beacon.Earned{Utilization: 20000}},
		{"one byte short of a millionth", beacon.Facts{Bytes: 49_999}, beacon.Earned{}},
		{"a millionth", beacon.Facts{Bytes: 50_000}, beacon.Earned{Utilization: 1}},
		{"one byte short of the cap", beacon.Facts{Bytes: 50e9 - 1}, beacon.Earned{Utilization: 999999}},
		{"the cap", beacon.Facts{Bytes: 50e9}, beacon.Earned{Utilization: 1_000000}},
		{"past the cap", beacon.Facts{Bytes: math.MaxUint64}, beacon.Earned{Utilization: 1_000000}},
	} {
		if got := policy.Devices()[0].Reward(test.f); got != test.want {
			t.Errorf("%s: Reward(%+v) = %v; want %v", test.name, test.f, got, test.want)
		}
	}
}

// The largest facts under the largest policy stay inside 64 bits, with room for
// their sum.
func TestReward_Largest(t *testing.T) {
	f := beacon.Facts{Served: beacon.MinutesADay, Expected: beacon.MinutesADay, Bytes: math.MaxUint64, Tier: beacon.Premium}
	checkAgainstOracle(t, &richest, f)
	all := richest.Explain(f).Potential
	if total := oracle(&richest, f).carried; total.Cmp(fraction(all.Utilization)) != 0 {
		t.Errorf("potential utilization %s; want %s", all.Utilization, total.FloatString(6))
	}
	if all.Total() < all.Utilization || all.Total() < 0 {
		t.Errorf("%v adds up to %s", all, all.Total())
	}
}

func TestReward_Oracle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 18))
	for range 20_000 {
		p := randomPolicy(random)
		checkAgainstOracle(t, &p, randomFacts(random))
	}
}

func checkAgainstOracle(t *testing.T, p *policy.Policy, f beacon.Facts) {
	t.Helper()
	got, want := p.Reward(f), oracle(p, f)
	if fraction(got.Availability).Cmp(want.availability) != 0 ||
		fraction(got.Performance).Cmp(want.performance) != 0 ||
		fraction(got.Utilization).Cmp(want.utilization) != 0 {
		t.Fatalf("%s: Reward(%+v) = %v; want %s %s %s", p.Line(), f, got,
			want.availability.FloatString(6), want.performance.FloatString(6), want.utilization.FloatString(6))
	}
}

// One more minute, byte or tier never earns less.
func TestReward_Monotonic(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 19))
	more := 0
	for range 20_000 {
		p, f := randomPolicy(random), randomFacts(random)
		g := f
		switch random.IntN(3) {
		case 0:
			if g.Served < g.Expected {
				g.Served++
			}
		case 1:
			if g.Bytes < math.MaxUint64 {
				g.Bytes++
			}
		case 2:
			if g.Tier < beacon.Premium {
				g.Tier++
			}
		}
		a, b := p.Reward(f), p.Reward(g)
		if b.Availability < a.Availability || b.Performance < a.Performance || b.Utilization < a.Utilization {
			t.Fatalf("%s: %+v earns %v, but %+v only %v", p.Line(), f, a, g, b)
		}
		if b.Total() > a.Total() {
			more++
		}
	}
	if more == 0 {
		t.Error("nothing ever earned more")
	}
}

// randomFacts makes a day's facts, the odd ones more often than they happen.
func randomFacts(random *rand.Rand) beacon.Facts {
	f := beacon.Facts{Tier: beacon.Tier(random.IntN(3))}
	left := beacon.MinutesADay
	for _, part := range []*int{&f.Closed, &f.Excused, &f.Outside} {
		if random.IntN(2) == 0 {
			*part = random.IntN(left + 1)
			left -= *part
		}
	}
	if random.IntN(6) == 0 {
		f.Outside, left = f.Outside+left, 0
	}
	f.Expected = left
	switch random.IntN(4) {
	case 0:
		f.Served = left
	case 1:
	default:
		f.Served = random.IntN(left + 1)
	}
	f.Bytes = [...]uint64{0, 1, random.Uint64N(100e9), random.Uint64(), math.MaxUint64}[random.IntN(5)]
	return f
}

func randomPolicy(random *rand.Rand) policy.Policy {
	amount := func(most beacon.Amount) beacon.Amount {
		return [...]beacon.Amount{0, 1, most, beacon.Amount(random.Int64N(int64(most) + 1))}[random.IntN(4)]
	}
	p := policy.Policy{
		Version: 1, Availability: amount(richest.Availability), PerGB: amount(richest.PerGB), Cap: amount(richest.Cap),
	}
	for tier := range p.Performance {
		p.Performance[tier] = amount(richest.Performance[tier])
		if tier > 0 {
			p.Performance[tier] = max(p.Performance[tier], p.Performance[tier-1])
		}
	}
	return p
}
