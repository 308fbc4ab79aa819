package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// Source is what the sequencer needs of a database. Package store documents what each
// method guarantees; above all, that a node's changes become visible in order, and
// that a write fails if another process has taken over the lease.
type Source interface {
	Heads(ctx context.Context) (map[string]int64, error)
	Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error)

	// EventPlaces returns, by node, the last change that was sequenced.
	EventPlaces(ctx context.Context) (map[string]int64, error)

	// EventHead returns the numbers of the oldest and the newest event that are kept, or 0
	// and 0 if there never was one.
	EventHead(ctx context.Context) (oldest, newest int64, err error)

	// AppendEvents numbers the events and moves the places, in one transaction.
	AppendEvents(ctx context.Context, l lease.Lease, places map[string]int64, events []beacon.Event) error

	PruneEvents(ctx context.Context, l lease.Lease, before time.Time) error
}

const (
	pollInterval   = 200 * time.Millisecond
	stepTimeout    = 5 * time.Second
	changesAtATime = 20_000 // changes read at once; their order is certain
	eventsAtATime  = 500    // events written at once; other writes wait for them
	leastOfAStream = 20
	pruneInterval  = time.Hour

	// Kept is how long an event can be read (decision X7).
	Kept = 7 * 24 * time.Hour
)

// Sequencer puts the changes of all nodes into the one order of events. Only the
// lease holder does so: numbers have no gaps, and none is used twice. The place in
// each stream is stored together with the events, so the next lease holder resumes
// right there, even after a crash.
type Sequencer struct {
	source   Source
	holder   *lease.Holder
	clock    *clock.Clock
	appended func()
	log      *slog.Logger

	mu     sync.Mutex
	under  lease.Lease
	places map[string]int64 // nil: not known

	// empty is true while there is no event yet. Changes older than Kept are then
	// skipped: their events would be deleted at once. Which these are must be certain.
	empty bool

	stepped atomic.Pointer[time.Time] // when last up to date; nil: not the lease holder
}

// NewSequencer returns a sequencer. Call Run to start it. It calls appended when
// there are new events. What is old goes by what is certain: a clock that is ahead deletes no
// events, and skips no changes.
func NewSequencer(source Source, holder *lease.Holder, clock *clock.Clock, appended func(), log *slog.Logger) *Sequencer {
	return &Sequencer{source: source, holder: holder, clock: clock, appended: appended, log: log}
}

// Appended tells subscribers that there are new events, for others that append some.
func (s *Sequencer) Appended() { s.appended() }

// Run sequences while this process holds the lease, until ctx ends.
func (s *Sequencer) Run(ctx context.Context) {
	s.holder.While(ctx, s.work)
}

// work sequences until ctx ends.
func (s *Sequencer) work(ctx context.Context, l lease.Lease) {
	var pruned time.Time
	s.note()
	defer s.stepped.Store(nil)
	clock.Every(ctx, pollInterval, nil, s.log, "sequence events", func(ctx context.Context) error {
		err := s.Step(ctx, l)
		if err == nil {
			s.note()
		}
		if now := s.clock.Certain(); err == nil && !now.IsZero() && (pruned.IsZero() || time.Since(pruned) >= pruneInterval) {
			pruned = time.Now()
			err = s.prune(ctx, l, now)
		}
		if errors.Is(err, beacon.ErrTooEarly) {
			return nil
		}
		return err
	})
}

func (s *Sequencer) note() {
	now := time.Now()
	s.stepped.Store(&now)
}

// Age returns how long ago all changes were sequenced, for monitoring. It is 0 if
// another process is the lease holder.
func (s *Sequencer) Age() time.Duration {
	last := s.stepped.Load()
	if last == nil {
		return 0
	}
	return time.Since(*last)
}

func (s *Sequencer) prune(ctx context.Context, l lease.Lease, now time.Time) error {
	if err := s.source.PruneEvents(ctx, l, now.Add(-Kept)); err != nil {
		return fmt.Errorf("delete old events: %w", err)
	}
	return nil
}

// Step sequences everything that was written before the call.
func (s *Sequencer) Step(ctx context.Context, l lease.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.findPlaces(ctx, l); err != nil {
		return err
	}
	heads, err := s.heads(ctx)
	if err != nil {
		return err
	}
	for more := true; more; {
		if more, err = s.advance(ctx, l, heads); err != nil {
			s.places = nil
			return err
		}
	}
	return nil
}

// findPlaces reads how far the streams are sequenced, for a new lease and after every
// failure: an append that failed may have been committed, or may still be. So
// findPlaces appends nothing first: that needs the same row of the lease, and
// succeeds only when no append is in flight.
func (s *Sequencer) findPlaces(ctx context.Context, l lease.Lease) error {
	if s.places != nil && s.under.Token == l.Token {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := s.source.AppendEvents(ctx, l, nil, nil); err != nil {
		return fmt.Errorf("check the lease: %w", err)
	}
	places, err := s.source.EventPlaces(ctx)
	if err != nil {
		return fmt.Errorf("read the positions in the streams: %w", err)
	}
	_, newest, err := s.source.EventHead(ctx)
	if err != nil {
		return fmt.Errorf("read the newest event: %w", err)
	}
	s.places, s.empty, s.under = places, newest == 0, l
	return nil
}

func (s *Sequencer) heads(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	heads, err := s.source.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the heads of the changes: %w", err)
	}
	return heads, nil
}

