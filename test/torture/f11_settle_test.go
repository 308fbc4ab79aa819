//go:build linux

package torture_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestF11_SettleRace lets two to eight processes settle the same month at the same
// time, beside a server that may do so too. Each computes the same page of statements
// before any of them writes it, and half of them are killed at that moment. Whatever
// happened, everyone has one statement in the end, what accounts say is the sum of
// statements, and to settle once more changes nothing (I5, I6).
func TestF11_SettleRace(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		random := rand.New(rand.NewPCG(level.Seed(t), 11))
		staff := closedOctober(t, db)
		for i := range rounds(1, 5, 30) {
			round := settleRound{racers: 3 + i*3%6, point: []string{"ready 1", "ready 2"}[i%2], due: i%4 == 1, later: i%3 == 2}
			round.run(t, random, staff, harness.CopyDatabase(t, db))
			if t.Failed() {
				t.Fatalf("in round %d: %+v", i, round)
			}
		}
	})
}

// closedOctober makes a database of many hotspots with two days of October, which
// are closed.
func closedOctober(t *testing.T, db string) (staff *harness.Client) {
	t.Helper()
	last := audit.DayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
	p := harness.Program{Binary: controlled(t)}
	staff, _ = audit.Prepare(t, harness.NewHeldClock(t, (last-1).Time().Add(12*time.Hour)), db, audit.Many, last-1, last)
	audit.CloseAll(t, p, db, last)
	return staff
}

// atTheTime is a day after the end of October.
var atTheTime = []string{"--clock-start", "2026-11-02T00:00:00Z"}

func settleCommand(t *testing.T, db string) []string {
	if harness.IsPostgres(db) {
		db = storetest.Patient(t, db) // racers wait for each other's locks
	}
	return append([]string{"rewards", "settle", "--month", "2026-10", "--force", "--db", db}, atTheTime...)
}

// settleNow settles, and returns what that says.
func settleNow(t *testing.T, db string) string {
	t.Helper()
	return harness.Program{Binary: controlled(t)}.Command(t, settleCommand(t, db)...)
}

// settleRound races some processes.
type settleRound struct {
	racers int
	point  string // where they wait for each other
	due    bool   // the server settles the month as well
	later  bool   // some are killed at any moment after that, not at it
}

func (r settleRound) run(t *testing.T, random *rand.Rand, staff *harness.Client, db string) {
	t.Helper()
	flags := atTheTime
	if r.due {
		flags = []string{"--clock-start", "2026-11-04T00:00:00Z", "--clock-rate", "1200"}
	}
	serverStop := newStop(t, r.point)
	s := harness.Program{Binary: controlled(t), Environment: serverStop.environment()}.Start(t, db, flags...)
	handle := harness.OpenSQL(t, db)
	users := audit.Users(t, handle, audit.Many.Users)
	over := make(chan struct{})
	var looking sync.WaitGroup
	ofLooker := rand.New(rand.NewPCG(random.Uint64(), 0))
	looking.Go(func() { lookAtMany(t, ofLooker, staff, s, users, over) })
	racers := make([]*racer, r.racers)
	for i := range racers {
		racers[i] = startRacer(t, db, r.point)
	}
	harness.Eventually(t, "all are at "+r.point, func() bool {
		s.Running(t)
		for _, racer := range racers {
			if !racer.waits(t) {
				return false
			}
		}
		return !r.due || serverStop.reached()
	})
	if r.due {
		serverStop.release(t)
	}
	dead := 0
	for i, racer := range racers {
		switch {
		case i%2 == 0:
			racer.release(t)
		case r.later:
			racer.release(t)
			time.AfterFunc(time.Duration(random.Int64N(int64(200*time.Millisecond))), func() { _ = racer.Process.Kill() })
		default:
			_ = racer.Process.Kill()
		}
	}
	for i, racer := range racers {
		if racer.wasKilled(t) {
			dead++
		} else if i%2 == 1 && !r.later {
			t.Errorf("racer %d was not killed", i)
		}
	}
	close(over)
	looking.Wait()
	left := int(audit.Number(t, handle, `SELECT count(*) FROM accounts`) - audit.Number(t, handle, `SELECT count(*) FROM statements`))
	settleNow(t, db)
	audit.SaveStatement(t, staff, s, users[random.IntN(len(users))], "2026-10")
	audit.Compare(t, staff, s, handle, audit.Users(t, handle, 3)...)
	s.Stop(t)
	checkSettled(t, db)
	t.Logf("%d of %d racers were killed; they left %d statements to write", dead, r.racers, left)
}

// racer is a process that settles.
type racer struct {
	*exec.Cmd
	stop
	said  *bytes.Buffer
	ended chan error
}

func startRacer(t *testing.T, db, point string) *racer {
	t.Helper()
	return race(t, point, settleCommand(t, db))
}

// race starts a command that stops at a point.
func race(t *testing.T, point string, command []string) *racer {
	t.Helper()
	r := &racer{exec.Command(controlled(t), command...), newStop(t, point), &bytes.Buffer{}, make(chan error, 1)}
	r.Env = append(os.Environ(), r.environment()...)
	r.Stdout, r.Stderr = r.said, r.said
	r.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.Wait() }()
	t.Cleanup(func() { _ = r.Process.Kill() })
	return r
}

// waits reports whether the process has come to its point. It must not end before.
func (r *racer) waits(t *testing.T) bool {
	t.Helper()
	if len(r.ended) > 0 && !r.reached() {
		t.Fatalf("a command ended before it came to %s: %v %s", r.point, <-r.ended, r.said)
	}
	return r.reached()
}

// wasKilled waits for the end of the process. One that was not killed must have
// settled.
func (r *racer) wasKilled(t *testing.T) bool {
	t.Helper()
	err := <-r.ended
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Errorf("a racer failed: %v %s", err, r.said)
	}
	return false
}

// lookAtMany asks what some users earned while they are settled: the sums hold
// in every answer, and what is settled never becomes less.
func lookAtMany(t *testing.T, random *rand.Rand, staff *harness.Client, s *harness.Server, users []string, over <-chan struct{}) {
	settled, totals := map[string]audit.Micros{}, map[string]audit.Micros{}
	for {
		for range 8 {
			user := users[random.IntN(len(users))]
			for _, period := range []string{"last", "all"} {
				got, _, ok := audit.Fetch[audit.Summary](t, staff, fmt.Sprintf("%s/v1/users/%s/rewards?period=%s", s.URL, user, period))
				if !ok {
					return
				}
				if problem := got.Problem(); problem != "" {
					t.Errorf("%s of %s: %s", period, user, problem)
				}
				if was, known := totals[period+user]; known && was != got.Summary.TotalEarned || got.Summary.Settled < settled[user] {
					t.Errorf("%s of %s was %d, %d of it settled; now it is %+v", period, user, was, settled[user], got.Summary)
				}
				totals[period+user], settled[user] = got.Summary.TotalEarned, got.Summary.Settled
			}
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// checkSettled settles until there is nothing to do, and then once more.
func checkSettled(t *testing.T, db string) {
	t.Helper()
	settleNow(t, db)
	audit.SettledOnce(t, db, "2026-10", atTheTime...)
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	if rows, statements := audit.Audit(t, handle); statements < audit.Many.Users || rows < 2*audit.Many.Hotspots {
		t.Errorf("%d rows and %d statements; want %d and %d", rows, statements, 2*audit.Many.Hotspots, audit.Many.Users)
	}
}
