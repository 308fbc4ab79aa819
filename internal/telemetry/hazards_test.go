package telemetry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// life lets one hotspot beat once a minute, and the node do its work.
type life struct {
	*node
	c   *testClock
	id  beacon.HotspotID
	seq uint64
}

func (l *life) live(t *testing.T, minutes int) {
	t.Helper()
	for range minutes {
		l.seq++
		l.must(t, l.Mark)
		l.beat(t, l.id, beacon.Heartbeat{Boot: 1, Seq: l.seq, Bytes: l.seq * 1e9})
		l.must(t, l.Refresh)
		if l.seq%5 == 0 {
			l.must(t, l.Fold)
		}
		l.c.pass(time.Minute)
	}
}

// settle folds until everything is decided, written and trimmed.
func (n *node) settle(t *testing.T, c *testClock) {
	t.Helper()
	for range 3 {
		c.pass(5 * time.Minute)
		n.must(t, n.Mark)
		n.must(t, n.Fold)
	}
}

// onDisk gives the minutes served and the bytes of the record of a day.
func onDisk(t *testing.T, n *node, id beacon.HotspotID, at time.Time) (minutes int, bytes uint64) {
	t.Helper()
	day := beacon.DayOf(at)
	rows, err := n.db.Records.RecordsOf(t.Context(), id, day, day)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return 0, 0
	}
	r, err := heartbeat.DecodeRecord(rows[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, carried := range r.Traits(nil).Bytes {
		bytes += carried
	}
	return r.Facts().Served, bytes
}

// link takes the device of a hotspot off, or puts one on.
func (n *node) link(t *testing.T, id beacon.HotspotID, at time.Time) {
	t.Helper()
	h, err := n.db.Hotspots.UpdateHotspot(t.Context(), id, beacon.Actor{Request: "test"}, beacon.HotspotLinked, func(h *beacon.Hotspot) (bool, error) {
		h.Device.LinkedAt, h.Device.KeyHash = at, [32]byte{2}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.fleet.Apply(h); err != nil {
		t.Fatal(err)
	}
}

// A node that starts while another links a device and hears it.
func TestRestore_LinkedMeanwhile(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	a := start(t, open, c, nil)
	a.must(t, a.Mark)
	var id beacon.HotspotID
	b := start(t, open, c, func(s Store) Store {
		return &hooked{s, func() {
			id = a.register(t, 1, c.now())[0]
			a.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 1000})
		}}
	})
	if m := b.metrics(t, id, c.now()); m.Seen.IsZero() {
		t.Error("the beat was not heard")
	}
	a.stop() // it folded nothing
	b.settle(t, c)
	if minutes, bytes := onDisk(t, b, id, morning); minutes == 0 || bytes != 1000 {
		t.Errorf("the record has %d minutes, %d bytes", minutes, bytes)
	}
}

// hooked does something once, in the middle of a start.
type hooked struct {
	Store
	once func()
}

func (h *hooked) EachRecord(ctx context.Context, fn func(beacon.HotspotID, beacon.Day, []byte) error) error {
	if do := h.once; do != nil {
		h.once = nil
		do()
	}
	return h.Store.EachRecord(ctx, fn)
}

// A device that is off its hotspot while a node starts: what it said stays, and
// what it goes on counting is not counted again.
func TestRestore_Unlinked(t *testing.T) {
	for _, away := range []time.Duration{0, 24 * time.Hour} {
		open, c := onSQLite(t), &testClock{at: morning}
		n := start(t, open, c, nil)
		l := &life{node: n, c: c, id: n.register(t, 1, morning)[0]}
		l.live(t, 60)
		l.settle(t, c)
		l.live(t, 3) // in the journal alone
		before, _ := onDisk(t, n, l.id, morning)
		n.link(t, l.id, time.Time{})
		n.stop()

		c.pass(away)
		l.node = start(t, open, c, nil)
		l.must(t, l.Mark)
		l.must(t, l.Fold)
		l.link(t, l.id, c.now())
		l.live(t, 10)
		l.settle(t, c)
		minutes, bytes := onDisk(t, l.node, l.id, morning)
		if minutes < before {
			t.Errorf("away for %v, the record shrank from %d to %d minutes", away, before, minutes)
		}
		if away > 0 {
			_, more := onDisk(t, l.node, l.id, c.now())
			bytes += more
		}
		if bytes != l.seq*1e9 {
			t.Errorf("away for %v, %d GB are counted of a counter that says %d", away, bytes/1e9, l.seq)
		}
	}
}

// The same before anything was folded: all that there is, is in the journal.
func TestRestore_UnlinkedBeforeAFold(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	n := start(t, open, c, nil)
	id := n.register(t, 1, morning)[0]
	for seq := range uint64(5) {
		n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 1e9})
		c.pass(30 * time.Second)
	}
	n.link(t, id, time.Time{})
	n.stop()
	n = start(t, open, c, nil)
	n.settle(t, c)
	if _, bytes := onDisk(t, n, id, morning); bytes != 4e9 {
		t.Errorf("the record has %d bytes", bytes)
	}
}

