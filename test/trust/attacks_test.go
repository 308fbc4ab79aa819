package trust_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// radius of policies 2 and 3, and their largest shares of tier and traffic, from what was
// asked for and not from the code of policies.
const (
	radius   = 50.0
	bestTier = 0.5
	mostCap  = 0.25
)

// clonesAt are attacks that no name is given to: clones within some metres.
var clonesAt = []float64{25, 50}

func all() []attack {
	list := attacks()
	for _, d := range clonesAt {
		list = append(list, crowdAround(d))
	}
	return append(list, measured(), moved())
}

// rough is how much more clones can get than their ground is worth, because it is paid in
// squares, of which a circle has 304 to 322: who comes first is decided by ids, and differs
// from run to run.
const rough = 322.0 / 304

// covered is how much more ground than one hotspot an attack can cover.
func covered(name string) float64 {
	for _, d := range clonesAt {
		if name == fmt.Sprintf("clones-%.0f", d) {
			return rough * math.Pow(1+d/radius, 2)
		}
	}
	if name == "app-farm" {
		return farmed
	}
	return 1
}

// farmed is at how many places app-farm claims to serve.
const farmed = 3

// TestAttacks runs every attack for three days under the newest policy, which pays places and
// counts minutes, and replays the days under the others. Where places are paid, none earns more
// than the minutes that it was heard in are worth at one place, but for the tier that it claims
// and traffic up to the cap. Under the policy that pays devices many do, so that this check can
// fail.
func TestAttacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, policy.BuiltIn(), start)
	w.attack(t, sizes, all()...)
	earned := w.earned(t)
	under := [...]map[string]outcome{1: w.replayed(t, earned, 0), 2: w.replayed(t, earned, 1), 3: earned}
	for _, version := range []int{2, 3} {
		for _, a := range all() {
			if err := beyond(a.name, under[version][a.name]); err != nil {
				t.Errorf("policy %d: %v", version, err)
			}
		}
	}
	for _, name := range []string{
		"script", "ramp", "absurd-boots", "one-minute-hours", "link-unlink", "late-link", "early-delete", "same-mac", "point", "ring",
		"many-addresses", "clones-25", "clones-50",
	} {
		if beyond(name, under[1][name]) == nil {
			t.Errorf("policy 1 pays %s no more than its service: the check says nothing", name)
		}
	}
	if invented, measured := earned["invented-tests"], earned["measured-tests"]; invented.Performance == 0 || measured.Performance != 0 || measured.Availability != invented.Availability {
		t.Errorf("invented tests earn %+v, and %+v if a visit has measured the speed", invented, measured)
	}
	if was, is := under[2]["vague-visit"], earned["vague-visit"]; credits(was.Availability) < days/2-0.01 || is.total != 0 {
		t.Errorf("one that nobody has found exactly earns %s under policy 2, and %s", was.total, is.total)
	}
	checkSquatter(t, earned)
	checkMoved(t, earned)
	queue := w.queue(t)
	for _, a := range attacks() {
		if flagged := len(queue[earned[a.name].user]) > 0; flagged == (strings.HasSuffix(a.name, "imitator") || a.name == "vague-visit") {
			t.Errorf("%s is flagged: %v", a.name, flagged)
		}
	}
	if farm := w.raids["app-farm"]; farm.checkIns < 10*farmed*days || farm.counted != 0 {
		t.Errorf("%d check-ins of an app farm count, of %d", farm.counted, farm.checkIns)
	}
	for _, name := range []string{"honest", "squatter's neighbor"} {
		if kinds := queue[earned[name].user]; len(kinds) > 0 {
			t.Errorf("%s is flagged: %v", name, kinds)
		}
	}
	checkPage(t, func(name string) map[int]string {
		o := earned[name]
		return map[int]string{
			1: aDay(o.service()), 2: aDay(credits(under[1][name].total)), 3: aDay(credits(under[2][name].total)), 4: aDay(credits(o.total)),
			5: strings.Join(queue[o.user], ", "),
		}
	})
}

// replayed returns what would have been earned under a built-in policy.
func (w *world) replayed(t *testing.T, earned map[string]outcome, number int) map[string]outcome {
	t.Helper()
	p := policy.BuiltIn()[number]
	day := func(at time.Time) string { return at.Format(time.DateOnly) }
	form := client.PolicyForm{
		Availability: p.Availability.String(), UtilizationPerGB: p.PerGB.String(), UtilizationCap: p.Cap.String(), RadiusM: p.Radius,
		Performance: client.TierForm{Standard: p.Performance[0].String(), Enhanced: p.Performance[1].String(), Premium: p.Performance[2].String()},
	}
	if p.PaysPlaces() {
		form.UnprovenShare = p.Unproven.String()
	}
	replay, err := w.staff(t).ReplayRewards(t.Context(), client.ReplayForm{From: day(w.start), To: day(end.AddDate(0, 0, -1)), Policy: &form})
	if err != nil {
		t.Fatal(err)
	}
	would := map[string]client.ReplaySums{}
	for _, o := range replay.Operators {
		would[o.UserID] = o.ReplaySums
	}
	all := map[string]outcome{}
	for name, o := range earned {
		if sums := would[o.user]; sums.Earned != o.total {
			t.Errorf("a replay says that %s earned %s; it has %s", name, sums.Earned, o.total)
		}
		o.Breakdown, o.total = would[o.user].ReplayedBreakdown, would[o.user].Replayed
		all[name] = o
	}
	return all
}

