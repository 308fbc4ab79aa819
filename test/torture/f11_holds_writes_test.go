//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// holdWrite is a request that writes a hold, and the state of the hold after it.
type holdWrite struct {
	name string
	ask  func(*harness.Server) harness.Answer
	is   string // the hold, its state, and the number of all
}

// moment is when a server is killed: before it writes a hold (1), or when it has (2) and the
// COMMIT is next, or at the first of some system calls after that.
type moment struct {
	point int
	calls string
}

// killWriting kills a server while it places, releases and voids a hold. A month is settled
// before the request is sent again.
func (h *holders) killWriting(t *testing.T, p harness.Program, db string) {
	t.Helper()
	moments := []moment{{2, ""}, {1, ""}}
	if !harness.IsPostgres(db) {
		moments = append(moments, moment{2, "pwrite64"}, moment{2, "fdatasync,fsync"})
		needStrace(t)
	}
	for i, w := range h.writes(t, db) {
		for j, m := range moments {
			if rounds(0, 0, 1) > 0 || j == (2*len(moments)-1-i)%len(moments) || i == 0 && j == 0 {
				h.killAt(t, p, harness.CopyDatabase(t, db), w, m)
			}
		}
	}
}

func (h *holders) writes(t *testing.T, db string) []holdWrite {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	hotspots := audit.Lines(t, handle, `SELECT id FROM hotspots WHERE id NOT IN (SELECT hotspot FROM holds) ORDER BY id`)
	decide := func(hold int, action, state string) holdWrite {
		return holdWrite{action, func(s *harness.Server) harness.Answer {
			form := harness.Fields{"action": action, "reason": "as seen"}
			return h.staff[1].Do(t.Context(), http.MethodPost, fmt.Sprintf("%s/v1/holds/%s/decisions", s.URL, h.holds[hold]), form)
		}, fmt.Sprintf("%s,%s,%d,", h.holds[hold], state, len(h.holds))}
	}
	return []holdWrite{
		decide(0, "release", "released"), decide(1, "void", "voided"),
		{"place", func(s *harness.Server) harness.Answer {
			return h.staff[0].Do(t.Context(), http.MethodPost, s.URL+"/v1/holds", harness.Fields{
				"hotspot_id": hotspots[0][:len(hotspots[0])-1], "reason": "no radio", "evidence": "photo 7", "until": "2026-11-25T00:00:00Z",
			})
		}, fmt.Sprintf(",active,%d,", len(h.holds)+1)},
	}
}

func (h *holders) killAt(t *testing.T, p harness.Program, db string, w holdWrite, m moment) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	holds := func() string {
		return fmt.Sprint(audit.Lines(t, handle, `SELECT id, state, (SELECT count(*) FROM holds) FROM holds ORDER BY id`))
	}
	before := holds()
	stop := newStop(t, fmt.Sprint("hold ", m.point))
	s := harness.Program{Binary: controlled(t), Environment: stop.environment()}.Start(t, db, atTheTime...)
	answered := make(chan harness.Answer, 1)
	go func() { answered <- w.ask(s) }()
	harness.Eventually(t, "the hold is written", func() bool { s.Running(t); return stop.reached() })
	if m.calls != "" {
		harness.KillAt(t, s, m.calls, 1)
		stop.release(t)
		<-s.Exited
	} else {
		s.Kill()
	}
	if a := <-answered; a.Outcome() != harness.Unknown {
		t.Errorf("%s, killed at %v, was answered %d %s", w.name, m, a.Status, a.Code)
	}
	if !harness.IsPostgres(db) {
		harness.CheckIntegrity(t, db)
	}
	if is := holds(); m.calls == "" && is != before {
		t.Errorf("%s, killed at %v before the COMMIT, made %s of %s", w.name, m, is, before)
	}
	settleNow(t, db)
	s = p.Start(t, db, atTheTime...)
	if a := w.ask(s); a.Status != http.StatusOK && a.Status != http.StatusCreated && a.Status != http.StatusConflict {
		t.Errorf("%s, sent again after a kill at %v, was answered %d %s", w.name, m, a.Status, a.Code)
	}
	if is := holds(); !strings.Contains(is, w.is) {
		t.Errorf("after %s, killed at %v and sent again, the holds are %s; want %s", w.name, m, is, w.is)
	}
	audit.SettledOnce(t, db, "2026-10", atTheTime...)
	audit.Audit(t, handle)
	audit.CompareHeld(t, h.staff[0], s, handle, audit.Users(t, handle, 100)...)
	s.Stop(t)
}
