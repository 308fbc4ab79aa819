package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// batch returns n bytes with all values.
func batch(n int) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(i * 7)
	}
	return all
}

func appendBeats(t *testing.T, database Database) {
	one, two := database.open(t), database.open(t)
	if heads := must(one.Journal.JournalHeads(t.Context())); len(heads) != 0 {
		t.Errorf("heads of an empty database = %v", heads)
	}
	sizes := []int{1, 300, 200_000, 5_000}
	var want []beacon.JournalRow
	for i, size := range sizes {
		given := batch(size)
		seq, err := one.Journal.AppendBeats(t.Context(), given)
		if err != nil || seq != int64(i+1) {
			t.Fatalf("AppendBeats = %d, %v; want %d", seq, err, i+1)
		}
		clear(given) // no memory is shared
		want = append(want, beacon.JournalRow{Seq: seq, Batch: batch(size)})
	}
	if seq, err := two.Journal.AppendBeats(t.Context(), batch(3)); seq != 1 || err != nil {
		t.Errorf("the first of another node = %d, %v; want 1", seq, err)
	}
	insert(t, one, Hotspot(1)) // the change stream has its own numbers

	equal(t, "the journal", must(two.Journal.Journal(t.Context(), one.Node(), 0, 100)), want)
	equal(t, "a part of it", must(two.Journal.Journal(t.Context(), one.Node(), 1, 2)), want[1:3])
	if rest := must(two.Journal.Journal(t.Context(), one.Node(), 4, 10)); len(rest) != 0 {
		t.Errorf("%d rows behind the head", len(rest))
	}
	equal(t, "heads of the journals", must(two.Journal.JournalHeads(t.Context())), map[string]int64{one.Node(): 4, two.Node(): 1})
	equal(t, "heads of the changes", must(two.Changes.Heads(t.Context())), map[string]int64{one.Node(): 1, two.Node(): 0})
	if seq, err := one.Journal.AppendBeats(t.Context(), nil); seq != 5 || err != nil {
		t.Errorf("no bytes at all = %d, %v; want 5", seq, err)
	}
	if page := must(two.Changes.Audit(t.Context(), beacon.Change{}, 10)); len(page) != 1 {
		t.Errorf("the audit lists %d changes; want 1: beats are none", len(page))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := one.Journal.AppendBeats(cancelled, batch(1))
	wantKind(t, "beats that come too late", err, beacon.Overloaded)
}

// beatsOvertake: many registrations are queued, and heartbeats that arrive last do not
// wait for them.
func beatsOvertake(t *testing.T, database Database) {
	// Nothing shows when the beats are in line for the connection. On a machine that stands
	// still they may need longer; those that are not let in first never are.
	for _, wait := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 5 * time.Second} {
		n, most := overtaken(t, database, wait)
		if n <= most {
			return
		}
		t.Logf("%d groups were written before the beats; want %d at most", n, most)
	}
	t.Error("beats wait for registrations")
}

// overtaken returns how many groups were written before the beats, if they wait so long,
// and how many that may be at most.
func overtaken(t *testing.T, database Database, wait time.Duration) (n, most int64) {
	db := database.open(t)
	insert(t, db, Hotspot(0))
	release := hold(t, db, Hotspot(0).ID)
	// What was written before the beats is counted as it is written, and not when a
	// goroutine that waited for it runs: those run in any order.
	var groups atomic.Int64
	before := make(chan int64, 1)
	db.Watch(func(c store.Commit) {
		if c.Stream == store.Journal {
			before <- groups.Load()
		} else {
			groups.Add(1)
		}
	})
	const crowd = 1000 // many groups
	var all sync.WaitGroup
	for n := range crowd {
		all.Go(func() {
			if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(n+1), Actor, nil); err != nil {
				t.Error(err)
			}
		})
	}
	waitFor(t, db, crowd)
	all.Go(func() {
		if seq, err := db.Journal.AppendBeats(t.Context(), batch(1000)); seq != 1 || err != nil {
			t.Errorf("AppendBeats = %d, %v; want 1", seq, err)
		}
	})
	// If the two share a connection the beats wait for it now, otherwise they are written.
	for start := time.Now(); db.Waiting() == crowd && len(before) == 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > Patience {
			t.Fatal("the beats neither wait nor are written")
		}
	}
	time.Sleep(wait)
	if len(before) == 0 {
		most = 3 // the operation in front, and two groups of registrations
	}
	release()
	all.Wait()
	return <-before, most
}

// beatsAtOnce: many append at once, in groups. Each gets a number of its own, and its
// batch is stored under that number.
func beatsAtOnce(t *testing.T, database Database) {
	db := database.open(t)
	const appenders, times = 8, 20
	var mu sync.Mutex
	want := map[int64]string{}
	var all sync.WaitGroup
	for appender := range appenders {
		all.Go(func() {
			for n := range times {
				text := fmt.Sprint(appender, " ", n)
				seq, err := db.Journal.AppendBeats(t.Context(), []byte(text))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				want[seq] = text
				mu.Unlock()
			}
		})
	}
	all.Wait()
	got := map[int64]string{}
	for i, row := range must(db.Journal.Journal(t.Context(), db.Node(), 0, 1000)) {
		if row.Seq != int64(i+1) {
			t.Fatalf("row %d stands where %d was due", row.Seq, i+1)
		}
		got[row.Seq] = string(row.Batch)
	}
	equal(t, "the journal", got, want)
	if len(got) != appenders*times {
		t.Errorf("%d rows; want %d", len(got), appenders*times)
	}
}

