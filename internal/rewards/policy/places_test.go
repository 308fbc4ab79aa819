package policy_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// second has the numbers that a new network starts with.
var second = policy.Policy{
	Version: 2, From: 20_000, Availability: 1_000000, Performance: [3]beacon.Amount{0, 250000, 500000},
	PerGB: 20000, Cap: 250000, Radius: 50, Unproven: 500000,
}

// third counts standing in minutes.
var third = func() policy.Policy {
	p := second
	p.Version, p.StandingADay = 3, 600
	return p
}()

// minutes is a number of minutes in millionths.
func minutes(n int64) int64 { return n * 1_000_000 }

func TestReward_Places(t *testing.T) {
	const day = beacon.MinutesADay
	proven := func(own, recent int64) beacon.Ground { return beacon.Ground{Own: own, Recent: recent, Proof: 1_000000} }
	for _, test := range []struct {
		name string
		f    beacon.Facts
		want beacon.Earned
	}{
		{"nothing", beacon.Facts{}, beacon.Earned{}},
		{"a whole day", beacon.Facts{Served: day, Expected: day, Ground: proven(minutes(day), 0)}, beacon.Earned{Availability: 1_000000}},
		{
			"open one minute a day",
			beacon.Facts{Served: 1, Expected: 1, Closed: 1439, Tier: beacon.Premium, Bytes: 1e12, Ground: proven(minutes(1), 0)},
			beacon.Earned{Availability: 694, Performance: 347, Utilization: 173},
		},
		{
			"linked at 23:59",
			beacon.Facts{Served: 1, Expected: 1, Outside: 1439, Ground: proven(minutes(1), 0)},
			beacon.Earned{Availability: 694},
		},
		{
			"a clone of one that never sleeps",
			beacon.Facts{Served: day, Expected: day, Tier: beacon.Premium, Bytes: 1e12, Ground: proven(0, 1_000000)},
			beacon.Earned{},
		},
		{
			"half of the ground",
			beacon.Facts{Served: day, Expected: day, Tier: beacon.Premium, Bytes: 1e12, Ground: proven(minutes(day)/2, 0)},
			beacon.Earned{Availability: 500000, Performance: 250000, Utilization: 125000},
		},
		{
			"unproven",
			beacon.Facts{Served: day, Expected: day, Tier: beacon.Premium, Bytes: 1e12, Ground: beacon.Ground{Own: minutes(day), Proof: 500000}},
			beacon.Earned{Availability: 500000, Performance: 250000, Utilization: 125000},
		},
		{
			"our outage all day, at its own rate",
			beacon.Facts{Excused: day, Tier: beacon.Enhanced, Ground: proven(0, 900000)},
			beacon.Earned{Availability: 900000, Performance: 225000},
		},
		{"our outage on its first day", beacon.Facts{Excused: day, Ground: proven(0, 0)}, beacon.Earned{}},
		{"traffic under the cap", beacon.Facts{Served: day, Expected: day, Bytes: 1e9, Ground: proven(minutes(day), 0)}, beacon.Earned{Availability: 1_000000, Utilization: 20000}},
	} {
		if got := second.Reward(test.f); got != test.want {
			t.Errorf("%s: Reward(%+v) = %v; want %v", test.name, test.f, got, test.want)
		}
	}
}

// Under a policy that counts minutes, excused ones are paid as they were before, and nothing
// is where nobody has found the hotspot.
func TestReward_Minutes(t *testing.T) {
	const day = beacon.MinutesADay
	for _, test := range []struct {
		name string
		f    beacon.Facts
		want beacon.Earned
	}{
		{"a whole day", beacon.Facts{Served: day, Expected: day, Ground: beacon.Ground{Own: minutes(day), Proof: 1_000000}}, beacon.Earned{Availability: 1_000000}},
		{"unproven", beacon.Facts{Served: day, Expected: day, Ground: beacon.Ground{Own: minutes(day), Proof: 500000}}, beacon.Earned{Availability: 500000}},
		{"never found", beacon.Facts{Served: day, Expected: day, Bytes: 1e12, Tier: beacon.Premium}, beacon.Earned{}},
		{
			"our outage all day, of one that serves half of each",
			beacon.Facts{Excused: day, Tier: beacon.Enhanced, Ground: beacon.Ground{Due: minutes(day / 2), Recent: 1_000000, Proof: 1_000000}},
			beacon.Earned{Availability: 500000, Performance: 125000},
		},
		{
			"and of one that owned a quarter of its ground while it did",
			beacon.Facts{Excused: day, Ground: beacon.Ground{Due: minutes(day / 2), Recent: 250000, Proof: 1_000000}},
			beacon.Earned{Availability: 125000},
		},
		{"without history", beacon.Facts{Excused: day, Ground: beacon.Ground{Proof: 1_000000}}, beacon.Earned{}},
	} {
		if got := third.Reward(test.f); got != test.want {
			t.Errorf("%s: Reward(%+v) = %v; want %v", test.name, test.f, got, test.want)
		}
	}
}

