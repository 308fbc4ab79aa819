package trust_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// radius of policy 2, and its largest shares of tier and traffic, from the issue and not
// from the policy's code.
const (
	radius   = 50.0
	bestTier = 0.5
	mostCap  = 0.25
)

// clonesAt are attacks that no name is given to: clones within some metres.
var clonesAt = []float64{25, 50}

func all() []simulate.Attack {
	list := simulate.Attacks()
	for _, d := range clonesAt {
		a := simulate.Clones(d)
		a.Name = fmt.Sprintf("clones-%.0f", d)
		list = append(list, a)
	}
	tests, _ := simulate.FindAttack("invented-tests")
	tests.Name = "measured-tests"
	return append(list, simulate.Measured(tests), simulate.Moved())
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

// TestAttacks runs every attack for three days under the policy that pays places. None
// earns more than the minutes that it was heard in are worth at one place, but for the
// tier that it claims and traffic up to the cap.
func TestAttacks(t *testing.T) {
	t.Parallel()
	w, earned := run(t, policy.BuiltIn())
	for _, a := range all() {
		if err := beyond(a.Name, earned[a.Name]); err != nil {
			t.Error(err)
		}
	}
	if invented, measured := earned["invented-tests"], earned["measured-tests"]; invented.Performance == 0 || measured.Performance != 0 || measured.Availability != invented.Availability {
		t.Errorf("invented tests earn %+v, and %+v if a visit has measured the speed", invented, measured)
	}
	checkSquatter(t, earned)
	checkMoved(t, earned)
	queue := w.queue(t)
	for _, a := range simulate.Attacks() {
		if flagged := len(queue[earned[a.Name].user]) > 0; flagged == strings.HasSuffix(a.Name, "imitator") {
			t.Errorf("%s is flagged: %v", a.Name, flagged)
		}
	}
	if farm := w.raids["app-farm"]; farm.CheckIns < 10*farmed*days || farm.Counted != 0 {
		t.Errorf("%d check-ins of an app farm count, of %d", farm.Counted, farm.CheckIns)
	}
	for _, name := range []string{"honest", "squatter's neighbor"} {
		if kinds := queue[earned[name].user]; len(kinds) > 0 {
			t.Errorf("%s is flagged: %v", name, kinds)
		}
	}
	checkPage(t, earned, func(o outcome) map[int]string {
		return map[int]string{
			1: aDay(o.service()), 3: aDay(credits(o.total)), 4: aDay(credits(o.Availability)), 5: aDay(credits(o.Performance)),
			6: aDay(credits(o.Utilization)), 7: strings.Join(queue[o.user], ", "),
		}
	})
}

// TestAttacks_PayingDevices runs them under the policy that pays devices. There many earn
// more, so that the checks of the other test can fail.
func TestAttacks_PayingDevices(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel()
	_, earned := run(t, policy.Devices())
	for _, name := range []string{
		"script", "ramp", "absurd-boots", "one-minute-hours", "link-unlink", "late-link", "early-delete", "same-mac", "point", "ring",
		"many-addresses", "clones-25", "clones-50",
	} {
		if beyond(name, earned[name]) == nil {
			t.Errorf("policy 1 pays %s no more than its service: the check says nothing", name)
		}
	}
	checkPage(t, earned, func(o outcome) map[int]string { return map[int]string{2: aDay(credits(o.total))} })
}

// run runs all attacks under some policies, and returns what they earned.
func run(t *testing.T, policies policy.Set) (*world, map[string]outcome) {
	t.Helper()
	w := newWorld(t, policies, start)
	w.attack(t, sizes, all()...)
	return w, w.earned(t)
}

// TestAttacks_FullSize runs the attacks that are about a number with as many hotspots and
// addresses as beacon simulate does, for a day. On a point, or registered around one, they
// earn together what one earns, and within d metres (1 + d/R)² of it, to a few hundredths.
// All are in the queue when the day is over.
func TestAttacks_FullSize(t *testing.T) {
	level.Needs(t, level.Check)
	t.Parallel()
	numbers := map[string]int{"point": 40, "ring": 40, "many-addresses": 50, "clones-25": 40, "clones-50": 40}
	attacks := slices.DeleteFunc(all(), func(a simulate.Attack) bool { return numbers[a.Name] == 0 })
	w := newWorld(t, policy.BuiltIn(), end.AddDate(0, 0, -level.Rounds(1, 1, days)))
	w.attack(t, nil, attacks...)
	earned := w.earned(t)
	queue, one := w.queue(t), credits(earned["honest"].Availability)
	for _, a := range attacks {
		o := earned[a.Name]
		if err := beyond(a.Name, o); err != nil {
			t.Error(err)
		}
		share := credits(o.Availability) / one
		t.Logf("%s: %.4f of one, in the queue as %v", a.Name, share, queue[o.user])
		if share > covered(a.Name) || share < 0.9*covered(a.Name) {
			t.Errorf("%s: %d earn %.4f times as much as one; want %.4f at most", a.Name, w.raids[a.Name].Size, share, covered(a.Name))
		}
		if w.raids[a.Name].Size != numbers[a.Name] || len(queue[o.user]) == 0 {
			t.Errorf("%s: %d of %d, in the queue as %v", a.Name, w.raids[a.Name].Size, numbers[a.Name], queue[o.user])
		}
	}
}

// earned returns what each attack has earned, and each neighbor of one.
func (w *world) earned(t *testing.T) map[string]outcome {
	t.Helper()
	earned := map[string]outcome{}
	for name, raid := range w.raids {
		earned[name] = outcomeOf(t, raid)
		if raid.Neighbor != nil {
			earned[name+"'s neighbor"] = outcomeOf(t, raid.Neighbor)
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
func checkPage(t *testing.T, earned map[string]outcome, columns func(outcome) map[int]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	honest, _ := simulate.FindAttack("honest")
	for _, a := range append([]simulate.Attack{honest}, simulate.Attacks()...) {
		cells := make([]string, 9)
		if _, line, found := strings.Cut(string(text), "\n| `"+a.Name+"` |"); found {
			line, _, _ = strings.Cut(line, "\n")
			copy(cells[1:], strings.Split(line, "|"))
		}
		for i, want := range columns(earned[a.Name]) {
			is := strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
			t.Logf("%s, column %d: %s", a.Name, i, want)
			if is != want {
				t.Errorf("docs/trust.md: column %d of %s is %q; want %s", i, a.Name, is, want)
			}
		}
	}
}

func aDay(credits float64) string { return fmt.Sprintf("%.2f", credits/days) }
