//go:build linux

package endtoend_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestSettleRace lets many processes settle the same month at the same time,
// beside a server, and kills some of them, anywhere. Whatever happened, everyone
// has one statement in the end, what accounts say is the sum of statements, and
// to settle once more changes nothing.
func TestSettleRace(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		last := bookDayOf(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC))
		staff, _ := prepareMany(t, db, last-1, last)
		closeAll(t, db, last)
		for _, round := range []settleRound{
			{racers: 2, deadline: "hotspot_totals"}, {racers: 3}, {racers: 5, deadline: "statements"}, {racers: 8, due: true},
		} {
			round.run(t, staff, copyDatabase(t, db))
		}
		if !rig.IsPostgres(db) {
			settleAtSyncs(t, db)
		}
	})
}

// closeAll lets a server close all days up to one.
func closeAll(t *testing.T, db string, last bookDay) {
	t.Helper()
	clock := &simulatedClock{at: (last + 1).time().Add(10 * time.Minute), real: time.Now(), rate: 1200}
	s := rig.Start(t, db, clock.flags()...)
	handle := rig.OpenSQL(t, db)
	rig.Eventually(t, 30*time.Second, "all days are closed", func() bool {
		s.Running(t)
		return bookDay(number(t, handle, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`)) >= last
	})
	s.Stop(t, 10*time.Second)
	handle.Close()
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
	users := linesOf(t, handle, `SELECT DISTINCT operator_id FROM hotspots WHERE deleted_at <> 0`)
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
		rig.Eventually(t, 20*time.Second, "they have begun", func() bool { return number(t, handle, `SELECT count(*) FROM `+r.deadline) > 0 })
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
	left := int(number(t, handle, `SELECT count(*) FROM accounts`) - number(t, handle, `SELECT count(*) FROM statements`))
	rig.Command(t, settleCommand(db)...)
	saveStatement(t, staff, s, strings.TrimSuffix(users[rand.IntN(len(users))], ","), "2026-10")
	s.Stop(t, 10*time.Second)
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
	settled, totals := map[string]micros{}, map[string]micros{}
	for {
		for range 8 {
			user := strings.TrimSuffix(users[rand.IntN(len(users))], ",")
			for _, period := range []string{"last", "all"} {
				got, _, ok := fetch[rewardSummary](t, staff, fmt.Sprintf("%s/v1/users/%s/rewards?period=%s", s.URL, user, period))
				if !ok {
					return
				}
				if problem := got.problem(); problem != "" {
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

// checkSettled settles until there is nothing to do, and then once more: that
// changes nothing.
func checkSettled(t *testing.T, db string) {
	t.Helper()
	rig.Command(t, settleCommand(db)...)
	handle := rig.OpenSQL(t, db)
	before := fingerprint(t, handle)
	if said := rig.Command(t, settleCommand(db)...); !strings.Contains(said, "nothing to do") {
		t.Errorf("to settle once more says: %s", said)
	}
	if fingerprint(t, handle) != before {
		t.Error("to settle once more changed something")
	}
	if rows, statements := auditBooks(t, handle); statements < manyUsers || rows < 2*manyHotspots {
		t.Errorf("%d rows and %d statements; want %d and %d", rows, statements, 2*manyHotspots, manyUsers)
	}
}

// settleAtSyncs kills a settlement at its first sync of the file, at its second,
// and so on.
func settleAtSyncs(t *testing.T, db string) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Logf("NOT TESTED: a settlement that is killed at the very sync: %v", err)
		return
	}
	killed := 0
	for nth := 1; nth <= 4; nth++ {
		one := copyDatabase(t, db)
		args := append([]string{
			"-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "signal=none",
			"-e", fmt.Sprintf("inject=fdatasync,fsync:signal=SIGKILL:when=%d", nth), rig.Binary,
		}, settleCommand(one)...)
		cmd := exec.CommandContext(t.Context(), "strace", args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "not permitted") {
			t.Logf("NOT TESTED: a settlement that is killed at the very sync: %s", out)
			return
		}
		if err != nil {
			killed++
		}
		rig.CheckIntegrity(t, one)
		checkSettled(t, one)
	}
	t.Logf("%d settlements were killed at a sync", killed)
	if killed == 0 {
		t.Error("no settlement was killed at a sync")
	}
}
