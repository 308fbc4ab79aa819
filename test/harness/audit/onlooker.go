//go:build linux

package audit

import (
	"reflect"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// Onlooker is an operator who asks for everything, again and again.
type Onlooker struct {
	*Operator

	Behind bool // the clock was set back: all has more months than there were by now

	settled Micros             // the most that was settled
	Final   map[string]Summary // by month, once it was settled
}

// NewOnlooker lets an operator look.
func NewOnlooker(o *Operator) *Onlooker {
	return &Onlooker{Operator: o, Final: map[string]Summary{}}
}

type glance struct {
	summaries
	minute harness.Minute // in which all were answered; -1: in several
}

func (o *Onlooker) glance(t testing.TB, s *harness.Server) (g glance, ok bool) {
	var minutes []harness.Minute
	if g.summaries, minutes, ok = askSummaries(t, o.Client, s.URL+"/v1/users/me/rewards"); !ok {
		return g, false
	}
	if g.minute = minutes[0]; slices.Max(minutes) != slices.Min(minutes) {
		g.minute = -1
	}
	return g, true
}

// Look asks for everything once, and compares it.
func (o *Onlooker) Look(t testing.TB, s *harness.Server) {
	before, ok := o.glance(t, s)
	if !ok {
		return
	}
	history, _, ok := Fetch[[]HistoryMonth](t, o.Client, s.URL+"/v1/users/me/rewards/history")
	if !ok {
		return
	}
	october, ok := o.explainAll(t, s)
	if !ok {
		return
	}
	after, ok := o.glance(t, s)
	if !ok {
		return
	}
	o.remember(t, before)
	o.remember(t, after)
	if reflect.DeepEqual(before, after) && before.minute != -1 {
		o.compare(t, before, history, october)
	}
}

// explainAll asks why each hotspot earned what it did on the last of October,
// and adds that up.
func (o *Onlooker) explainAll(t testing.TB, s *harness.Server) (sum Parts, ok bool) {
	for _, h := range o.Hotspots {
		e, ok := h.Explain(t, o.Client, s, "2026-10-31")
		if !ok {
			return sum, false
		}
		sum = sum.Plus(e.Earned.Parts)
	}
	return sum, true
}

// remember holds what was seen against what was seen before: what is settled
// never becomes less, and a month that is settled stays as it is.
func (o *Onlooker) remember(t testing.TB, g glance) {
	if g.all.Summary.Settled < o.settled {
		t.Errorf("%d was settled, and now %d", o.settled, g.all.Summary.Settled)
	}
	o.settled = max(o.settled, g.all.Summary.Settled)
	for _, s := range []Summary{g.last, g.current} {
		if known, ok := o.Final[s.Month()]; ok && !reflect.DeepEqual(known, s) {
			t.Errorf("%s was settled as %+v, and is %+v", s.Month(), known, s)
		}
		if s.Period.Status == "settled" {
			o.Final[s.Month()] = s
		}
	}
}

// compare compares answers between which nothing changed.
func (o *Onlooker) compare(t testing.TB, g glance, history []HistoryMonth, october Parts) {
	var sum Micros
	for _, m := range history {
		sum += m.TotalEarned
		for _, s := range []Summary{g.last, g.current} {
			if s.Month() != m.Period {
				continue
			}
			if m.TotalEarned != s.Summary.TotalEarned || m.HotspotCount != len(s.Hotspots) {
				t.Errorf("the history says %+v; the summary of the month %d of %d hotspots", m, s.Summary.TotalEarned, len(s.Hotspots))
			}
			if m.Period == "2026-10" && october != s.Breakdown {
				t.Errorf("october is %v; its only day is explained as %v", s.Breakdown, october)
			}
		}
	}
	if total := g.all.Summary.TotalEarned; total != sum && !o.Behind || total < sum {
		t.Errorf("all is %d; the months make %d", total, sum)
	}
}
