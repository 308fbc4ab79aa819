// Package events puts the network's changes into one order and delivers them to
// subscribers. It does not decide what happens: that is recorded in the streams of
// changes, one for each node, and by the code that sees hotspots come and go.
//
// Its one invariant: a subscriber that resumes after an event misses none and gets
// none twice, whichever server it asks.
package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// Log is what the hub needs of a database: the events in order.
type Log interface {
	// Events returns up to limit events after a number, without a gap.
	Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error)

	// EventHead returns the numbers of the oldest and the newest event that are kept, or 0
	// and 0 if there never was one. The newest is always kept.
	EventHead(ctx context.Context) (oldest, newest int64, err error)
}

// Why a subscription cannot begin or continue.
var (
	// ErrGone: the events after the given one are no longer kept.
	ErrGone = errors.New("events after this number are no longer kept")

	// ErrFuture: no event has this number. The client received events that are lost,
	// as when a database was restored from a backup. New events will reuse numbers
	// that it has seen on others, so letting it wait for later ones would be wrong.
	ErrFuture = errors.New("there is no event with this number")

	// ErrClosed: the server is about to stop; the client can continue on another.
	ErrClosed = errors.New("the stream of events is closed")
)

const (
	ringSize = 4096 // events kept in memory, at least; at most twice that
	pageSize = 500  // events read or delivered at once
)

// Hub delivers new events to subscribers. It reads events from the database once for
// all of them, and only while there are any. A subscriber that is behind reads for
// itself until it has caught up. A slow subscriber blocks nobody and costs no memory:
// its state is one number.
type Hub struct {
	events Log
	log    *slog.Logger
	wake   chan struct{}

	mu        sync.Mutex
	listeners int
	closed    bool
	newest    int64          // the last event known here
	recent    []beacon.Event // the last ones, up to newest; never overwritten
	changed   chan struct{}  // closed when there is something new
}

// NewHub returns a hub. Call Run to start it.
func NewHub(events Log, log *slog.Logger) *Hub {
	return &Hub{events: events, log: log, wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Wake notifies the hub of new events. It never blocks.
func (h *Hub) Wake() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run reads new events until ctx ends. While the store fails it keeps trying, and
// logs that once.
func (h *Hub) Run(ctx context.Context) {
	clock.Every(ctx, pollInterval, h.wake, h.log, "read events for subscribers", func(ctx context.Context) error {
		if h.Listeners() == 0 {
			return nil
		}
		return h.poll(ctx)
	})
}

// Listeners returns the number of subscribers, for monitoring.
func (h *Hub) Listeners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listeners
}

// poll reads new events, page by page.
func (h *Hub) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for {
		h.mu.Lock()
		after := h.newest
		h.mu.Unlock()
		events, err := h.events.Events(ctx, after, pageSize)
		if err != nil {
			return err
		}
		if err := checkOrder(events); err != nil {
			return err
		}
		h.publish(events)
		if len(events) < pageSize {
			return nil
		}
	}
}

// publish delivers new events to all subscribers.
func (h *Hub) publish(events []beacon.Event) {
	if len(events) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if events[0].Seq != h.newest+1 {
		h.recent = nil // the events between were deleted before we read them: see Next
	}
	if len(h.recent)+len(events) > 2*ringSize {
		// Copy to a new array: slices of the old one were handed out.
		h.recent = append(make([]beacon.Event, 0, 2*ringSize), h.recent[len(h.recent)-ringSize:]...)
	}
	h.recent = append(h.recent, events...)
	h.newest = events[len(events)-1].Seq
	h.announce()
}

func (h *Hub) announce() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Close ends all subscriptions and refuses new ones.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.announce()
}

// Subscribe begins after the event with that number: 0 is the oldest event kept, and
// below 0 is now. It returns ErrGone, ErrFuture, ErrClosed, or an error of the
// database.
func (h *Hub) Subscribe(ctx context.Context, after int64) (*Subscription, error) {
	if s, done, err := h.join(after); done {
		return s, err
	}
	oldest, newest, err := h.events.EventHead(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the first and last event number: %w", err)
	case after < 0:
		after = newest
	case after == 0:
		after = max(oldest-1, 0) // all there is
	case after > newest:
		return nil, fmt.Errorf("%w: %d", ErrFuture, after)
	case after+1 < oldest:
		return nil, fmt.Errorf("%w: %d", ErrGone, after)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if h.listeners == 0 {
		h.newest, h.recent = newest, nil // nobody kept them up to date
	}
	return h.add(after), nil
}

// join subscribes from memory, so that many clients reconnecting at once cost the
// database nothing.
func (h *Hub) join(after int64) (s *Subscription, done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, true, ErrClosed
	}
	if h.listeners > 0 && after >= 0 && after <= h.newest && after >= h.newest-int64(len(h.recent)) {
		return h.add(after), true, nil
	}
	return nil, false, nil
}

func (h *Hub) add(after int64) *Subscription {
	h.listeners++
	return &Subscription{hub: h, place: after}
}
