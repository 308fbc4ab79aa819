package telemetry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// What was acknowledged is there after a restart, and nothing else is different.
func TestTake_SurvivesARestart(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		n := start(t, open, c, nil)
		ids := n.register(t, 20, morning)
		for minute := range 12 {
			var all sync.WaitGroup
			for i, id := range ids {
				all.Go(func() {
					err := n.try(t.Context(), id, beacon.Heartbeat{
						Boot: 7, Seq: uint64(minute), Bytes: uint64(minute * 1000), Clients: i, Signal: beacon.GoodSignal,
						Test: beacon.SpeedTest{DownMbps: 200, UpMbps: 20, LatencyMs: 9},
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if minute == 5 {
				n.must(t, n.Fold)
			}
			c.pass(time.Minute)
		}
		before := everything(t, n, ids, c.now())
		if m := before[ids[3]]; m.Connections24h != 3 || m.Bytes24h != 11_000 || m.Tier != beacon.Premium ||
			m.Signal != beacon.GoodSignal || m.Uptime30d != 10_000 || m.Clients != 3 {
			t.Errorf("metrics = %+v", m)
		}
		n.stop()
		again := start(t, open, c, nil)
		if diff := cmp.Diff(before, everything(t, again, ids, c.now())); diff != "" {
			t.Error(diff)
		}
	})
}

func everything(t testing.TB, n *node, ids []beacon.HotspotID, at time.Time) map[beacon.HotspotID]beacon.Metrics {
	t.Helper()
	all := map[beacon.HotspotID]beacon.Metrics{}
	for _, id := range ids {
		all[id] = n.metrics(t, id, at)
	}
	return all
}

// faulty puts faults between telemetry and its store.
type faulty struct {
	Store
	appendBeats func(next func() (int64, error)) (int64, error)
	putRecords  func(next func() error) error
}

func (f *faulty) AppendBeats(ctx context.Context, batch []byte) (int64, error) {
	next := func() (int64, error) { return f.Store.AppendBeats(ctx, batch) }
	if f.appendBeats == nil {
		return next()
	}
	return f.appendBeats(next)
}

var errCut = &beacon.Error{Kind: beacon.Internal, Message: "the outcome is unknown"}

// While the database does not take beats, devices are told when to try again,
// and nothing is true that is not durable.
func TestTake_DatabaseAway(t *testing.T) {
	c := &testClock{at: morning}
	away := &beacon.Error{Kind: beacon.Overloaded, Message: "the database is away"}
	f := &faulty{appendBeats: func(func() (int64, error)) (int64, error) { return 0, away }}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	id := n.register(t, 1, morning)[0]
	err := n.try(t.Context(), id, beacon.Heartbeat{Boot: 1, Seq: 1})
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok || e.Kind != beacon.Overloaded || e.RetryAfter <= 0 || e.RetryAfter >= beacon.OfflineAfter {
		t.Errorf("Take = %#v", err)
	}
	if m := n.metrics(t, id, morning); !m.Seen.IsZero() {
		t.Errorf("a beat that was refused was taken over: %+v", m)
	}
}

// late is a store that writes beats once their deadline is over: a disk does not notice it.
type late struct{ Store }

func (l late) AppendBeats(ctx context.Context, batch []byte) (int64, error) {
	<-ctx.Done()
	return l.Store.AppendBeats(context.WithoutCancel(ctx), batch)
}

// A beat that a slow disk stores after the deadline counts, and its device is told so.
func TestTake_SlowDisk(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, func(s Store) Store { return late{s} })
	id := n.register(t, 1, morning)[0]
	n.SetTimeouts(time.Millisecond, 5*time.Minute)
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500})
	if m := n.metrics(t, id, morning); m.Bytes24h != 500 {
		t.Errorf("metrics = %+v", m)
	}
}