// The clock was ahead over midnight, and is set right.
func TestClock_BackOverMidnight(t *testing.T) {
	evening := time.Date(2026, 11, 14, 20, 0, 0, 0, time.UTC)
	c := &testClock{at: evening}
	n := start(t, onSQLite(t), c, nil)
	l := &life{node: n, c: c, id: n.register(t, 1, evening)[0]}
	l.live(t, 4*60+11)
	minutes, bytes := onDisk(t, n, l.id, evening)
	c.pass(-20 * time.Minute)
	l.live(t, 15)
	after, bytesAfter := onDisk(t, n, l.id, evening)
	if minutes < 235 || after < minutes || bytesAfter < bytes {
		t.Errorf("the record of the day went from %d minutes, %d GB to %d, %d", minutes, bytes/1e9, after, bytesAfter/1e9)
	}
	if m := n.metrics(t, l.id, c.now().Add(-time.Minute)); m.Uptime30d != 10_000 {
		t.Errorf("uptime = %d", m.Uptime30d)
	}
}

// A server ran on a clock that was weeks ahead, and starts again on one that is
// right.
func TestClock_RecordsOfTheFuture(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning.Add(40 * 24 * time.Hour)}
	n := start(t, open, c, nil)
	l := &life{node: n, c: c, id: n.register(t, 1, morning)[0]}
	l.live(t, 20)
	n.stop()
	c.set(morning)
	l.node = start(t, open, c, nil)
	hotspot, _ := l.fleet.Find(l.id)
	if seen := l.metrics(t, l.id, c.now()).Seen; seen.After(c.now()) {
		t.Errorf("last seen %v, before it is %v", seen, c.now())
	}
	l.live(t, 120)
	if minutes, _ := onDisk(t, l.node, l.id, morning); minutes < 110 {
		t.Errorf("of two hours, the record has %d minutes", minutes)
	}
	c.pass(time.Hour)
	if status := hotspot.StatusAt(c.now()); status != beacon.Offline {
		t.Errorf("an hour after the last beat it is %s", status)
	}
}

// The clock is set forward: nobody is told to be offline for that.
func TestClock_ForwardTellsNobodyOffline(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	n.must(t, n.Mark)
	c.pass(10 * time.Minute)
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	n.must(t, n.Mark)
	n.must(t, n.Announce)
	c.rate = 1 // from now on a real clock, for which no time passes
	n.Clock = c.of(n, n.Log)
	c.pass(10 * time.Minute)
	n.must(t, n.Announce)
	if got := told(t, n, map[beacon.HotspotID]string{id: "a"}); len(got) != 1 {
		t.Errorf("told %q", got)
	}
}

// A keeper that was cut off gets the lease back from one that folded and trimmed.
func TestFold_KeeperReturns(t *testing.T) {
	open, c := onSQLite(t), &testClock{at: morning}
	a := start(t, open, c, nil)
	ids := a.register(t, 2, morning)
	l := &life{node: a, c: c, id: ids[0]}
	l.live(t, 5)
	a.release(t)
	l.node = start(t, open, c, nil)
	l.live(t, 30)
	l.settle(t, c)
	before, _ := onDisk(t, l.node, l.id, morning)
	l.stop()

	l.node = a
	a.must(t, a.follower.CatchUp)
	a.must(t, a.Mark)
	a.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: 1})
	a.must(t, a.Fold)
	c.pass(5 * time.Minute)
	l.live(t, 1)
	a.settle(t, c)
	if after, _ := onDisk(t, a, l.id, morning); after < before {
		t.Errorf("the record shrank from %d to %d minutes", before, after)
	}
}

