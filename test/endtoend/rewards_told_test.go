//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// checkStatements recomputes the month of everyone, from the facts alone.
func (l *life) checkStatements(t *testing.T) {
	t.Helper()
	for name, o := range l.who {
		if len(o.Hotspots) == 0 {
			continue
		}
		statement, ok := audit.SaveStatement(t, o.Client, l.server, "me", "2026-10")
		if !ok {
			continue
		}
		var sum audit.Parts
		rows := map[string]audit.Facts{}
		for _, r := range statement.Rows {
			sum = sum.Plus(r.Facts.Reward())
			rows[r.HotspotID] = r.Facts
			if r.Date != "2026-10-31" || r.Parts != r.Facts.Reward() {
				t.Errorf("%s: row %+v is worth %v", name, r, r.Facts.Reward())
			}
		}
		final := l.onlooker[name].Final["2026-10"]
		if len(statement.Rows) != len(o.Hotspots) || sum != final.Breakdown || final.Summary.Settled != sum.Sum() {
			t.Errorf("%s: %d rows of %d hotspots make %v; settled was %+v", name, len(statement.Rows), len(o.Hotspots), sum, final)
		}
		for _, h := range o.Hotspots {
			if e, _ := h.Explain(t, o.Client, l.server, "2026-10-31"); e.Facts != rows[h.Hotspot] || e.Open || e.Status != "settled" {
				t.Errorf("%s: the row of %s is %+v; explained is %+v", name, h.SSID, rows[h.Hotspot], e)
			}
		}
	}
	l.checkFacts(t)
}

// checkFacts knows what was special about some hotspots.
func (l *life) checkFacts(t *testing.T) {
	t.Helper()
	facts := func(h *audit.Rewarded) audit.Facts {
		e, _ := h.Explain(t, l.staff, l.server, "2026-10-31")
		return e.Facts
	}
	ada := l.who["ada"].Hotspots
	if f := facts(ada[0]); f.Reward().Utilization != 1_000_000 || f.Served == 0 || f.Tier != "premium" {
		t.Errorf("the fast one has %+v", f)
	}
	if f := facts(ada[1]); f.Served == 0 || f.Served >= f.Expected {
		t.Errorf("the one that beats every six minutes has %+v", f)
	}
	if f := facts(ada[2]); f.Closed == 0 || f.Expected != 0 {
		t.Errorf("the closed one has %+v", f)
	}
	if f := facts(ada[3]); f.Served != 0 || f.Expected == 0 {
		t.Errorf("the silent one has %+v", f)
	}
	for _, h := range []*audit.Rewarded{l.gone, l.parted} {
		if f := facts(h); f.Reward().Availability == 0 || f.Reward().Utilization == 0 {
			t.Errorf("%s was removed, and keeps %+v", h.SSID, f)
		}
	}
}

// checkEvents listens to everything that ever happened, with each key: everyone
// hears of the own statement once, staff of all, a stranger of none. The audit
// has the same.
func (l *life) checkEvents(t *testing.T) {
	t.Helper()
	listeners := map[string]*harness.Listener{
		"staff": harness.NewListener(t, l.staff.Key), "stranger": harness.NewListener(t, harness.CreateKey(t, l.db, "rewards:read").Key),
	}
	for name, o := range l.who {
		listeners[name] = harness.NewListener(t, o.Key.Key)
	}
	// What everyone hears, and comes after all that is to be heard.
	if a := l.staff.Patch(t.Context(), l.server, l.who["ada"].Hotspots[0].Hotspot, harness.Fields{"name": "The last"}); a.Status != 200 {
		t.Fatalf("renaming answered %d %s", a.Status, a.Code)
	}
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	defer func() { stop(); listening.Wait() }()
	for name, listener := range listeners {
		listening.Go(func() { _ = listener.Listen(ctx, l.server) })
		harness.Eventually(t, name+" hears of the last change", func() bool { return listener.Count("hotspot.updated") > 0 })
		var heard []string
		for _, e := range listener.Heard() {
			if e.Type == "rewards.settled" {
				heard = append(heard, e.UserID+" "+e.Period)
			}
		}
		var want []string
		for other, o := range l.who {
			if len(o.Hotspots) > 0 && (name == "staff" || name == other) {
				want = append(want, o.UserID+" 2026-10")
			}
		}
		if fmt.Sprint(audit.Sorted(heard)) != fmt.Sprint(audit.Sorted(want)) {
			t.Errorf("%s heard of %v; want %v", name, heard, want)
		}
	}
	audit := harness.Command(t, "audit", "--db", l.db, "--json", "--limit", "10000")
	for name, o := range l.who {
		want := min(len(o.Hotspots), 1)
		if n := strings.Count(audit, fmt.Sprintf(`"kind":"rewards.settled","target":%q,"key_id":"","user_id":"","request_id":"schedule","note":"2026-10"`, o.UserID)); n != want {
			t.Errorf("the audit tells %d times that %s was settled; want %d", n, name, want)
		}
	}
}