// While the database hangs and does not even notice a deadline, devices are told to try
// again: those whose beats it was given, and those behind them. Once it goes on, they are
// taken.
func TestTake_DatabaseHangs(t *testing.T) {
	c := &testClock{at: morning}
	given, hang := make(chan struct{}, 1), make(chan struct{})
	f := &faulty{appendBeats: func(next func() (int64, error)) (int64, error) {
		select {
		case given <- struct{}{}:
		default:
		}
		<-hang
		return next()
	}}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	ids := n.register(t, 2, morning)
	n.SetTimeouts(5*time.Minute, 300*time.Millisecond)
	first := make(chan error)
	go func() { first <- n.try(t.Context(), ids[0], beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500}) }()
	<-given
	var refusal *beacon.Error
	if err := n.try(t.Context(), ids[1], beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500}); !errors.As(err, &refusal) || refusal.Kind != beacon.Overloaded {
		t.Errorf("a beat behind one that hangs: %v; want overloaded", err)
	}
	if err := <-first; !errors.As(err, &refusal) || refusal.Kind != beacon.Overloaded {
		t.Errorf("a beat that hangs: %v; want overloaded", err)
	}
	close(hang)
	for _, id := range ids { // until the batches that hung are over
		for n.try(t.Context(), id, beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500}) != nil {
		}
		if m := n.metrics(t, id, morning); !m.Seen.Equal(morning) || m.Bytes24h != 500 {
			t.Errorf("%s after trying again: %+v", id, m)
		}
	}
}

// A commit whose answer was lost is found in the node's own journal, and a
// device that repeats its beat changes nothing by that.
func TestTake_UnknownOutcome(t *testing.T) {
	c := &testClock{at: morning}
	f := &faulty{appendBeats: func(next func() (int64, error)) (int64, error) {
		if _, err := next(); err != nil {
			return 0, err
		}
		return 0, errCut
	}}
	n := start(t, onSQLite(t), c, func(s Store) Store { f.Store = s; return f })
	id := n.register(t, 1, morning)[0]
	beat := beacon.Heartbeat{Boot: 1, Seq: 1, Bytes: 500, Clients: 2}
	if err := n.try(t.Context(), id, beat); err == nil {
		t.Fatal("a beat with an unknown outcome was acknowledged")
	}
	n.must(t, n.follower.CatchUp)
	want := n.metrics(t, id, morning)
	if !want.Seen.Equal(morning) || want.Bytes24h != 500 {
		t.Errorf("after following: %+v", want)
	}
	f.appendBeats = nil
	c.pass(30 * time.Second)
	n.beat(t, id, beat)
	if got := n.metrics(t, id, morning); got != want {
		t.Errorf("a repeated beat changed %+v to %+v", want, got)
	}
}

// Whoever beats at whichever node, all nodes come to know the same; also of a
// device that was linked a moment before its first beat.
func TestFollow_Replicas(t *testing.T) {
	onBoth(t, func(t *testing.T, open database) {
		c := &testClock{at: morning}
		nodes := []*node{start(t, open, c, nil), start(t, open, c, nil), start(t, open, c, nil)}
		var ids []beacon.HotspotID
		for minute := range 20 {
			if minute%5 == 0 {
				ids = append(ids, nodes[minute%3].register(t, 1, c.now())...)
			}
			nodes[minute%3].must(t, nodes[minute%3].follower.CatchUp)
			for i, id := range ids {
				at := nodes[(i+minute)%3]
				at.must(t, at.follower.CatchUp) // it must know the hotspot to be asked
				at.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(minute), Bytes: uint64(minute) * 100, Clients: minute})
				if minute%4 == 0 { // the answer was lost on the way, and the device tried elsewhere
					nodes[i%3].beat(t, id, beacon.Heartbeat{Boot: 1, Seq: uint64(minute), Bytes: uint64(minute) * 100, Clients: minute})
				}
			}
			if minute%6 == 5 {
				for _, n := range nodes {
					n.must(t, n.Fold)
				}
			}
			c.pass(time.Minute)
		}
		want := map[beacon.HotspotID]beacon.Metrics(nil)
		for i, n := range append(nodes, start(t, open, c, nil)) {
			n.must(t, n.follower.CatchUp)
			if got := everything(t, n, ids, c.now()); want == nil {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("node %d: %s", i, diff)
			}
		}
	})
}

// When folds fail for hours, beats are refused before memory or the journal
// overflow, and taken again once a fold went well.
func TestTake_WaitsForAFold(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	id := n.register(t, 1, morning)[0]
	n.beat(t, id, beacon.Heartbeat{Boot: 1, Seq: 1})
	c.pass(4 * time.Hour)
	done := make(chan error)
	go func() { done <- n.try(t.Context(), id, beacon.Heartbeat{Boot: 1, Seq: 2}) }()
	select {
	case err := <-done:
		t.Fatalf("taken without a fold: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	n.must(t, n.Fold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if m := n.metrics(t, id, c.now()); !m.Seen.Equal(c.now()) {
		t.Errorf("seen %v; want %v", m.Seen, c.now())
	}
}
