package policy_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

func TestExplain(t *testing.T) {
	type losses = []policy.Loss
	full := beacon.Earned{Availability: 1_000000, Performance: 500000}
	for _, test := range []struct {
		name string
		f    beacon.Facts
		want losses
	}{
		{"perfect", beacon.Facts{Served: 1440, Expected: 1440, Tier: beacon.Premium}, losses{}},
		{
			"closed hours cost nothing",
			beacon.Facts{Served: 720, Expected: 720, Closed: 700, Excused: 20, Tier: beacon.Premium},
			losses{{Reason: policy.Closed, Minutes: 700}, {Reason: policy.Excused, Minutes: 20}},
		},
		{
			"half a day offline, and slow",
			beacon.Facts{Served: 600, Expected: 1200, Outside: 240, Tier: beacon.Enhanced},
			losses{
				{policy.Offline, 600, beacon.Earned{Availability: 500000, Performance: 250000}},
				{Reason: policy.Outside, Minutes: 240},
				{policy.Slow, 0, beacon.Earned{Performance: 125000}},
			},
		},
		{
			"carried too much",
			beacon.Facts{Served: 1440, Expected: 1440, Bytes: 75e9, Tier: beacon.Premium},
			losses{{policy.Capped, 0, beacon.Earned{Utilization: 500000}}},
		},
		{
			"a day off",
			beacon.Facts{Closed: 1440},
			losses{{policy.Closed, 1440, full}},
		},
		{
			"thirds",
			beacon.Facts{Closed: 480, Outside: 960},
			losses{
				{policy.Closed, 480, beacon.Earned{Availability: 333333, Performance: 166667}},
				{policy.Outside, 960, beacon.Earned{Availability: 666667, Performance: 333333}},
			},
		},
		{
			"our outage over all opening hours",
			beacon.Facts{Closed: 1320, Excused: 120, Tier: beacon.Enhanced},
			losses{{Reason: policy.Closed, Minutes: 1320}, {policy.Excused, 120, full}},
		},
		{
			"our outage all day",
			beacon.Facts{Excused: 1440},
			losses{{policy.Excused, 1440, full}},
		},
		{
			"our outage in the one minute that was expected",
			beacon.Facts{Closed: 700, Excused: 1, Outside: 739},
			losses{{Reason: policy.Closed, Minutes: 700}, {policy.Excused, 1, full}, {Reason: policy.Outside, Minutes: 739}},
		},
		{
			"our outage, and traffic that is paid all the same",
			beacon.Facts{Closed: 1320, Excused: 120, Bytes: 650e6},
			losses{{Reason: policy.Closed, Minutes: 1320}, {policy.Excused, 120, full}},
		},
		{"a day that has not begun", beacon.Facts{}, losses{{policy.Outside, 0, full}}},
	} {
		if got := policy.Devices()[0].Explain(test.f).Losses; !slices.Equal(got, test.want) {
			t.Errorf("%s: losses\n%v; want\n%v", test.name, got, test.want)
		}
	}
}

var reasons = []policy.Reason{
	policy.Offline, policy.Closed, policy.Excused, policy.Outside, policy.Slow, policy.Capped,
}

// Whatever the day: what could have been earned is what was, and the losses.
func TestExplain_AddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 20))
	told := map[policy.Reason]int{}
	for range 20_000 {
		p, f := randomPolicy(random), randomFacts(random)
		a := p.Explain(f)
		sum, last := a.Earned, -1
		for _, l := range a.Losses {
			if l.Amount.Availability < 0 || l.Amount.Performance < 0 || l.Amount.Utilization < 0 || l.Minutes < 0 {
				t.Fatalf("%s: %+v: a loss of %+v", p.Line(), f, l)
			}
			if l.Minutes == 0 && l.Amount.Total() == 0 {
				t.Fatalf("%s: %+v: a loss of nothing: %+v", p.Line(), f, l)
			}
			if at := slices.Index(reasons, l.Reason); at <= last {
				t.Fatalf("%s: %+v: %s is not in its place", p.Line(), f, l.Reason)
			} else {
				last = at
			}
			sum = sum.Plus(l.Amount)
			told[l.Reason]++
		}
		if sum != a.Potential || a.Earned != p.Reward(f) {
			t.Fatalf("%s: %+v: %+v does not add up: %v; earned %v", p.Line(), f, a, sum, p.Reward(f))
		}
		checkMinutes(t, f, a)
		checkFree(t, f, a)
	}
	for _, reason := range reasons {
		if told[reason] == 0 {
			t.Errorf("no day had a loss by %q", reason)
		}
	}
}

// checkMinutes sees that every minute that was not served has its reason.
func checkMinutes(t *testing.T, f beacon.Facts, a policy.Account) {
	t.Helper()
	got := map[policy.Reason]int{}
	for _, l := range a.Losses {
		if l.Minutes > 0 {
			got[l.Reason] = l.Minutes
		}
	}
	want := map[policy.Reason]int{}
	for reason, minutes := range map[policy.Reason]int{
		policy.Offline: f.Expected - f.Served, policy.Closed: f.Closed, policy.Excused: f.Excused, policy.Outside: f.Outside,
	} {
		if minutes > 0 {
			want[reason] = minutes
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v: minutes %v; want %v", f, got, want)
	}
}

// checkFree sees that minutes of which nothing was expected cost nothing as long
// as there were others, that a day without any has no other reason, and that what an
// outage of ours cost is nobody else's.
func checkFree(t *testing.T, f beacon.Facts, a policy.Account) {
	t.Helper()
	for _, l := range a.Losses {
		free := l.Reason == policy.Closed || l.Reason == policy.Excused || l.Reason == policy.Outside
		if free && f.Expected > 0 && l.Amount != (beacon.Earned{}) {
			t.Fatalf("%+v: %s costs %v", f, l.Reason, l.Amount)
		}
		if !free && f.Expected == 0 && l.Reason != policy.Capped {
			t.Fatalf("%+v: nothing was expected, and %s costs %v", f, l.Reason, l.Amount)
		}
		if f.Excused > 0 && (l.Reason == policy.Closed || l.Reason == policy.Outside) && l.Amount != (beacon.Earned{}) {
			t.Fatalf("%+v: the service was down, and %s costs %v", f, l.Reason, l.Amount)
		}
	}
}