// advance sequences a part of what is left up to the heads, and reports whether there
// is more. The heads are a snapshot, which includes every change that another one in
// it depends on. Later changes are left for the next step.
func (s *Sequencer) advance(ctx context.Context, l lease.Lease, heads map[string]int64) (more bool, err error) {
	streams, err := s.read(ctx, heads)
	if err != nil || len(streams) == 0 {
		return false, err
	}
	changes, since := merge(streams), time.Time{}
	if s.empty {
		now := s.clock.Certain()
		if now.IsZero() {
			return false, beacon.ErrTooEarly // to know which changes are old
		}
		since = now.Add(-Kept)
	}
	for len(changes) > 0 {
		events, n := eventsOf(changes, since)
		if err := s.append(ctx, l, changes[:n], events); err != nil {
			return false, err
		}
		changes = changes[n:]
	}
	return true, nil
}

// append writes the events of some changes, and the new places.
func (s *Sequencer) append(ctx context.Context, l lease.Lease, changes []beacon.Change, events []beacon.Event) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	places := map[string]int64{}
	for _, c := range changes {
		places[c.Node] = c.Seq
	}
	if err := s.source.AppendEvents(ctx, l, places, events); err != nil {
		return fmt.Errorf("append %d events: %w", len(events), err)
	}
	maps.Copy(s.places, places)
	if len(events) > 0 {
		s.empty = false
		s.appended()
	}
	return nil
}

// read returns the next changes of all streams, a bounded number.
func (s *Sequencer) read(ctx context.Context, heads map[string]int64) ([]stream, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	heads = maps.Clone(heads)
	maps.DeleteFunc(heads, func(node string, head int64) bool { return head <= s.places[node] })
	share := int64(max(changesAtATime/max(len(heads), 1), leastOfAStream))
	var streams []stream
	for _, node := range slices.Sorted(maps.Keys(heads)) {
		left := heads[node] - s.places[node]
		changes, err := s.readStream(ctx, node, s.places[node], min(left, share))
		if err != nil {
			return nil, err
		}
		streams = append(streams, stream{changes, left > share})
	}
	return streams, nil
}

func (s *Sequencer) readStream(ctx context.Context, node string, place, count int64) ([]beacon.Change, error) {
	changes, err := s.source.Changes(ctx, node, place, int(count))
	if err != nil {
		return nil, fmt.Errorf("read the changes of %s: %w", node, err)
	}
	if int64(len(changes)) != count {
		return nil, fmt.Errorf("node %s has %d changes after %d, but returned %d", node, count, place, len(changes))
	}
	for i, c := range changes {
		if want := place + 1 + int64(i); c.Seq != want {
			return nil, fmt.Errorf("node %s returned change %d instead of %d; the stream must not have gaps", node, c.Seq, want)
		}
	}
	return changes, nil
}

// isPrivate reports whether a change becomes no event: it is for the audit log, and for
// other servers to follow.
func isPrivate(c beacon.Change) bool {
	switch c.Kind {
	case beacon.HotspotRegistered, beacon.HotspotUpdated, beacon.HotspotDeleted, beacon.HotspotRestored,
		beacon.HotspotVerified, beacon.HotspotUnverified, beacon.HotspotLinked, beacon.HotspotUnlinked, beacon.HotspotHandedOver, beacon.RewardsSettled:
		return false
	}
	return true
}

// eventsOf returns the events of the first n changes: as many as fit into one write.
// Events omit the actor: they are public, and the audit log is not. A settled month
// is for its user only, and a hand-over is told to both users, each with an event. Changes before since are skipped: see Sequencer.empty.
func eventsOf(changes []beacon.Change, since time.Time) (events []beacon.Event, n int) {
	for n < len(changes) && len(events) < eventsAtATime {
		c := changes[n]
		n++
		switch {
		case isPrivate(c) || c.At.Before(since):
		case c.Kind == beacon.RewardsSettled:
			events = append(events, beacon.Event{Kind: c.Kind, Target: c.Actor.Note, User: beacon.UserID(c.Target), At: c.At})
		case c.Kind == beacon.HotspotHandedOver:
			for _, user := range handedOver(c) {
				events = append(events, beacon.Event{Kind: c.Kind, Target: c.Target, User: user, At: c.At})
			}
		default:
			events = append(events, beacon.Event{Kind: c.Kind, Target: c.Target, At: c.At})
		}
	}
	return events, n
}

// handedOver returns who is told of a hand-over. If an erasure was faster, its note is gone,
// and the operator alone is told.
func handedOver(c beacon.Change) []beacon.UserID {
	if from, to, ok := beacon.ParseHandOver(c.Actor.Note); ok {
		return []beacon.UserID{from, to}
	}
	return []beacon.UserID{""}
}
