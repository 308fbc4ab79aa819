package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Log is what the hub needs of a database: the events in their order.
type Log interface {
	// Events answers up to limit events after a number, without a gap.
	Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error)

	// EventHead answers the number of the oldest event that is kept, and of the
	// newest there ever was. Where none is kept, oldest is newest+1.
	EventHead(ctx context.Context) (oldest, newest int64, err error)
}

// Why a subscription cannot begin or go on.
var (
	// ErrGone: what followed the given event is no longer kept.
	ErrGone = errors.New("events after this number are no longer kept")

	// ErrFuture: no event has this number. Who has it heard of events that are
	// lost, as when a database was restored from a backup. The next events will
	// bear numbers that he has seen on others, so that it would be wrong to let
	// him wait for what comes after.
	ErrFuture = errors.New("there is no event with this number")

	// ErrClosed: the server is about to stop; another one can go on.
	ErrClosed = errors.New("the events end here")
)

const (
	ringSize = 4096 // events that are kept in memory, at the least; twice that at the most
	pageSize = 500  // events that are read or handed out at once
)

// Hub tells those who listen what is new. Events are read from the database once
// for all of them, and only while there is someone. Whoever is behind reads
// alone until he has caught up. A slow one keeps nobody waiting, and costs no
// memory: he has but a number.
type Hub struct {
	events Log
	log    *slog.Logger
	wake   chan struct{}

	mu        sync.Mutex
	listeners int
	closed    bool
	newest    int64          // the last event that is known here
	recent    []beacon.Event // the last ones, up to newest; never written to again
	changed   chan struct{}  // closed when there is something new
}

// NewHub makes a hub; Run lets it work.
func NewHub(events Log, log *slog.Logger) *Hub {
	return &Hub{events: events, log: log, wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Wake tells the hub that there are new events; it never waits.
func (h *Hub) Wake() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run reads new events until ctx ends. While the store is away it keeps trying,
// and says so once.
func (h *Hub) Run(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-h.wake:
		}
		if !h.anyone() {
			continue
		}
		err := h.poll(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !lost:
			h.log.Error("cannot read events; those who listen wait", "err", err)
		case err == nil && lost:
			h.log.Info("reading events again")
		}
		lost = err != nil
	}
}

func (h *Hub) anyone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listeners > 0
}

// Listeners is how many listen, for monitoring.
func (h *Hub) Listeners() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listeners
}

// poll reads what is new, page by page.
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

// publish hands new events to everyone.
func (h *Hub) publish(events []beacon.Event) {
	if len(events) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if events[0].Seq != h.newest+1 {
		h.recent = nil // what lies between was deleted before we came to it: see Next
	}
	if len(h.recent)+len(events) > 2*ringSize {
		// A fresh one: what was handed out of the old one stays as it is.
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

// Close ends all subscriptions at once, and refuses new ones.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.announce()
	}
}

// Subscribe begins after the event with that number: 0 is the beginning of time,
// and below 0 is now. It answers ErrGone, ErrFuture, ErrClosed, or what is wrong
// with the database.
func (h *Hub) Subscribe(ctx context.Context, after int64) (*Subscription, error) {
	if s, done, err := h.join(after); done {
		return s, err
	}
	oldest, newest, err := h.events.EventHead(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read where the events begin and end: %w", err)
	case after < 0:
		after = newest
	case after == 0:
		after = max(oldest-1, 0) // whoever wants all gets all there is
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

// join subscribes from memory, so that a crowd that comes back costs the
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
