package telemetry_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

func (f *faulty) PutRecords(ctx context.Context, l lease.Lease, rows []beacon.RecordRow) error {
	next := func() error { return f.Store.PutRecords(ctx, l, rows) }
	if f.putRecords == nil {
		return next()
	}
	return f.putRecords(next)
}

func journalRows(t testing.TB, n *node) (count int) {
	t.Helper()
	heads, err := n.db.Journal.JournalHeads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name := range heads {
		rows, err := n.db.Journal.Journal(t.Context(), name, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		count += len(rows)
	}
	return count
}

// The journal does not grow: it holds what came since the fold before the last.
func TestFold_TrimsTheJournal(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	for round := range uint64(6) {
		for minute := range uint64(5) {
			n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: round*5 + minute})
			c.pass(time.Minute)
		}
		n.must(t, n.Fold)
		if rows := journalRows(t, n); round > 0 && rows != 5 {
			t.Errorf("after fold %d the journal has %d rows; want 5", round, rows)
		}
	}
}

// A fold that breaks off, before or after its records were written, and a crash
// then: nothing is lost, nothing counts twice.
func TestFold_BreaksOff(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault func(next func() error) error
	}{
		{"nothing written", func(func() error) error { return errCut }},
		{"all written", func(next func() error) error { _ = next(); return errCut }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open, c := onSQLite(t), &testClock{at: morning}
			f := &faulty{}
			n := start(t, open, c, func(s Store) Store { f.Store = s; return f })
			ids := n.register(t, 3, morning)
			seq := uint64(0)
			beats := func(n *node) {
				for range 7 {
					seq++
					for i, id := range ids {
						n.beat(t, id, beacon.Heartbeat{
							Boot: 1, Seq: seq, Bytes: seq * 1000, Clients: i + 1, Signal: beacon.FairSignal,
						})
					}
					c.pass(time.Minute)
				}
			}
			beats(n)
			n.must(t, n.Fold)
			beats(n)
			f.putRecords = tc.fault
			if err := n.Fold(t.Context()); err == nil {
				t.Fatal("the fold did not notice")
			}
			beats(n)
			want := everything(t, n, ids, c.now())
			n.stop() // without a word to memory
			again := start(t, open, c, nil)
			if diff := cmp.Diff(want, everything(t, again, ids, c.now())); diff != "" {
				t.Errorf("after a crash: %s", diff)
			}
			again.must(t, again.Fold)
			again.must(t, again.Fold)
			if diff := cmp.Diff(want, everything(t, again, ids, c.now())); diff != "" {
				t.Errorf("after another fold: %s", diff)
			}
			if m := want[ids[0]]; m.Bytes24h != seq*1000 || m.Uptime30d != 10_000 {
				t.Errorf("metrics = %+v", m)
			}
		})
	}
}

// Every hotspot that was ever heard has a record of every day from then on, also
// of those on which it was not; and the days before are what they were.
func TestFold_NewDay(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		ids := n.register(t, 2, morning)
		seq := uint64(0)
		n.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: 1})
		for range 3 * 24 * 15 { // three days: a beat serves four minutes
			seq++
			n.beat(t, ids[0], beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e6})
			if seq%20 == 0 {
				n.must(t, n.Fold)
			}
			c.pass(4 * time.Minute)
		}
		n.must(t, n.Fold)
		for i, id := range ids {
			first := beacon.DayOf(morning)
			rows, err := n.db.Records.RecordsOf(t.Context(), id, first-1, first+9)
			if err != nil || len(rows) != 4 {
				t.Fatalf("hotspot %d has %d records, %v; want 4", i, len(rows), err)
			}
		}
		history, err := n.History(t.Context(), telemetry.HistoryQuery{
			Hotspot: ids[0], From: morning.Truncate(24 * time.Hour), To: c.now(), Step: 24 * time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		var expected []int
		var bytes uint64
		for _, p := range history.Points {
			expected = append(expected, p.Expected)
			bytes += p.Bytes
		}
		if want := []int{15 * 60, 24 * 60, 24 * 60, 9 * 60}; !cmp.Equal(expected, want) {
			t.Errorf("expected minutes = %v; want %v", expected, want)
		}
		if bytes != seq*1e6 {
			t.Errorf("traffic = %d; want %d", bytes, seq*1_000_000)
		}
		if m := n.metrics(t, ids[1], c.now()); m.Uptime30d < 8 || m.Uptime30d > 10 { // 4 of 4,320 minutes
			t.Errorf("one that was heard once: %+v", m)
		}
		if m := n.metrics(t, ids[0], c.now().Add(-time.Minute)); m.Uptime30d != 10_000 {
			t.Errorf("one that always was: %+v", m)
		}
	})
}

// A fold that takes long: a heartbeat that arrives meanwhile, ten minutes after it read the
// clock, is not taken for one of a clock that is ahead.
func TestFold_Long(t *testing.T) {
	c, store := &testClock{at: morning}, &faulty{}
	n := start(t, onSQLite(t), c, func(s Store) Store { store.Store = s; return store })
	ids := n.register(t, telemetry.HotspotsAtATime+1, morning)
	last := slices.Max(ids) // in the second chunk
	n.must(t, n.Mark)
	for midnight := (beacon.DayOf(morning) + 1).Time(); c.now().Before(midnight); c.pass(2 * time.Hour) {
		n.settle(t, c)
	}
	n.must(t, n.Mark) // a fold of all hotspots is due, which ends yesterday
	pass := func(minutes int) {
		for range minutes {
			c.pass(time.Minute)
			n.must(t, n.Mark)
		}
	}
	chunks := 0
	store.putRecords = func(next func() error) error {
		if chunks++; chunks == 1 {
			pass(10)
			n.beat(t, last, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 1e9})
			pass(5)
		}
		return next()
	}
	n.must(t, n.Fold)
	if chunks != 2 {
		t.Fatalf("%d chunks were written", chunks)
	}
	n.beat(t, last, beacon.Heartbeat{Boot: 1, Seq: 2, Bytes: 2e9})
	pass(6)
	n.must(t, n.Fold)
	if minutes, bytes := onDisk(t, n, last, c.now()); minutes != 8 || bytes != 2e9 {
		t.Errorf("it served %d minutes and carried %d bytes; want 8 and 2e9", minutes, bytes)
	}
}