// TestAttacks_FullSize runs the attacks that are about a number with as many hotspots and
// addresses as they have, for a day. On a point, or registered around one, they
// earn together what one earns, and within d metres (1 + d/R)² of it, to a few hundredths.
// All are in the queue when the day is over.
func TestAttacks_FullSize(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel()
	numbers := map[string]int{"point": 40, "ring": 40, "many-addresses": 50, "clones-25": 40, "clones-50": 40}
	chosen := slices.DeleteFunc(all(), func(a attack) bool { return numbers[a.name] == 0 })
	w := newWorld(t, policy.BuiltIn(), end.AddDate(0, 0, -level.Rounds(1, 1, days)))
	w.attack(t, nil, chosen...)
	earned := w.earned(t)
	queue, one := w.queue(t), credits(earned["honest"].Availability)
	for _, a := range chosen {
		o := earned[a.name]
		if err := beyond(a.name, o); err != nil {
			t.Error(err)
		}
		share := credits(o.Availability) / one
		t.Logf("%s: %.4f of one, in the queue as %v", a.name, share, queue[o.user])
		if share > covered(a.name) || share < 0.9*covered(a.name) {
			t.Errorf("%s: %d earn %.4f times as much as one; want %.4f at most", a.name, w.raids[a.name].size, share, covered(a.name))
		}
		if w.raids[a.name].size != numbers[a.name] || len(queue[o.user]) == 0 {
			t.Errorf("%s: %d of %d, in the queue as %v", a.name, w.raids[a.name].size, numbers[a.name], queue[o.user])
		}
	}
}

// earned returns what each attack has earned, and each neighbor of one.
func (w *world) earned(t *testing.T) map[string]outcome {
	t.Helper()
	earned := map[string]outcome{}
	for name, raid := range w.raids {
		earned[name] = outcomeOf(t, raid)
		if raid.next != nil {
			earned[name+"'s neighbor"] = outcomeOf(t, raid.next)
		}
	}
	return earned
}

// beyond returns an error if an attack earned more than its service and the residue.
func beyond(name string, o outcome) error {
	const rounding = 1e-4 // some hundred rows, each rounded to a millionth
	most := o.service()*covered(name) + rounding
	switch available := credits(o.Availability); {
	case available > most:
		return fmt.Errorf("%s: availability %.6f for %d minutes, worth %.6f", name, available, o.minutes, most)
	case credits(o.Performance) > available*bestTier+rounding:
		return fmt.Errorf("%s: performance %s for availability %.6f", name, o.Performance, available)
	case credits(o.Utilization) > most*mostCap+rounding:
		return fmt.Errorf("%s: utilization %s for %d minutes", name, o.Utilization, o.minutes)
	}
	return nil
}

// checkSquatter checks that the squatter takes what it serves, and its neighbor gets the
// rest.
func checkSquatter(t *testing.T, places map[string]outcome) {
	t.Helper()
	taken, left := places["squatter"], places["squatter's neighbor"]
	both := credits(taken.Availability) + credits(left.Availability)
	if alone := left.service(); both > alone+0.01 || both < alone-0.01 {
		t.Errorf("the squatter and its neighbor earn %.4f together; one place served for so long is worth %.4f", both, alone)
	}
	if is, want := credits(taken.Availability), taken.service(); is > want+1e-4 || is < want*0.9 {
		t.Errorf("the squatter earns %.4f; it served %.4f", is, want)
	}
}

// checkMoved checks that one that moves to another's door is paid for two days at its own
// place, and for nothing at that door, and that the other does not notice.
func checkMoved(t *testing.T, places map[string]outcome) {
	t.Helper()
	const overlap = 0.05 // of the two places, a day
	moved, other := credits(places["moved"].Availability), credits(places["moved's neighbor"].Availability)
	if moved > days-1 || moved < days-1-days*overlap || other < days-days*overlap {
		t.Errorf("one that moved there on the second day earns %.4f, and the one that was there %.4f", moved, other)
	}
}

// checkPage compares columns of the table in docs/trust.md, most of them in credits a day,
// with what was earned. Clones are not in it: what they earn depends a little on their ids.
func checkPage(t *testing.T, columns func(name string) map[int]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append([]attack{honest}, attacks()...) {
		_, row, found := strings.Cut(string(text), "\n| `"+a.name+"`: "+a.about+" |")
		if !found {
			t.Errorf("docs/trust.md does not say what %s does: %s", a.name, a.about)
		}
		row, _, _ = strings.Cut(row, "\n")
		cells := make([]string, 7)
		copy(cells[1:], strings.Split(row, "|"))
		for i, want := range columns(a.name) {
			is := strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
			t.Logf("%s, column %d: %s", a.name, i, want)
			if is != want {
				t.Errorf("docs/trust.md: column %d of %s is %q; want %s", i, a.name, is, want)
			}
		}
	}
}

func aDay(credits float64) string { return fmt.Sprintf("%.2f", credits/days) }
