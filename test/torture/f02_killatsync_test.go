//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestF02_KillAtSync kills a server at the very system call with which it writes
// to its file or syncs it, while a hotspot is registered, changed, or heard of, and
// while what was heard is folded into the records. The file is sound, and nothing
// that was acknowledged is lost.
func TestF02_KillAtSync(t *testing.T) {
	needStrace(t)
	t.Parallel() // it mostly waits
	db := harness.NewDatabase(t, "sqlite")
	s := harness.Start(t, db)
	load := newLoad(t, s)
	w := newWriter(t, load, s)
	warmUp(t, load, s)
	for _, k := range []kind{register, change, beat} {
		for _, writes := range load.moments() {
			w.kill(t, s, k, writes)
			s = harness.Start(t, db)
			load.check(t, s)
		}
	}
	clock := hurriedClock()
	s.Stop(t) // in order: the next one may fold at once, and need not wait until its right expires
	s = harness.Start(t, db, clock()...)
	for _, writes := range load.moments()[rounds(1, 0, 0):] {
		w.kill(t, s, fold, writes)
		s = harness.Start(t, db, clock()...)
		load.check(t, s)
	}
	for _, calls := range []string{harness.Syncs, harness.Writes} { // and at any of them, while many write
		for range rounds(0, 4, 24) {
			killUnderLoad(t, load, s, calls, 1+load.rng.IntN(60))
			harness.CheckIntegrity(t, db)
			s = harness.Start(t, db, clock()...)
			load.check(t, s)
		}
	}
	load.checkAll(t, s)
}

// needStrace skips a test where there is none.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("NOT TESTED: what happens at single system calls: %v; make torture installs strace where it may", err)
	}
}

// hurry is how much faster than ours a hurried clock runs: what is done every few
// minutes is then done every second.
const hurry = 300

// hurriedClock gives the flags of such a clock, which goes on from one start to
// the next.
func hurriedClock() (flags func() []string) { return harness.NewClock(time.Now().UTC(), hurry).Flags }

// warmUp makes sure that there is something to lose, of every kind.
func warmUp(t *testing.T, load *load, s *harness.Server) {
	t.Helper()
	running := load.on(t, s)
	running.until(150)
	running.stop()
	load.check(t, s)
}

// atSync is the moment when a transaction is synced.
const atSync = -1

// moments are when to kill a server in a transaction: after so many writes from
// the first that tells what it is, or when all is written and only the sync is left.
func (l *load) moments() []int {
	list := []int{0, atSync}
	for range rounds(0, 2, 10) {
		list = append(list, 1+l.rng.IntN(12))
	}
	return list
}

// fold is what a server does by itself: it writes what it heard into the records.
const fold kind = "fold"

// writer makes single writes, and knows where a server keeps them.
type writer struct {
	*load
	hotspot *hotspot // that nobody else changes
}

func newWriter(t *testing.T, l *load, s *harness.Server) *writer {
	t.Helper()
	return &writer{load: l, hotspot: l.reserve(t, s)}
}

// tables are where a server writes.
var tables = map[kind]string{register: "hotspots", change: "hotspots", beat: "journal", fold: "records"}

// fingerprints differ before and after a write.
var fingerprints = map[kind]string{
	register: `SELECT count(*) FROM hotspots`,
	change:   `SELECT sum(version) FROM hotspots`,
	beat:     `SELECT count(*) || ' ' || coalesce(max(seq), 0) FROM journal`,
	fold:     `SELECT coalesce(group_concat(hex(data)), '') FROM records`,
}

func fingerprint(t *testing.T, db string, k kind) (text string) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close()
	if err := handle.QueryRowContext(t.Context(), fingerprints[k]).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// write makes a write. A server folds by itself, a while after a beat.
func (w *writer) write(ctx context.Context, t *testing.T, s *harness.Server, k kind) harness.Answer {
	n := int(w.number.Add(1)) - 1
	switch k {
	case register:
		_, a := w.register(ctx, s, w.users[0], n, clients, harness.MACOf(n))
		return a
	case change:
		return w.change(ctx, s, w.hotspot, clients, harness.Fields{"name": fmt.Sprintf("Hotspot %d %d", w.hotspot.number, n)})
	default:
		c := &client{running: &running{t: t, load: w.load}, rng: rand.New(rand.NewPCG(w.seed, uint64(n)))}
		return c.beat(ctx, s)
	}
}

// hold makes a write, and stops the server in the transaction that holds it.
func (w *writer) hold(t *testing.T, s *harness.Server, k kind) (held *harness.Trace, answered <-chan harness.Answer) {
	t.Helper()
	answers := make(chan harness.Answer, 1)
	held = harness.HoldIn(t, s, tables[k], func() {
		go func() { answers <- w.write(t.Context(), t, s, k) }()
	})
	return held, answers
}

// kill kills a server in the transaction of a write.
func (w *writer) kill(t *testing.T, s *harness.Server, k kind, writes int) {
	t.Helper()
	before := fingerprint(t, s.DB, k)
	held, answered := w.hold(t, s, k)
	if k == fold { // there may have been one in between
		before = fingerprint(t, s.DB, k)
	}
	for n, synced := 0, false; n != writes && !synced; n++ {
		_, synced = held.Next(t)
	}
	s.Kill()
	if a := <-answered; k != fold && a.Outcome() != harness.Unknown {
		t.Errorf("the server was killed in the transaction of a %s, which was answered %d %s %v", k, a.Status, a.Code, a.Err)
	}
	harness.CheckIntegrity(t, s.DB)
	if written := fingerprint(t, s.DB, k) != before; written && writes == 0 || !written && writes == atSync {
		t.Errorf("the server was killed after %d writes of a %s (%d: at the sync); it is in the file: %v", writes, k, atSync, written)
	}
}

// killUnderLoad lets a server work until it dies of its n-th system call of a kind.
func killUnderLoad(t *testing.T, load *load, s *harness.Server, calls string, nth int) {
	t.Helper()
	harness.KillAt(t, s, calls, nth)
	running := load.on(t, s)
	await(t, fmt.Sprintf("the server makes %s number %d", calls, nth), s.Exited)
	running.stop()
	if status := s.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Fatalf("the server was not killed: %v; its log: %s", s.Cmd.ProcessState, harness.Remarks(s.Log(t)))
	}
}