func (n *node) release(t *testing.T) {
	t.Helper()
	if _, _, err := n.db.Leases.TakeLease(t.Context(), "keeper", n.db.Node(), time.Now(), -time.Minute); err != nil {
		t.Fatal(err)
	}
}

// A batch whose outcome is unknown, and one after it that went well: the node
// itself comes to know the first one too.
func TestFollow_UnknownThenKnown(t *testing.T) {
	c := &testClock{at: morning}
	f := &faulty{}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	ids := n.register(t, 2, morning)
	f.appendBeats = func(next func() (int64, error)) (int64, error) {
		f.appendBeats = nil
		_, err := next()
		return 0, errors.Join(err, errCut)
	}
	if err := n.try(t.Context(), ids[0], beacon.Heartbeat{Boot: 1, Seq: 1}); err == nil {
		t.Fatal("a beat with an unknown outcome was acknowledged")
	}
	n.beat(t, ids[1], beacon.Heartbeat{Boot: 1, Seq: 1})
	n.must(t, n.follower.CatchUp)
	if m := n.metrics(t, ids[0], morning); !m.Seen.Equal(morning) {
		t.Errorf("last seen %v", m.Seen)
	}
}

// One that is in service and never heard has days on which it did not serve.
func TestHistory_NeverHeard(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	for range 2 * 24 {
		n.must(t, n.Mark)
		n.must(t, n.Fold)
		c.pass(time.Hour)
	}
	h, err := n.History(t.Context(), telemetry.HistoryQuery{
		Hotspot: id, From: morning.Truncate(24 * time.Hour), To: c.now(), Step: 24 * time.Hour,
	})
	if err != nil || len(h.Points) != 3 || h.Points[1].Expected != 24*60 || h.Points[1].Served != 0 {
		t.Errorf("History = %+v, %v", h, err)
	}
}

// A record that is damaged on disk is left out of the history, and the other days are in
// it (decision D43).
func TestHistory_DamagedRecord(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, func(s Store) Store { return &scratched{s, beacon.DayOf(morning) + 1} })
	id := n.register(t, 1, morning)[0]
	for range 3 * 24 {
		n.must(t, n.Mark)
		n.must(t, n.follower.CatchUp)
		n.must(t, n.Fold) // makes days final, so memory forgets them
		c.pass(time.Hour)
	}
	first := morning.Truncate(24 * time.Hour)
	h, err := n.History(t.Context(), telemetry.HistoryQuery{Hotspot: id, From: first, To: first.AddDate(0, 0, 3), Step: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var expected []int
	for _, p := range h.Points {
		expected = append(expected, p.Expected)
	}
	if want := []int{15 * 60, 0, 24 * 60}; !slices.Equal(expected, want) {
		t.Errorf("expected minutes = %v; want %v", expected, want)
	}
}

// scratched is a store in which the records of one day are damaged.
type scratched struct {
	Store
	day beacon.Day
}

func (s *scratched) RecordsOf(ctx context.Context, hotspot beacon.HotspotID, from, to beacon.Day) ([]beacon.RecordRow, error) {
	rows, err := s.Store.RecordsOf(ctx, hotspot, from, to)
	for i := range rows {
		if rows[i].Day == s.day {
			rows[i].Data[len(rows[i].Data)/2] ^= 1
		}
	}
	return rows, err
}

// While nothing can be written, not all hotspots are checked each second.
func TestAnnounce_DiskFull(t *testing.T) {
	c := &testClock{at: morning}
	f := &full{}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	id := n.register(t, 1, morning)[0]
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	for range 10 {
		_ = n.Announce(t.Context())
	}
	if f.scans != 1 {
		t.Errorf("%d scans of everything", f.scans)
	}
}

type full struct {
	Store
	scans int
}

func (f *full) Announce(context.Context, lease.Lease, []beacon.Transition) error {
	return errors.New("no room on disk")
}

func (f *full) EachStatus(ctx context.Context, fn func(beacon.HotspotID, bool) error) error {
	f.scans++
	return f.Store.EachStatus(ctx, fn)
}
