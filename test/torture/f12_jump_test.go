//go:build linux

package torture_test

import (
	"database/sql"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF12_ClockJumps starts a server whose clock is an hour or forty days off, ahead
// or back, and back across the end of a month. What is closed stays, what is
// settled stays and never becomes less, every answer adds up, and none is an
// error.
func TestF12_ClockJumps(t *testing.T) { harness.Stores(t, testClockJumps) }

func testClockJumps(t *testing.T, db string) {
	staff := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	o := audit.NewOperator(t, db)
	j := &jumper{db: db, tables: harness.OpenSQL(t, db), Onlooker: audit.NewOnlooker(o), staff: staff}
	clock := func(text string) time.Time {
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	j.jump(t, clock("2026-10-31 21:00:00"), "") // hotspots are linked here
	j.jump(t, clock("2026-11-01 00:04:00"), "2026-10-31")
	j.jump(t, clock("2026-10-31 23:04:00"), "2026-10-31") // an hour back, across the end of a month
	j.jump(t, clock("2026-11-01 00:30:00"), "2026-10-31") // an hour ahead
	j.jump(t, clock("2026-12-10 00:30:00"), "2026-12-09") // forty days ahead: two months are due
	through := audit.Day(audit.Number(t, j.tables, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`))
	if n := audit.Number(t, j.tables, `SELECT count(*) FROM reward_months`); n != 2 {
		t.Errorf("%d months are settled; want 2", n)
	}
	before := audit.Fingerprint(t, j.tables)
	random := rand.New(rand.NewPCG(level.Seed(t), 12))
	for _, at := range []string{"2026-10-31 23:40:00", "2026-12-01 00:30:00", "2026-11-30 23:50:00", "2026-12-09 23:30:00"}[:rounds(1, 4, 4)] {
		back := clock(at).Add(-time.Duration(random.Int64N(int64(time.Hour))))
		j.jump(t, back, through.String())
		if audit.Fingerprint(t, j.tables) != before {
			t.Errorf("the books changed when the clock was set back to %v", back)
		}
	}
	goesOn := through + 1
	j.jump(t, clock((goesOn+1).String()+" 00:02:00"), goesOn.String())
	if rows, statements := audit.Audit(t, j.tables); rows < 4 || statements < 2 {
		t.Errorf("the books have %d rows and %d statements", rows, statements)
	}
}

// jumper is a server that is started with one clock after the other.
type jumper struct {
	db     string
	tables *sql.DB
	*audit.Onlooker
	staff *harness.Client

	latest           time.Time
	renamed          int
	updated          string   // when a hotspot was last changed, as was answered
	rows, statements []string // as they were once
}

// jumpRate is how fast the clock runs in between: twenty minutes in a second. A
// server that was away for a day waits for an hour first, and for eight after some days.
const jumpRate = 1200

// jump starts the server at a time, waits until it has done what there is to do
// and a day is closed, and looks at everything.
func (j *jumper) jump(t *testing.T, at time.Time, closed string) {
	t.Helper()
	if !j.latest.IsZero() && at.Sub(j.latest) > 4*day {
		audit.ConfirmDate(t, j.db, at)
	}
	clock := harness.NewClock(at, jumpRate)
	j.Behind = at.Before(j.latest)
	s := harness.Start(t, j.db, clock.Flags()...)
	for len(j.Hotspots) < 2 {
		j.Link(t, j.staff, s, len(j.Hotspots), nil)
	}
	// It believes its clock after ten minutes, and looks every second.
	enough := at.Add(1500 * time.Millisecond * jumpRate)
	harness.Eventually(t, closed+" is closed, and the server had its time", func() bool {
		s.Running(t)
		j.beatAndLook(t, s)
		day := audit.Number(t, j.tables, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`)
		due := audit.Number(t, j.tables, `SELECT count(*) FROM user_months WHERE month < 683 AND month NOT IN (SELECT month FROM reward_months)`)
		return t.Failed() || clock.Now().After(enough) && (closed == "" || audit.Day(day).String() >= closed) && (at.Month() != time.December || due == 0)
	})
	if now := clock.Now(); now.After(j.latest) {
		j.latest = now
	}
	j.checkKept(t)
	j.checkClosed(t, s)
	s.Stop(t)
	if t.Failed() {
		t.Fatalf("after the clock was set to %v", at)
	}
}

func (j *jumper) beatAndLook(t *testing.T, s *harness.Server) {
	for _, h := range j.Hotspots {
		if a := h.Beat(t.Context(), j.staff, s); a.Status != http.StatusOK {
			t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		if _, ok := h.Explain(t, j.Client, s, ""); !ok {
			return
		}
	}
	j.Look(t, s)
}

// checkKept wants all rows and statements that there were once.
func (j *jumper) checkKept(t *testing.T) {
	t.Helper()
	rows := audit.Sorted(audit.Lines(t, j.tables, `SELECT * FROM ledger`))
	statements := audit.Sorted(audit.Lines(t, j.tables, `SELECT * FROM statements`))
	for _, lists := range [][2][]string{{j.rows, rows}, {j.statements, statements}} {
		for _, line := range lists[0] {
			if _, there := slices.BinarySearch(lists[1], line); !there {
				t.Errorf("this is not there any more: %s", line)
			}
		}
	}
	j.rows, j.statements = rows, statements
}

// checkClosed compares what was earned with the books, when the clock says that
// there is no open day.
func (j *jumper) checkClosed(t *testing.T, s *harness.Server) {
	t.Helper()
	all, a, ok := audit.Fetch[audit.Summary](t, j.Client, s.URL+"/v1/users/me/rewards?period=all")
	if !ok || int64(audit.DayOf(a.At)) > audit.Number(t, j.tables, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`) {
		return
	}
	closed := audit.Micros(audit.Number(t, j.tables, `SELECT CAST(sum(availability + performance + utilization) AS bigint) FROM user_months WHERE user_id = $1`, j.UserID))
	if settled := audit.Number(t, j.tables, `SELECT availability + performance + utilization FROM accounts WHERE user_id = $1`, j.UserID); all.Summary.TotalEarned != closed ||
		all.Summary.Settled != audit.Micros(settled) {
		t.Errorf("at %v all is %+v; closed is %d, and settled %d", a.At, all.Summary, closed, settled)
	}
}
