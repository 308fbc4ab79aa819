//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// saveStatement keeps a statement as it was answered, and verifies it without
// the server.
func saveStatement(t testing.TB, c *rig.Client, s *rig.Server, user, month string) (rewardStatement, bool) {
	t.Helper()
	statement, a, ok := fetch[rewardStatement](t, c, s.URL+"/v1/users/"+user+"/rewards/statements/"+month)
	if !ok {
		return statement, false
	}
	file := filepath.Join(t.TempDir(), month+".json")
	if err := os.WriteFile(file, a.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Command(t, "rewards", "verify", file)
	return statement, true
}

// checkStatements recomputes the month of everyone, from the facts alone.
func (l *life) checkStatements(t *testing.T) {
	t.Helper()
	for name, o := range l.who {
		if len(o.hotspots) == 0 {
			continue
		}
		statement, ok := saveStatement(t, o.client, l.server, "me", "2026-10")
		if !ok {
			continue
		}
		var sum parts
		rows := map[string]dayFacts{}
		for _, r := range statement.Rows {
			sum = sum.plus(r.dayFacts.reward())
			rows[r.HotspotID] = r.dayFacts
			if r.Date != "2026-10-31" || r.parts != r.dayFacts.reward() {
				t.Errorf("%s: row %+v is worth %v", name, r, r.dayFacts.reward())
			}
		}
		final := l.onlooker[name].final["2026-10"]
		if len(statement.Rows) != len(o.hotspots) || sum != final.Breakdown || final.Summary.Settled != sum.total() {
			t.Errorf("%s: %d rows of %d hotspots make %v; settled was %+v", name, len(statement.Rows), len(o.hotspots), sum, final)
		}
		for _, h := range o.hotspots {
			if e, _ := h.explain(t, o.client, l.server, "2026-10-31"); e.Facts != rows[h.Hotspot] || e.Open || e.Status != "settled" {
				t.Errorf("%s: the row of %s is %+v; explained is %+v", name, h.SSID, rows[h.Hotspot], e)
			}
		}
	}
	l.checkFacts(t)
}

// checkFacts knows what was special about some hotspots.
func (l *life) checkFacts(t *testing.T) {
	t.Helper()
	facts := func(h *rewarded) dayFacts {
		e, _ := h.explain(t, l.staff, l.server, "2026-10-31")
		return e.Facts
	}
	ada := l.who["ada"].hotspots
	if f := facts(ada[0]); f.reward().Utilization != 1_000_000 || f.Served == 0 || f.Tier != "premium" {
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
	for _, h := range []*rewarded{l.gone, l.parted} {
		if f := facts(h); f.reward().Availability == 0 || f.reward().Utilization == 0 {
			t.Errorf("%s was removed, and keeps %+v", h.SSID, f)
		}
	}
}

// checkEvents listens to everything that ever happened, with each key: everyone
// hears of the own statement once, staff of all, a stranger of none. The audit
// has the same.
func (l *life) checkEvents(t *testing.T) {
	t.Helper()
	listeners := map[string]*rig.Listener{
		"staff": rig.NewListener(t, l.staff.Key), "stranger": rig.NewListener(t, rig.CreateKey(t, l.db, "rewards:read").Key),
	}
	for name, o := range l.who {
		listeners[name] = rig.NewListener(t, o.Key.Key)
	}
	// What everyone hears, and comes after all that is to be heard.
	if a := l.staff.Patch(t.Context(), l.server, l.who["ada"].hotspots[0].Hotspot, rig.Fields{"name": "The last"}); a.Status != 200 {
		t.Fatalf("renaming answered %d %s", a.Status, a.Code)
	}
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	defer func() { stop(); listening.Wait() }()
	for name, listener := range listeners {
		listening.Go(func() { _ = listener.Listen(ctx, l.server) })
		rig.Eventually(t, 10*time.Second, name+" hears of the last change", func() bool { return listener.Count("hotspot.updated") > 0 })
		var heard []string
		for _, e := range listener.Heard() {
			if e.Type == "rewards.settled" {
				heard = append(heard, e.UserID+" "+e.Period)
			}
		}
		var want []string
		for other, o := range l.who {
			if len(o.hotspots) > 0 && (name == "staff" || name == other) {
				want = append(want, o.UserID+" 2026-10")
			}
		}
		if fmt.Sprint(sorted(heard)) != fmt.Sprint(sorted(want)) {
			t.Errorf("%s heard of %v; want %v", name, heard, want)
		}
	}
	audit := rig.Command(t, "audit", "--db", l.db, "--json", "--limit", "10000")
	for name, o := range l.who {
		want := min(len(o.hotspots), 1)
		if n := strings.Count(audit, fmt.Sprintf(`"kind":"rewards.settled","target":%q,"key_id":"","user_id":"","request_id":"schedule","note":"2026-10"`, o.UserID)); n != want {
			t.Errorf("the audit tells %d times that %s was settled; want %d", n, name, want)
		}
	}
}
