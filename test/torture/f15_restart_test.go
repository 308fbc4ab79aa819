//go:build linux

package torture_test

import (
	"database/sql"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
)

// TestF15_Restart ends a server again and again, in an orderly way and in the
// hardest, where it stands in the middle of closing a day or of settling a month.
// Each time another goes on where that one was. In the end the books are those of a
// server that nobody disturbed, and everything in them adds up.
func TestF15_Restart(t *testing.T) { harness.Stores(t, testRestart) }

// These are what a server can be doing, as the tables show it.
const (
	waiting    = "waiting"
	closing    = "closing a day"
	adding     = "adding up a month"
	statements = "writing statements"
)

// end is where and how a server is ended. The days before it are over.
type end struct {
	day   audit.Day
	point string // in the middle of a transaction
	sig   syscall.Signal
	doing string // what the tables show then: what was committed before
}

// ends are those of two days of October. A day is closed in three transactions; then
// the totals of the month are written in three, and the statements in two. How far a
// server comes that ends in an orderly way is its own business: what follows does not
// depend on it.
func ends() []end {
	october, november := lastOfOctober+1, lastOfOctober+4
	days := []end{
		{october - 1, "hotspot_months 1", syscall.SIGKILL, waiting},
		{october - 1, "ledger 2", syscall.SIGKILL, closing},
	}
	month := []end{
		{november, "hotspot_totals 2", syscall.SIGKILL, adding},
		{november, "statements 1", syscall.SIGKILL, adding},
	}
	last := end{november, "statements 2", syscall.SIGTERM, statements}
	if rounds(0, 1, 1) > 0 {
		days = append(days, end{october - 1, "user_months 1", syscall.SIGKILL, closing}, end{october - 1, "accounts 1", syscall.SIGKILL, closing})
		month = append(month, end{november, "hotspot_totals 3", syscall.SIGKILL, adding}, end{november, "statements 2", syscall.SIGKILL, statements})
		last.point = "statements 1" // of those that are left
	}
	days = append(days, end{october, "ledger 2", syscall.SIGTERM, closing}) // the last page of the day before
	return append(append(days, month...), last)
}

func testRestart(t *testing.T, db string) {
	days := []audit.Day{lastOfOctober - 1, lastOfOctober}
	p := harness.Program{Binary: controlled(t)}
	staff, devices := audit.Prepare(t, harness.NewHeldClock(t, days[0].Time().Add(12*time.Hour)), db, audit.Many, days...)
	quiet := harness.CopyDatabase(t, db)
	r := &restarts{db: db, tables: harness.OpenSQL(t, db), staff: staff, settled: map[string]audit.Micros{}, totals: map[string]audit.Micros{}}
	for _, e := range ends() {
		r.run(t, e, devices)
		if t.Failed() {
			t.Fatalf("after a server was ended: %+v", e)
		}
	}
	clock := harness.NewClock((lastOfOctober + 4).Time().Add(10*time.Minute), 1200)
	s := p.Start(t, db, clock.Flags()...)
	harness.Eventually(t, "october is settled", func() bool {
		s.Running(t)
		return audit.Number(t, r.tables, `SELECT count(*) FROM reward_months`) > 0
	})
	s.Stop(t)
	rows, statements := audit.Audit(t, r.tables)
	if rows < len(days)*audit.Many.Hotspots || statements < audit.Many.Users {
		t.Errorf("%d rows and %d statements; want %d and %d", rows, statements, len(days)*audit.Many.Hotspots, audit.Many.Users)
	}
	audit.CloseAll(t, p, quiet, lastOfOctober)
	if diff := cmp.Diff(copiedRows(t, harness.OpenSQL(t, quiet)), copiedRows(t, r.tables)); diff != "" {
		t.Errorf("the rows are not those of a server that nobody disturbed (-quiet +disturbed): %.2000s", diff)
	}
}

// copiedRows are the rows of hotspots whose records do not depend on when a
// server was up.
func copiedRows(t testing.TB, db *sql.DB) []string {
	return audit.Sorted(audit.Lines(t, db, `SELECT * FROM ledger WHERE hotspot IN (SELECT id FROM hotspots WHERE deleted_at <> 0)`))
}

// restarts is a server that is ended again and again.
type restarts struct {
	db     string
	tables *sql.DB
	staff  *harness.Client

	settled, totals map[string]audit.Micros // the most that was seen of each user
}

// run starts a server, and ends it at a point.
func (r *restarts) run(t *testing.T, e end, devices []*harness.Device) {
	t.Helper()
	sealed := audit.Sealed(t, r.tables)
	at := newStop(t, e.point)
	clock := harness.NewClock(e.day.Time().Add(10*time.Minute), 1200)
	s := harness.Program{Binary: controlled(t), Environment: at.environment()}.Start(t, r.db, clock.Flags()...)
	r.look(t, s)
	for _, d := range devices {
		if a := d.Beat(t.Context(), r.staff, s); a.Status != 200 {
			t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
	}
	harness.Eventually(t, "the server is at "+e.point, func() bool {
		s.Running(t)
		if strings.Contains(s.Log(t), "the closing of days is not at the start of this page") {
			t.Fatalf("the server cannot go on where another was ended: %s", harness.Remarks(s.Log(t)))
		}
		return at.reached()
	})
	if doing := r.doing(t); doing != e.doing {
		t.Errorf("at %s the server is %s by the tables; want %s", e.point, doing, e.doing)
	}
	s.Signal(t, e.sig)
	if e.sig == syscall.SIGTERM { // its transaction is committed once it knows that it has to end
		harness.Eventually(t, "the server takes no more requests", func() bool {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err == nil {
				conn.Close()
			}
			return err != nil
		})
		at.release(t)
	}
	select {
	case <-s.Exited:
	case <-time.After(harness.Patience):
		t.Fatalf("the server is still there after %v", e.sig)
	}
	if code := s.Cmd.ProcessState.ExitCode(); e.sig == syscall.SIGTERM && code != 0 {
		t.Errorf("after SIGTERM the server exited with %d: %s", code, harness.Remarks(s.Log(t)))
	}
	audit.FreeLease(t, r.db)
	audit.StillSealed(t, sealed, audit.Sealed(t, r.tables))
}

// doing tells what is committed of what is not finished.
func (r *restarts) doing(t *testing.T) string {
	t.Helper()
	count := func(of string) int64 { return audit.Number(t, r.tables, `SELECT count(*) FROM `+of) }
	switch finished := count(`reward_months`) > 0; {
	case count(`reward_days WHERE closed_at = 0`) > 0:
		return closing
	case !finished && count(`statements`) > 0:
		return statements
	case !finished && count(`hotspot_totals`) > 0:
		return adding
	}
	return waiting
}

// look asks what some users earned: it adds up, and never becomes less.
func (r *restarts) look(t *testing.T, s *harness.Server) {
	t.Helper()
	for _, user := range audit.Users(t, r.tables, 5) {
		got, _, ok := audit.Fetch[audit.Summary](t, r.staff, s.URL+"/v1/users/"+user+"/rewards?period=all")
		if problem := got.Problem(); ok && problem != "" {
			t.Errorf("%s: %s", user, problem)
		}
		if sum := got.Summary; sum.Settled < r.settled[user] || sum.TotalEarned < r.totals[user] {
			t.Errorf("%s had %d, %d of it settled; now it is %+v", user, r.totals[user], r.settled[user], sum)
		}
		r.settled[user], r.totals[user] = got.Summary.Settled, got.Summary.TotalEarned
	}
}