func trimJournal(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	l := lead(t, db, "keeper")
	equal(t, "rows of nobody", must(db.Journal.JournalRows(t.Context())), int64(0))
	const rows = 130 // takes more than two transactions to delete
	for range rows {
		must(db.Journal.AppendBeats(t.Context(), batch(10)))
	}
	must(other.Journal.AppendBeats(t.Context(), batch(10)))
	for _, step := range []struct{ upTo, first int64 }{{0, 1}, {1, 2}, {1, 2}, {120, 121}, {7, 121}} {
		if err := db.Journal.TrimJournal(t.Context(), l, db.Node(), step.upTo); err != nil {
			t.Fatal(err)
		}
		left := must(db.Journal.Journal(t.Context(), db.Node(), 0, 1000))
		if n := must(db.Journal.JournalRows(t.Context())); n != int64(len(left))+1 { // plus the row of the other node
			t.Errorf("trimmed to %d: all journals have %d rows; want %d", step.upTo, n, len(left)+1)
		}
		if int64(len(left)) != rows+1-step.first || left[0].Seq != step.first {
			t.Errorf("trimmed to %d: %d rows are left from %d on; want from %d on", step.upTo, len(left), left[0].Seq, step.first)
		}
	}
	if err := db.Journal.TrimJournal(t.Context(), l, db.Node(), 1<<40); err != nil { // more than there are
		t.Fatal(err)
	}
	equal(t, "rows", must(db.Journal.JournalRows(t.Context())), int64(1))
	equal(t, "heads", must(db.Journal.JournalHeads(t.Context())), map[string]int64{db.Node(): 0, other.Node(): 1})
	if seq := must(db.Journal.AppendBeats(t.Context(), nil)); seq != rows+1 {
		t.Errorf("the next row after all were trimmed is %d; want %d", seq, rows+1)
	}
	if err := db.Journal.TrimJournal(t.Context(), l, "node_unknown", 5); err != nil {
		t.Errorf("an unknown node: %v", err)
	}
	for session := range int64(2) { // a trimmed stream continues its numbers when reopened
		shared, err := database(t.Context(), store.SharedNode)
		if err != nil {
			t.Fatal(err)
		}
		if seq := must(shared.Journal.AppendBeats(t.Context(), nil)); seq != session+1 {
			t.Errorf("session %d writes row %d; want %d", session, seq, session+1)
		}
		err = errors.Join(shared.Close(), db.Journal.TrimJournal(t.Context(), l, store.SharedNode, session+1))
		if err != nil {
			t.Fatal(err)
		}
	}
	l.Token++
	wantKind(t, "a lease of another", db.Journal.TrimJournal(t.Context(), l, db.Node(), 1000), beacon.Conflict)
	if left := must(db.Journal.Journal(t.Context(), db.Node(), 0, 10)); len(left) != 1 {
		t.Errorf("%d rows are left; want 1", len(left))
	}
}

// journalWhileTrimmed: two nodes append, a follower reads, and what it has read is
// trimmed, even if that leaves nothing. The follower must read every row once, in
// order. One of the nodes is reopened under its name, and must continue its numbers.
func journalWhileTrimmed(t *testing.T, database Database) {
	keeper := database.open(t)
	l := lead(t, keeper, "keeper")
	const sessions, times = 4, 30
	var all sync.WaitGroup
	for _, node := range []string{store.SharedNode, "node_b"} {
		all.Go(func() {
			for range sessions {
				db, err := database(t.Context(), node)
				if err != nil {
					t.Error(err)
					return
				}
				for n := range times {
					err := insist(func() error {
						_, err := db.Journal.AppendBeats(t.Context(), fmt.Append(nil, node, n))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
				if node != store.SharedNode {
					return // a generated name serves one session
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { all.Wait(); close(finished) }()
	seen := map[string]int64{}
	for running := true; running; {
		select {
		case <-finished:
			running = false
		default:
		}
		for node, head := range must(keeper.Journal.JournalHeads(t.Context())) {
			for seen[node] < head {
				for _, row := range must(keeper.Journal.Journal(t.Context(), node, seen[node], 7)) {
					seen[node]++
					if row.Seq != seen[node] || !bytes.HasPrefix(row.Batch, []byte(node)) {
						t.Fatalf("%s: row %d %q comes where %d was due", node, row.Seq, row.Batch, seen[node])
					}
				}
			}
			if err := insist(func() error { return keeper.Journal.TrimJournal(t.Context(), l, node, seen[node]) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	equal(t, "rows met", seen, map[string]int64{store.SharedNode: sessions * times, "node_b": times})
}
