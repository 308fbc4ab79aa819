package policy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

func TestParseLine(t *testing.T) {
	p := policy.Policy{Version: 12, From: 20_000, Availability: 1, Performance: [3]beacon.Amount{2, 3, 4}, PerGB: 5, Cap: 6}
	places := p
	places.Radius, places.Unproven = 50, 7
	minutes := places
	minutes.StandingADay = 600
	for _, want := range append(policy.Devices(), p, places, minutes) {
		if got, err := policy.ParseLine(want.Line()); err != nil || got != want {
			t.Errorf("ParseLine(%q) = %+v, %v", want.Line(), got, err)
		}
	}
	if got, want := places.Line(), "policy,12,2024-10-04,1,2,3,4,5,6,50,7"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	line := minutes.Line()
	if want := places.Line() + ",600"; line != want {
		t.Errorf("got %s; want %s", line, want)
	}
	for i := range strings.Count(line, ",") {
		words := strings.Split(line, ",")
		words[i] = "x"
		if got, err := policy.ParseLine(strings.Join(words, ",")); err == nil {
			t.Errorf("%q is read as %+v", words, got)
		}
	}
	for _, text := range []string{"", "policy", line + ",7", p.Line() + ",7", places.Line() + ",0", p.Line() + ",0,0", p.Line() + ",0,1", p.Line() + ",0,0,0", strings.Replace(line, ",1,", ",01,", 1), " " + line} {
		if got, err := policy.ParseLine(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// A line that is read as a policy says no more than that policy's own line does.
func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		"policy,1,1970-01-01,1000000,0,250000,500000,20000,1000000", "policy,2,2027-01-01,0,0,0,0,0,0", "policy,1,1970-01-01,1000000,0,250000,500000,20000",
		"policy,2,2027-01-01,1000000,0,250000,500000,20000,250000,50,500000", "policy,3,2027-01-01,1000000,0,250000,500000,20000,250000,50,500000,600", "policy,-1,2026-02-30,1,2,3,4,5,6", "policy,1,1970-01-01,+1,0,0,0,0,0", "policy,1,1970-01-01,9223372036854775808,0,0,0,0,0", "policy", "",
	} {
		f.Add(seed)
	}
	const first = "policy,1,1970-01-01,1000000,0,250000,500000,20000,1000000"
	if p, err := policy.ParseLine(first); err != nil || p.Line() != first {
		f.Fatalf("the first policy is read as %+v, %v", p, err)
	}
	form := regexp.MustCompile(`^policy,[+-]?[0-9]+,[0-9]{4}-[0-9]{2}-[0-9]{2}((,[+-]?[0-9]+){6}|(,[+-]?[0-9]+){8,9})$`)
	f.Fuzz(func(t *testing.T, line string) {
		p, err := policy.ParseLine(line)
		if err != nil {
			return
		}
		if !form.MatchString(line) {
			t.Errorf("%q is read as %+v", line, p)
		}
		again, err := policy.ParseLine(p.Line())
		if err != nil || again != p {
			t.Errorf("%q is read as %+v, whose line %q is read as %+v, %v", line, p, p.Line(), again, err)
		}
	})
}

// A network may pay places from the first day on, which is day 0: that is not none.
func TestPlacesFrom(t *testing.T) {
	places := policy.BuiltIn()[1]
	places.From = 20_000
	always := places
	always.From = 0
	for _, tt := range []struct {
		set  policy.Set
		from beacon.Day
		any  bool
	}{
		{policy.Devices(), 0, false},
		{append(policy.Devices(), places), 20_000, true},
		{policy.Set{always, places}, 0, true},
	} {
		if from, any := tt.set.PlacesFrom(); from != tt.from || any != tt.any {
			t.Errorf("PlacesFrom of %d policies = %d, %v; want %d, %v", len(tt.set), from, any, tt.from, tt.any)
		}
	}
}