func TestStanding(t *testing.T) {
	for _, test := range []struct {
		p      policy.Policy
		served int
		found  bool
		want   int
	}{
		{policy.Devices()[0], 1440, true, 0},
		{second, 59, true, 0},
		{second, 60, false, 1},
		{second, 1440, true, 1},
		{third, 1, true, 1},
		{third, 599, true, 599},
		{third, 1440, true, 600},
		{third, 1440, false, 0},
	} {
		if got := test.p.Standing(test.served, test.found); got != test.want {
			t.Errorf("policy %d: %d minutes, found: %t: adds %d; want %d", test.p.Version, test.served, test.found, got, test.want)
		}
	}
}

func TestExplain_Places(t *testing.T) {
	f := beacon.Facts{
		Served: 900, Expected: 1000, Closed: 240, Excused: 100, Outside: 100, Bytes: 20e9, Tier: beacon.Enhanced,
		Ground: beacon.Ground{Own: minutes(600), Recent: 800000, Proof: 500000, Shared: 312, Older: 2},
	}
	want := []policy.Loss{
		{Reason: policy.Outside, Minutes: 100, Amount: beacon.Earned{Availability: 69445, Performance: 34723}},
		{Reason: policy.Closed, Minutes: 240, Amount: beacon.Earned{Availability: 166667, Performance: 83333}},
		{Reason: policy.Excused, Minutes: 100, Amount: beacon.Earned{Availability: 13888, Performance: 6944}},
		{Reason: policy.Offline, Minutes: 100, Amount: beacon.Earned{Availability: 69445, Performance: 34723}},
		{Reason: policy.Shared, Minutes: 312, Amount: beacon.Earned{Availability: 208333, Performance: 104166}},
		{Reason: policy.Unproven, Amount: beacon.Earned{Availability: 236111, Performance: 118056}},
		{Reason: policy.Slow, Amount: beacon.Earned{Performance: 59028}},
		{Reason: policy.Capped, Amount: beacon.Earned{Utilization: 400000 - 59027}},
	}
	a := second.Explain(f)
	if !slices.Equal(a.Losses, want) {
		t.Errorf("losses\n%v; want\n%v", a.Losses, want)
	}
	if want := (beacon.Earned{Availability: 236111, Performance: 59027, Utilization: 59027}); a.Earned != want {
		t.Errorf("earned %v; want %v", a.Earned, want)
	}
	if want := (beacon.Earned{Availability: 1_000000, Performance: 500000, Utilization: 400000}); a.Potential != want {
		t.Errorf("potential %v; want %v", a.Potential, want)
	}
}

var placeReasons = []policy.Reason{
	policy.Outside, policy.Closed, policy.Excused, policy.Offline, policy.Shared, policy.Unproven, policy.Slow, policy.Capped,
}

// Whatever the day: the amounts are those of the formula, each loss is the one between
// two steps of it, none is negative, and they add up.
func TestPlaces_Oracle(t *testing.T) {
	days := 20_000
	if level.Now() >= level.Check {
		days = 300_000
	}
	random := rand.New(rand.NewPCG(20, 2))
	told := map[policy.Reason]int{}
	for range days {
		p := randomPolicy(random)
		if random.IntN(4) == 0 {
			p = second
		}
		p.Radius, p.Unproven = 50, 1+beacon.Amount(random.Int64N(1_000000))
		p.StandingADay = []int{0, 1 + random.IntN(1440)}[random.IntN(2)]
		f := randomPlace(random, &p)
		want := placesOracle(&p, f)
		a := p.Explain(f)
		got := map[policy.Reason][3]beacon.Amount{}
		sum, last := a.Earned, -1
		for _, l := range a.Losses {
			if l.Amount.Availability < 0 || l.Amount.Performance < 0 || l.Amount.Utilization < 0 || l.Minutes < 0 {
				t.Fatalf("%s: %+v: a loss of %+v", p.Line(), f, l)
			}
			at := slices.Index(placeReasons, l.Reason)
			if at <= last {
				t.Fatalf("%s: %+v: %s is not in its place", p.Line(), f, l.Reason)
			}
			last, sum = at, sum.Plus(l.Amount)
			got[l.Reason] = [3]beacon.Amount{l.Amount.Availability, l.Amount.Performance, l.Amount.Utilization}
			told[l.Reason]++
		}
		if sum != a.Potential || a.Earned != p.Reward(f) {
			t.Fatalf("%s: %+v: %+v does not add up: %v; earned %v", p.Line(), f, a, sum, p.Reward(f))
		}
		if a.Earned != want.earned {
			t.Fatalf("%s: %+v: earned %v; want %v", p.Line(), f, a.Earned, want.earned)
		}
		for _, reason := range placeReasons {
			if got[reason] != want.losses[reason] {
				t.Fatalf("%s: %+v: %s: lost %v; want %v", p.Line(), f, reason, got[reason], want.losses[reason])
			}
		}
	}
	for _, reason := range placeReasons {
		if told[reason] < days/100 {
			t.Errorf("only %d of %d days had a loss by %q", told[reason], days, reason)
		}
	}
}

