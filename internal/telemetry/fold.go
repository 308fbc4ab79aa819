package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const (
	// foldEvery is how often the journal is folded into records, in minutes of
	// the data's clock.
	foldEvery = 5

	// foldBehind is how many minutes may pass without a fold before beats are refused:
	// memory holds the minutes of a few hours, and the journal must not grow without
	// bound.
	foldBehind = 180

	hotspotsAtATime = 500 // per transaction: beats wait behind it
	recordsAtATime  = 4 * hotspotsAtATime
)

// awaitFold waits, before a beat is taken, for a fold that is long overdue.
func (t *Telemetry) awaitFold(ctx context.Context) error {
	for {
		now := beacon.MinuteOf(t.Clock.Now()) // the clock may be set while we wait
		folded, next := t.folds.last()
		if now < folded+foldEvery {
			return nil
		}
		select {
		case t.foldDue <- struct{}{}:
		default:
		}
		if now < folded+foldBehind {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return overloaded("the journal of heartbeats is full; try again", context.Cause(ctx))
		case <-time.After(t.batcher.timeout):
			return overloaded("the journal of heartbeats is full; try again", nil)
		}
	}
}

// folds is when the last fold was, and lets callers wait for the next.
type folds struct {
	mu   sync.Mutex
	at   beacon.Minute
	took time.Duration
	next chan struct{} // closed by the next fold
}

func (f *folds) last() (at beacon.Minute, next <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at, f.next
}

func (f *folds) done(at beacon.Minute, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.took = at, took
	close(f.next)
	f.next = make(chan struct{})
}

// fold writes what memory knows into records and then trims the journals. Where another
// node writes the records, it rereads them instead; see role. While the clock is not
// trusted, nothing is decided that was not certain before: neither minutes nor whether
// a day is over.
func (t *Telemetry) fold(ctx context.Context) error {
	// Records distinguish our own outages from those of hotspots, so mark first. Beats
	// may be refused because a fold is due.
	if err := t.mark(ctx); err != nil && !errors.Is(err, errRefusing) {
		return fmt.Errorf("record that the service is up: %w", err)
	}
	clock, began := t.read(), time.Now()
	now := clock.minute
	held, holder := t.Lease()
	if !holder {
		held = lease.Lease{}
	}
	raised := t.suspicions.raised.Load()
	reached, followed := t.cursors.all()
	in := foldInput{
		token: held.Token, suspected: t.suspicions.any(), day: beacon.MinuteOf(clock.UpTo).Day(), reached: reached,
	}
	at := heartbeat.Moment{Certain: clock.UpTo, Now: clock.Now, Back: clock.backTo}
	if clock.Trusted {
		certain := beacon.MinuteOf(clock.UpTo)
		at.Final = finalAt(certain, followed-(now-certain)) // both as late as what is certain
		before, known := t.finals.under(held.Token)
		in.finalDue = !known || before < at.Final
	}
	plan := t.folded.plan(in)
	if plan.role != reader {
		if err := t.setRight(ctx, clock); err != nil {
			return fmt.Errorf("set the times of hotspots right: %w", err)
		}
	}
	work := t.Fleet.Dirty(plan.all)
	if err := t.foldAll(ctx, held, plan.role, work, clock, at); err != nil {
		return err
	}
	if plan.role != reader {
		if err := t.trim(ctx, held); err != nil {
			return err
		}
		if err := t.forgetAhead(ctx, held, clock); err != nil {
			return err
		}
		if clock.Trusted && t.suspicions.raised.Load() == raised { // otherwise another node may have written in between
			t.finals.set(held.Token, at.Final)
		}
	}
	t.folded = t.folded.next(in)
	t.suspicions.clear(raised)
	if clock.Trusted {
		t.decided = beacon.MinuteOf(clock.UpTo)
		t.purge(held, holder, clock.Now)
	}
	t.folds.done(now, time.Since(began))
	t.Log.Debug("heartbeats folded", "hotspots", len(work), "keeper", holder, "took_ms", time.Since(began).Milliseconds())
	return nil
}

// foldAll rereads the records of hotspots, writes them, or both; see role.
func (t *Telemetry) foldAll(
	ctx context.Context, held lease.Lease, as role, ids []beacon.HotspotID, clock reading, at heartbeat.Moment,
) error {
	for chunk := range slices.Chunk(ids, hotspotsAtATime) {
		if as != owner {
			if err := t.rereadChunk(ctx, chunk, clock.minute.Day()); err != nil {
				return err
			}
		}
		if as != reader {
			if err := t.foldChunk(ctx, held, chunk, clock, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldChunk writes the records of some hotspots. Memory knows all that the records say.
func (t *Telemetry) foldChunk(
	ctx context.Context, held lease.Lease, ids []beacon.HotspotID, clock reading, at heartbeat.Moment,
) error {
	rows, finish, folded := t.foldUnlessBack(clock, ids, at)
	if !folded {
		return errors.New("the clock was set back meanwhile; the heartbeats are folded again")
	}
	err := t.putRecords(ctx, held, rows)
	finish(err == nil)
	return err
}

// putRecords writes records. After an outage of days each hotspot has many: then it takes
// several transactions, and if not all succeed, memory writes all again.
func (t *Telemetry) putRecords(ctx context.Context, held lease.Lease, rows []beacon.RecordRow) error {
	for some := range slices.Chunk(rows, recordsAtATime) {
		if err := t.Store.PutRecords(ctx, held, some); err != nil {
			return err
		}
	}
	return nil
}

// latest returns the last minute that has begun by any witness. A fold may have read the
// clock long ago: what arrived since is not of a clock that is ahead.
func (t *Telemetry) latest(since reading) beacon.Minute {
	return max(since.latest, beacon.MinuteOf(t.Clock.Now()))
}

// forgetAhead deletes records of days that have not begun by any witness, which a clock that
// was ahead left. The traffic is in the records of today by now, and the rest has not
// happened: nothing may take it for a fact when that day comes. Without witnesses the
// clock may be behind, and the records right.
func (t *Telemetry) forgetAhead(ctx context.Context, held lease.Lease, clock reading) error {
	if !t.Clock.HasWitnesses() || !clock.Trusted {
		return nil
	}
	return t.Store.ForgetRecords(ctx, held, (t.latest(clock) + heartbeat.FinalLag).Day())
}

// trim drops from the journals what the fold before this one had read. It could drop
// more, but a node that starts reads records first and journals second, and must not
// find a gap between them.
func (t *Telemetry) trim(ctx context.Context, held lease.Lease) error {
	var failed []error
	for node, upTo := range t.folded.trimTo {
		failed = append(failed, t.Journal.TrimJournal(ctx, held, node, upTo))
	}
	return errors.Join(failed...)
}
