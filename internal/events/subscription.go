package events

import (
	"context"
	"fmt"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Subscription is a place in the order of events. Only Close may be called from
// another goroutine.
type Subscription struct {
	hub   *Hub
	place int64 // the last event delivered
	once  sync.Once
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.once.Do(func() {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.hub.listeners--
	})
}

// Next returns the next events, at least one, and waits for them until ctx ends. They
// are shared with other subscribers and must not be modified. After an error of ctx
// or of the database, Next can be called again and continues where it stopped.
func (s *Subscription) Next(ctx context.Context) ([]beacon.Event, error) {
	for {
		events, behind, changed, err := s.hub.after(s.place)
		if behind {
			events, err = s.page(ctx)
		}
		switch {
		case err != nil:
			return nil, err
		case len(events) > 0:
			s.place = events[len(events)-1].Seq
			return events, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// page reads from the database, while the hub does not have what comes next.
func (s *Subscription) page(ctx context.Context) ([]beacon.Event, error) {
	events, err := s.hub.events.Events(ctx, s.place, pageSize)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if len(events) == 0 || events[0].Seq != s.place+1 {
		return nil, fmt.Errorf("%w: %d", ErrGone, s.place)
	}
	return events, checkOrder(events)
}

// after returns what the hub has after a place. Behind is true if the subscriber must
// read from the database. Otherwise, changed is closed when there is more.
func (h *Hub) after(place int64) (events []beacon.Event, behind bool, changed <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, nil, ErrClosed
	}
	missing := h.newest - place
	if missing > int64(len(h.recent)) {
		return nil, true, nil, nil
	}
	if missing > 0 {
		first := len(h.recent) - int(missing)
		last := min(first+pageSize, len(h.recent))
		events = h.recent[first:last:last]
	}
	return events, false, h.changed, nil
}

// checkOrder returns an error if an event is missing or repeated.
func checkOrder(events []beacon.Event) error {
	for i, e := range events {
		if want := events[0].Seq + int64(i); e.Seq != want {
			return fmt.Errorf("got event %d instead of %d; there must be no gaps", e.Seq, want)
		}
	}
	return nil
}
