//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF01_Erasure kills (-9) a server before a write of an erasure, and on SQLite also
// when it is about to write or to sync what the COMMIT writes. Before the first, nothing is
// erased. Then the next server completes what was begun: nothing says who the user was, and
// the books are as they were (I5, I6).
func TestF01_Erasure(t *testing.T) {
	level.Needs(t, level.Check)
	harness.Stores(t, func(t *testing.T, db string) {
		last := audit.DayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
		p := harness.Program{Binary: controlled(t)}
		user, _ := audit.Prepare(t, harness.NewHeldClock(t, (last-1).Time().Add(12*time.Hour)), db, audit.Few, last-1, last)
		audit.CloseAll(t, p, db, last)
		settleNow(t, db)
		e := &erased{staff: harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)}
		s := p.Start(t, db, atTheTime...)
		me, _, _ := audit.Fetch[struct {
			UserID string `json:"user_id"`
		}](t, user, s.URL+"/v1/keys/self")
		e.user = me.UserID
		e.books, _ = audit.SaveStatement(t, e.staff, s, e.user, "2026-10")
		user.Ask(t, http.MethodPost, s.URL+"/v1/users/me/erasure", nil)
		s.Stop(t)
		if len(e.books.Rows) == 0 || len(e.left(t, db)) == 0 {
			t.Fatalf("there is nothing to erase: %+v", e.books)
		}
		// Begun, two of the key, two of each of three hotspots, one of the rest, the notes,
		// cleared; then without the deletions, and erased.
		points := []int{1, 5, 12}
		if rounds(0, 0, 1) > 0 {
			points = points[:0]
			for n := range 20 {
				points = append(points, n+1)
			}
		}
		for _, n := range points {
			e.kill(t, harness.CopyDatabase(t, db), n, "")
		}
		if harness.IsPostgres(db) {
			return
		}
		t.Run("calls", func(t *testing.T) {
			needStrace(t)
			for i, calls := range []string{"pwrite64", "fdatasync,fsync"} {
				e.kill(t, harness.CopyDatabase(t, db), 4+2*i, calls)
			}
		})
	})
}

// erased is a user who asked to be erased.
type erased struct {
	staff *harness.Client
	user  string
	books audit.Statement
}

// The wish is due, and the month of the deletion is settled.
var (
	whenDue     = time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC)
	whenSettled = time.Date(2027, 1, 5, 12, 0, 0, 0, time.UTC)
)

const clearedBefore = 13 // the point at which the second part begins

// kill kills the server before a write of the erasure or, if calls are named, at the first
// of these system calls after that.
func (e *erased) kill(t *testing.T, db string, n int, calls string) {
	t.Helper()
	where := fmt.Sprintf("%d %s", n, calls)
	at := whenDue
	if n >= clearedBefore {
		e.goOn(t, db, whenDue, "cleared")
		n, at = n-clearedBefore+1, whenSettled
	}
	audit.ConfirmDate(t, db, at)
	stop := newStop(t, fmt.Sprint("erasure ", n))
	s := harness.Program{Binary: controlled(t), Environment: stop.environment()}.Start(t, db, clockAt(at)...)
	harness.Eventually(t, "the erasure is at write "+where, func() bool { s.Running(t); return stop.reached() })
	if calls != "" {
		harness.KillAt(t, s, calls, 1)
		stop.release(t)
		<-s.Exited
	} else {
		s.Kill()
	}
	if !harness.IsPostgres(db) {
		harness.CheckIntegrity(t, db)
	}
	if left := e.left(t, db); n == 1 && at == whenDue && calls == "" && len(left) != len(e.all(t, db)) {
		t.Errorf("before the erasure has begun, there is only %v", left)
	}
	e.goOn(t, db, whenDue, "cleared")
	e.goOn(t, db, whenSettled, "erased")
	if left := e.left(t, db); len(left) > 0 {
		t.Errorf("killed at write %s, there is still %v", where, left)
	}
}

// goOn lets a server go on until the erasure is so far, and looks at the books.
func (e *erased) goOn(t *testing.T, db string, at time.Time, until string) {
	t.Helper()
	audit.FreeLease(t, db)
	audit.ConfirmDate(t, db, at)
	s := harness.Program{Binary: controlled(t)}.Start(t, db, clockAt(at)...)
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	harness.Eventually(t, "the user is "+until, func() bool {
		s.Running(t)
		return audit.Number(t, handle, `SELECT count(*) FROM erasures WHERE `+until+` <> 0`) == 1
	})
	if books, ok := audit.SaveStatement(t, e.staff, s, e.user, "2026-10"); !ok || fmt.Sprint(books) != fmt.Sprint(e.books) {
		t.Errorf("the books were\n%+v\nand are\n%+v", e.books, books)
	}
	s.Stop(t)
	audit.Audit(t, handle)
}

// all returns the hotspots of the user.
func (e *erased) all(t *testing.T, db string) []string {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	return audit.Lines(t, handle, `SELECT id FROM hotspots WHERE operator_id = '`+e.user+`'`)
}

// left returns those that still say something.
func (e *erased) left(t *testing.T, db string) (left []string) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	for _, line := range audit.Lines(t, handle, `SELECT id, name, ssid, mac, lat, lng, deleted_at FROM hotspots WHERE operator_id = '`+e.user+`'`) {
		if !strings.Contains(line, ",Erased,Erased,00:00:00:00:00:00,0,0,") {
			left = append(left, line)
		}
	}
	return left
}

// clockAt returns the flags of a clock by which days are closed, and months settled, soon.
func clockAt(at time.Time) []string { return harness.NewClock(at, 600).Flags() }