// While a day goes on, no further minute makes it earn less, whatever the minute was.
func TestPlaces_NeverFalls(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 3))
	for range 2_000 {
		p := randomPolicy(random)
		p.Radius, p.Unproven, p.StandingADay = 50, 500000, random.IntN(2)
		f := beacon.Facts{Tier: beacon.Tier(random.IntN(3))}
		f.Recent, f.Proof = random.Int64N(1_000001), 500000
		before := p.Reward(f)
		for range 50 {
			switch minute := 1 + random.IntN(28); random.IntN(4) {
			case 0:
				f.Outside += minute
			case 1:
				f.Closed += minute
			case 2:
				f.Excused += minute
				f.Due += random.Int64N(minutes(int64(minute)) + 1)
			case 3:
				f.Expected, f.Served = f.Expected+minute, f.Served+minute/2
				f.Own += random.Int64N(minutes(int64(minute/2)) + 1)
			}
			f.Bytes += random.Uint64N(1e9)
			after := p.Reward(f)
			if after.Availability < before.Availability || after.Performance < before.Performance || after.Utilization < before.Utilization {
				t.Fatalf("%s: %+v earns %v, after %v", p.Line(), f, after, before)
			}
			before = after
		}
	}
}

// randomPlace makes a day's facts, of a day that may not be over.
func randomPlace(random *rand.Rand, p *policy.Policy) beacon.Facts {
	f := randomFacts(random)
	if random.IntN(3) == 0 {
		f.Outside = random.IntN(f.Outside + 1)
	}
	part := func(of int64) int64 {
		return [...]int64{0, of, random.Int64N(of + 1)}[random.IntN(3)]
	}
	f.Counts = p.Counts()
	if f.Counts == beacon.InMinutes {
		if f.Due = part(minutes(int64(f.Excused))); random.IntN(5) == 0 {
			f.Due = 0
			return f // nobody has found it
		}
	}
	f.Own, f.Recent = part(minutes(int64(f.Served))), part(1_000000)
	if f.Proof = 1_000000; random.IntN(2) == 0 {
		f.Proof = int64(p.Unproven)
	}
	if f.Own < minutes(int64(f.Served)) {
		f.Shared, f.Older = 1+random.IntN(f.Served), 1+random.IntN(9)
	}
	return f
}

// placesAnswer is what the formula gives.
type placesAnswer struct {
	earned beacon.Earned
	losses map[policy.Reason][3]beacon.Amount
}

// placesOracle follows the text of the rule, in numbers without a limit.
func placesOracle(p *policy.Policy, f beacon.Facts) placesAnswer {
	n := func(x int64) *big.Int { return big.NewInt(x) }
	million := n(1_000_000)
	times := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	plus := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	less := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	over := func(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) }

	x := times(n(int64(f.Excused)), n(f.Recent))
	own := plus(n(f.Own), x)
	if p.StandingADay > 0 {
		x = n(f.Due)
		own = plus(n(f.Own), over(times(x, n(f.Recent)), million))
	}
	var u [6]*big.Int
	u[0] = times(million, n(int64(f.Outside+f.Closed+f.Excused+f.Expected)))
	u[1] = less(u[0], times(million, n(int64(f.Outside))))
	u[2] = less(u[1], times(million, n(int64(f.Closed))))
	u[3] = plus(times(million, n(int64(f.Expected))), x)
	u[4] = plus(times(million, n(int64(f.Served))), x)
	if u[5] = own; f.Proof == 0 {
		u[5] = u[4]
	}
	chain := func(rate beacon.Amount) (a [7]*big.Int) {
		for i := range u {
			a[i] = over(times(n(int64(rate)), u[i]), times(n(1440), million))
		}
		a[6] = over(times(a[5], n(f.Proof)), million)
		return a
	}
	amount := func(x *big.Int) beacon.Amount { return beacon.Amount(x.Int64()) }
	a, best := chain(p.Availability), n(int64(p.Performance[2]))
	answer := placesAnswer{losses: map[policy.Reason][3]beacon.Amount{}}
	for i, reason := range []policy.Reason{"not_in_service", "closed", "excused", "offline", "shared", "unproven"} {
		answer.losses[reason] = [3]beacon.Amount{
			amount(less(a[i], a[i+1])), amount(less(over(times(a[i], best), million), over(times(a[i+1], best), million))), 0,
		}
	}
	performance := over(times(a[6], n(int64(p.Performance[f.Tier]))), million)
	answer.losses["tier"] = [3]beacon.Amount{0, amount(less(over(times(a[6], best), million), performance)), 0}
	traffic := over(times(n(int64(p.PerGB)), new(big.Int).SetUint64(f.Bytes)), n(1_000_000_000))
	utilization := chain(p.Cap)[6]
	if traffic.Cmp(utilization) < 0 {
		utilization = traffic
	}
	answer.losses["cap"] = [3]beacon.Amount{0, 0, amount(less(traffic, utilization))}
	answer.earned = beacon.Earned{Availability: amount(a[6]), Performance: amount(performance), Utilization: amount(utilization)}
	return answer
}
