//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF11_HoldsKilled kills (-9) a server while holds are placed, one in the middle of the
// transaction that closes held days, and settlements that race with a release, a confirmed
// visit and an extension; and one in the middle of each write of a hold. In the end each held row was paid once, or is void, or still
// held, and every answer says so: earned = settled + pending + held + voided (I5, I6).
func TestF11_HoldsKilled(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		last := audit.DayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
		p := harness.Program{Binary: controlled(t)}
		audit.Prepare(t, harness.NewHeldClock(t, (last-1).Time().Add(12*time.Hour)), db, audit.Few, last-1, last)
		h := &holders{}
		for i := range h.staff {
			h.staff[i] = harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
		}
		h.place(t, p, db, harness.NewClock((last-1).Time().Add(16*time.Hour), 1).Flags())
		for _, point := range []string{"held_days 1", "user_months 1"} {
			closeUntil(t, db, last, point)
		}
		audit.CloseAll(t, p, db, last)
		for _, round := range []holdRound{{"ready 1", false, true}, {"ready 1", false, false}, {"statements 1", true, true}} {
			h.settle(t, p, harness.CopyDatabase(t, db), round)
		}
		if rounds(0, 1, 1) > 0 {
			h.killWriting(t, p, db)
		}
	})
}

// holders are two people who decide about holds.
type holders struct {
	staff [2]*harness.Client
	holds [4]string // their ids
}

// place holds four hotspots at once and kills the server meanwhile. What was acknowledged
// is there; what was not can be asked for again.
func (h *holders) place(t *testing.T, p harness.Program, db string, flags []string) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	hotspots := audit.Lines(t, handle, `SELECT id FROM hotspots WHERE deleted_at <> 0 ORDER BY id`)
	s := p.Start(t, db, flags...)
	var done atomic.Int32
	var asking sync.WaitGroup
	for i := range h.holds {
		asking.Go(func() {
			if h.ask(t, s, hotspots[i], &h.holds[i]) == harness.Done {
				done.Add(1)
			}
		})
	}
	harness.Eventually(t, "a hold is placed", func() bool { return done.Load() > 0 })
	s.Kill()
	asking.Wait()
	s = p.Start(t, db, flags...)
	for i, known := range h.holds {
		harness.Eventually(t, "a hold is answered", func() bool { return h.ask(t, s, hotspots[i], &h.holds[i]) == harness.Done })
		if known != "" && h.holds[i] != known {
			t.Errorf("hold %s was acknowledged, and is %s", known, h.holds[i])
		}
	}
	list, _, ok := audit.Fetch[[]struct{ ID, Status string }](t, h.staff[0], s.URL+"/v1/holds?per_page=100")
	if !ok || len(list) != len(h.holds) {
		t.Fatalf("there are these holds: %v; want %v", list, h.holds)
	}
	h.decide(t, s, 0, 1, harness.Fields{"action": "void"})
	s.Stop(t)
}

// ask places a hold, or finds the one that is there, and notes its id.
func (h *holders) ask(t *testing.T, s *harness.Server, hotspot string, id *string) harness.Outcome {
	t.Helper()
	hotspot = hotspot[:len(hotspot)-1] // a line ends with a comma
	a := h.staff[0].Do(t.Context(), http.MethodPost, s.URL+"/v1/holds", harness.Fields{
		"hotspot_id": hotspot, "reason": "no radio", "evidence": "photo 7", "until": "2026-11-25T00:00:00Z",
	})
	switch {
	case a.Status == http.StatusCreated:
		*id, _ = a.Fields(t)["id"].(string)
		return harness.Done
	case a.Status == http.StatusConflict: // an earlier request was carried out
		list, _, _ := audit.Fetch[[]struct {
			ID      string
			Hotspot string `json:"hotspot_id"`
		}](t, h.staff[0], s.URL+"/v1/holds?per_page=100")
		for _, one := range list {
			if one.Hotspot == hotspot {
				*id = one.ID
			}
		}
		return harness.Done
	}
	if a.Err == nil && a.Status != http.StatusServiceUnavailable {
		t.Errorf("a hold was answered %d %s", a.Status, a.Code)
	}
	return a.Outcome()
}

// decide decides about a hold.
func (h *holders) decide(t *testing.T, s *harness.Server, staff, hold int, form harness.Fields) {
	t.Helper()
	form["reason"] = "as seen"
	h.staff[staff].Ask(t, http.MethodPost, fmt.Sprintf("%s/v1/holds/%s/decisions", s.URL, h.holds[hold]), form)
}

// closeUntil lets a server close days until it comes to a point, and kills it there.
func closeUntil(t *testing.T, db string, last audit.Day, point string) {
	t.Helper()
	stop := newStop(t, point)
	clock := harness.NewClock((last + 1).Time().Add(10*time.Minute), 1200)
	s := harness.Program{Binary: controlled(t), Environment: stop.environment()}.Start(t, db, clock.Flags()...)
	harness.Eventually(t, "the closing is at "+point, func() bool { s.Running(t); return stop.reached() })
	s.Kill()
	if !harness.IsPostgres(db) {
		harness.CheckIntegrity(t, db)
	}
}

// holdRound races a settlement with decisions about holds.
type holdRound struct {
	point   string // where the settlement stops
	decided bool   // decisions come before it begins, not while it waits
	killed  bool
}

func (h *holders) settle(t *testing.T, p harness.Program, db string, round holdRound) {
	t.Helper()
	s := p.Start(t, db, atTheTime...)
	decide := func() {
		h.decide(t, s, 1, 0, harness.Fields{"action": "release"})
		h.decide(t, s, 1, 1, harness.Fields{"action": "void"})
		h.decide(t, s, 1, 2, harness.Fields{"action": "extend", "until": "2026-11-28T00:00:00Z"})
	}
	if round.decided {
		decide()
	}
	r := startRacer(t, db, round.point)
	harness.Eventually(t, "the settlement is at "+round.point, func() bool { return r.waits(t) })
	if !round.decided {
		decide()
	}
	if round.killed {
		_ = r.Process.Kill()
	} else {
		r.release(t)
	}
	if r.wasKilled(t) != round.killed {
		t.Errorf("%+v: the settlement was killed, or not", round)
	}
	settleNow(t, db)
	audit.SettledOnce(t, db, "2026-10", atTheTime...)
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	audit.Audit(t, handle)
	audit.CompareHeld(t, h.staff[0], s, handle, audit.Users(t, handle, 100)...)
	states := audit.Lines(t, handle, `SELECT state, count(*), sum(CASE WHEN listed < 0 THEN 0 ELSE 1 END) FROM held_days JOIN holds ON holds.id = hold GROUP BY state ORDER BY state`)
	listed := 2 // of the days of a hold that is over
	if !round.decided && !round.killed {
		listed = 0 // it had been computed before: the next statement says it
	}
	want := []string{"active,4,0,", fmt.Sprintf("released,2,%d,", listed), fmt.Sprintf("voided,2,%d,", listed)}
	if fmt.Sprint(states) != fmt.Sprint(want) {
		t.Errorf("%+v: held days are %v; want %v", round, states, want)
	}
	s.Stop(t)
}
