//go:build linux

package torture_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/rig/books"
)

// TestF11_SettleRace lets two to eight processes settle the same month at the
// same time, beside a server, and kills some of them, anywhere. Whatever
// happened, everyone has one statement in the end, what accounts say is the sum
// of statements, and to settle once more changes nothing (I5, I6).
func TestF11_SettleRace(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		staff := closedOctober(t, db)
		for i := range rounds(3, 3, 30) {
			round := settleRound{racers: 2 + i*3%7, deadline: []string{"hotspot_totals", "", "statements"}[i%3], due: i%7 == 1}
			round.run(t, staff, rig.CopyDatabase(t, db))
			if t.Failed() {
				t.Fatalf("in round %d: %+v", i, round)
			}
		}
	})
}

// closedOctober makes a database of many hotspots with two days of October, which
// are closed.
func closedOctober(t *testing.T, db string) (staff *rig.Client) {
	t.Helper()
	last := books.DayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
	staff, _ = books.PrepareMany(t, db, last-1, last)
	books.CloseAll(t, db, last)
	return staff
}

// atTheTime is a day after the end of October.
var atTheTime = []string{"--clock-start", "2026-11-02T00:00:00Z"}

func settleCommand(db string) []string {
	return append([]string{"rewards", "settle", "--month", "2026-10", "--force", "--db", db}, atTheTime...)
}

// settleRound races some processes. All of them are killed as soon as there is
// anything in a table, or half of them at random.
type settleRound struct {
	racers   int
	deadline string
	due      bool // the server settles the month as well
}

func (r settleRound) run(t *testing.T, staff *rig.Client, db string) {
	t.Helper()
	flags := atTheTime
	if r.due {
		flags = []string{"--clock-start", "2026-11-04T00:00:00Z", "--clock-rate", "1200"}
	}
	s := rig.Start(t, db, flags...)
	handle := rig.OpenSQL(t, db)
	users := books.Users(t, handle, books.Many.Users)
	var racing sync.WaitGroup
	killed := make(chan bool, r.racers)
	barrier, deadline, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	for i := range r.racers {
		racing.Go(func() {
			<-barrier
			killed <- raceToSettle(t, db, r.doom(i, deadline))
		})
	}
	var looking sync.WaitGroup
	looking.Go(func() { lookAtMany(t, staff, s, users, over) })
	close(barrier)
	if r.deadline != "" {
		rig.Eventually(t, "they have begun", func() bool { return books.Number(t, handle, `SELECT count(*) FROM `+r.deadline) > 0 })
		close(deadline)
	}
	racing.Wait()
	close(over)
	looking.Wait()
	close(killed)
	dead := 0
	for k := range killed {
		if k {
			dead++
		}
	}
	left := int(books.Number(t, handle, `SELECT count(*) FROM accounts`) - books.Number(t, handle, `SELECT count(*) FROM statements`))
	rig.Command(t, settleCommand(db)...)
	books.SaveStatement(t, staff, s, users[rand.IntN(len(users))], "2026-10")
	books.Compare(t, staff, s, handle, books.Users(t, handle, 3)...)
	s.Stop(t)
	checkSettled(t, db)
	t.Logf("%d of %d racers were killed; they left %d statements to write", dead, r.racers, left)
}

// doom decides when a racer is killed; nil: never.
func (r settleRound) doom(racer int, deadline chan struct{}) <-chan struct{} {
	if r.deadline != "" {
		return deadline
	}
	if racer%2 == 0 {
		return nil
	}
	doom := make(chan struct{})
	time.AfterFunc(rand.N(500*time.Millisecond), func() { close(doom) })
	return doom
}

// raceToSettle runs one process, and kills it when its doom has come.
func raceToSettle(t *testing.T, db string, doom <-chan struct{}) (killed bool) {
	var said bytes.Buffer
	cmd := exec.Command(rig.Binary, settleCommand(db)...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return false
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-doom:
		_ = cmd.Process.Kill()
		err = <-ended
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Errorf("a racer failed: %v %s", err, said.String())
	}
	return false
}

// lookAtMany asks what some users earned while they are settled: the sums hold
// in every answer, and what is settled never becomes less.
func lookAtMany(t *testing.T, staff *rig.Client, s *rig.Server, users []string, over <-chan struct{}) {
	settled, totals := map[string]books.Micros{}, map[string]books.Micros{}
	for {
		for range 8 {
			user := users[rand.IntN(len(users))]
			for _, period := range []string{"last", "all"} {
				got, _, ok := books.Fetch[books.Summary](t, staff, fmt.Sprintf("%s/v1/users/%s/rewards?period=%s", s.URL, user, period))
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
	rig.Command(t, settleCommand(db)...)
	books.SettledOnce(t, db, "2026-10", atTheTime...)
	handle := rig.OpenSQL(t, db)
	defer handle.Close()
	if rows, statements := books.Audit(t, handle); statements < books.Many.Users || rows < 2*books.Many.Hotspots {
		t.Errorf("%d rows and %d statements; want %d and %d", rows, statements, 2*books.Many.Hotspots, books.Many.Users)
	}
}
