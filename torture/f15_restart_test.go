//go:build linux

package torture_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/rig/books"
)

// TestF15_Restart ends a server again and again, in an orderly way and in
// the hardest, while it closes days and settles a month. Each time another goes
// on where that one was. In the end the books are those of a server that nobody
// disturbed, and everything in them adds up.
func TestF15_Restart(t *testing.T) { rig.Stores(t, testRestart) }

func testRestart(t *testing.T, db string) {
	runs := rounds(10, 10, 60)
	last := books.DayOf(time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC))
	first := last - books.Day(runs) + 1
	var days []books.Day
	for day := first; day <= last; day++ {
		days = append(days, day)
	}
	staff, devices := books.PrepareMany(t, db, days...)
	quiet := rig.CopyDatabase(t, db)
	r := &restarts{db: db, tables: rig.OpenSQL(t, db), staff: staff, settled: map[string]books.Micros{}, totals: map[string]books.Micros{}, ends: map[string]int{}}
	for i, day := range days {
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[i%2]
		if rig.IsPostgres(db) {
			sig = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2]
		}
		// The day before is over, and was closed unless the server was ended too soon.
		r.run(t, (day + 1).Time().Add(10*time.Minute), devices, sig, i)
	}
	t.Logf("ended %v", r.ends)
	settling := r.ends["adding up a month by killed"] + r.ends["writing statements by killed"]
	if r.ends["closing a day by killed"] == 0 || r.ends["closing a day by terminated"] == 0 || settling == 0 {
		t.Error("no server was ended in the middle of something")
	}
	books.CloseAll(t, db, last)
	rows, statements := books.Audit(t, r.tables)
	if rows < runs*books.Many.Hotspots || statements < books.Many.Users {
		t.Errorf("%d rows and %d statements; want %d and %d", rows, statements, runs*books.Many.Hotspots, books.Many.Users)
	}
	books.CloseAll(t, quiet, last)
	if diff := cmp.Diff(copiedRows(t, rig.OpenSQL(t, quiet)), copiedRows(t, r.tables)); diff != "" {
		t.Errorf("the rows are not those of a server that nobody disturbed (-quiet +disturbed): %.2000s", diff)
	}
}

// copiedRows are the rows of hotspots whose records do not depend on when a
// server was up.
func copiedRows(t testing.TB, db *sql.DB) []string {
	return books.Sorted(books.Lines(t, db, `SELECT * FROM ledger WHERE hotspot IN (SELECT id FROM hotspots WHERE deleted_at <> 0)`))
}

// restarts is a server that is ended again and again.
type restarts struct {
	db     string
	tables *sql.DB
	staff  *rig.Client
	month  books.Month // that is settled, or may be

	settled, totals map[string]books.Micros // the most that was seen of each user
	ends            map[string]int          // how often the server was ended while it did what
}

// run starts a server, ends it at some point, and notes what it was doing.
func (r *restarts) run(t *testing.T, at time.Time, devices []*rig.Device, sig syscall.Signal, n int) {
	t.Helper()
	sealed := books.Sealed(t, r.tables)
	clock := rig.NewClock(at, 1200)
	s := rig.Start(t, r.db, clock.Flags()...)
	r.look(t, s)
	for _, d := range devices {
		if a := d.Beat(t.Context(), r.staff, s); a.Status != 200 {
			t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
	}
	if settling := r.awaitPoint(t, s, at, n); settling { // an orderly end would see to the rest of it
		sig = syscall.SIGKILL
	}
	s.Signal(t, sig)
	if sig == syscall.SIGTERM {
		s.Signal(t, syscall.SIGCONT)
	}
	select {
	case <-s.Exited:
	case <-time.After(15 * time.Second):
		t.Fatalf("the server is still there after %v", sig)
	}
	if code := s.Cmd.ProcessState.ExitCode(); sig == syscall.SIGTERM && code != 0 {
		t.Errorf("after SIGTERM the server exited with %d: %s", code, rig.Remarks(s.Log(t)))
	}
	books.FreeLease(t, r.db)
	books.StillSealed(t, sealed, books.Sealed(t, r.tables))
	r.ends[r.doing(t)+" by "+sig.String()]++
}

// awaitPoint waits for the moment at which the server is to be ended: in the
// middle of a settlement or of a day, where it stands still, or at any moment.
func (r *restarts) awaitPoint(t *testing.T, s *rig.Server, at time.Time, n int) (settling bool) {
	t.Helper()
	count := func(of string) int64 { return books.Number(t, r.tables, `SELECT count(*) FROM `+of) }
	middle := `reward_days WHERE closed_at = 0 AND hotspots > 0`
	over := fmt.Sprintf(`reward_days WHERE closed_at <> 0 AND day = %d`, books.DayOf(at)-1)
	r.month = books.DayOf(at.Add(-72*time.Hour)).Month() - 1 // the last one whose time has come, if it has any rows
	due := count(`user_months`+r.ofMonth()) > 0 && count(`reward_months`+r.ofMonth()) == 0
	added := fmt.Sprintf(`hotspot_totals WHERE through = %d`, r.month)
	switch {
	case due && count(added) == 0:
		middle, over, settling = added, `reward_months`+r.ofMonth(), true
	case due && count(`statements`+r.ofMonth()) == 0:
		middle, over, settling = `statements`+r.ofMonth(), `reward_months`+r.ofMonth(), true
	case n%3 == 2:
		// The moment is meant to be an accident: what is being done then counts.
		time.Sleep(rand.N(1500 * time.Millisecond))
		return false
	}
	began := time.Now()
	rig.Eventually(t, "the server is at work", func() bool {
		s.Running(t)
		if time.Since(began) < 700*time.Millisecond { // it looks after a second, and need not be held up before
			return false
		}
		s.Freeze(t)
		if count(middle) > 0 || count(over) > 0 {
			return true
		}
		s.Signal(t, syscall.SIGCONT)
		return false
	})
	return settling
}

func (r *restarts) ofMonth() string { return fmt.Sprintf(" WHERE month = %d", r.month) }

// doing tells what was left undone.
func (r *restarts) doing(t *testing.T) string {
	t.Helper()
	count := func(of string) int64 { return books.Number(t, r.tables, `SELECT count(*) FROM `+of) }
	switch finished := count(`reward_months`+r.ofMonth()) > 0; {
	case count(`reward_days WHERE closed_at = 0`) > 0:
		return "closing a day"
	case !finished && count(`statements`+r.ofMonth()) > 0:
		return "writing statements"
	case !finished && count(fmt.Sprintf(`hotspot_totals WHERE through = %d`, r.month)) > 0:
		return "adding up a month"
	}
	return "waiting"
}

// look asks what some users earned: it adds up, and never becomes less.
func (r *restarts) look(t *testing.T, s *rig.Server) {
	t.Helper()
	for _, user := range books.Users(t, r.tables, 5) {
		got, _, ok := books.Fetch[books.Summary](t, r.staff, s.URL+"/v1/users/"+user+"/rewards?period=all")
		if problem := got.Problem(); ok && problem != "" {
			t.Errorf("%s: %s", user, problem)
		}
		if sum := got.Summary; sum.Settled < r.settled[user] || sum.TotalEarned < r.totals[user] {
			t.Errorf("%s had %d, %d of it settled; now it is %+v", user, r.totals[user], r.settled[user], sum)
		}
		r.settled[user], r.totals[user] = got.Summary.Settled, got.Summary.TotalEarned
	}
}
