package telemetry

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

const (
	markInterval = 5 * time.Second

	// unbroken is how late a mark may be for the service to count as up in between. A
	// longer gap was an outage: the database was away, or the process stood still.
	unbroken = time.Minute

	// jump is how far the clock may drift from the machine's monotonic one between two
	// marks before it counts as set by someone.
	jump = 30 * time.Second

	// forLong is longer than a process lives, in minutes.
	forLong = 100 * 365 * 24 * 60
)

// spans is when the service was up, as far as this process knows.
type spans struct {
	mu      sync.Mutex
	from    beacon.Minute // start of our own span
	marked  time.Time     // the last mark, by the data's clock; zero: none yet
	taken   int64         // beats taken by then
	refused int64         // beats refused by then
	real    time.Time     // the last mark, by the machine's clock
	others  []beacon.ServiceSpan
	read    time.Time // when others were read, by the machine's clock
}

// errRefusing: to devices, a service that takes no beats is down, whatever else works.
var errRefusing = errors.New("every beat since the last check was refused")

// mark durably records that the service is up, from the last mark until now. A mark
// that cannot be written does not count: then beats cannot be written either.
func (t *Telemetry) mark(ctx context.Context) error {
	t.noticeBack()
	s := &t.spans
	s.mu.Lock()
	defer s.mu.Unlock()
	now, real := t.Now(), t.machine()
	taken, refused := t.taken.Load(), t.refused.Load()
	if refused > s.refused && taken == s.taken {
		s.refused = refused
		return errRefusing
	}
	from, reread := s.from, real.Sub(s.read) > unbroken/2
	if s.broken(now, real, t.Rate) {
		from, reread = t.upFrom(now), true // our old span is one of the others now
	}
	to := beacon.MinuteOf(now)
	if err := t.Store.ExtendSpan(ctx, int64(from), int64(to)); err != nil {
		return err
	}
	s.from, s.marked, s.real, s.taken, s.refused = from, now, real, taken, refused
	if reread {
		if err := s.readOthers(ctx, t.Store, real); err != nil {
			return err
		}
	}
	t.Fleet.SetUptime(s.known())
	return nil
}

// broken reports whether the service may have been down since the last mark.
func (s *spans) broken(now, real time.Time, rate float64) bool {
	passed, truly := now.Sub(s.marked.Round(0)), real.Sub(s.real) // wall clock, monotonic clock
	set := rate > 0 && math.Abs(float64(passed)-float64(truly)*rate) > float64(jump)*max(rate, 1)
	return s.marked.IsZero() || truly > unbroken || passed < 0 || set
}

// upFrom returns when a span begins that is first recorded now: when it was noticed that the
// clock was set back, if that was just before. What was heard since then was heard while
// the service was up.
func (t *Telemetry) upFrom(now time.Time) beacon.Minute {
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	from := t.trust.backTo
	if passed := now.Sub((from + 1).Time()); now.Before(from.Time()) || float64(passed) > float64(unbroken)*max(t.Rate, 1) {
		return beacon.MinuteOf(now)
	}
	return from
}

// readOthers reads all spans, one for each start of a server. The time before the first
// one is no outage, so the first must be known.
func (s *spans) readOthers(ctx context.Context, store Store, real time.Time) error {
	others, err := store.Spans(ctx, 0)
	if err != nil {
		return err
	}
	s.others, s.read = others, real
	return nil
}

// known returns all known spans. Our own has no end yet: while memory lives, so does
// the process, and the next mark finds out whether it stood still.
func (s *spans) known() []heartbeat.Span {
	all := []heartbeat.Span{{From: s.from, To: s.from + forLong}}
	for _, o := range s.others {
		all = append(all, heartbeat.Span{From: beacon.Minute(o.From), To: beacon.Minute(o.To)})
	}
	return all
}

func (t *Telemetry) readSpans(ctx context.Context) error {
	s := &t.spans
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readOthers(ctx, t.Store, t.machine()); err != nil {
		return err
	}
	s.from = beacon.MinuteOf(t.Now())
	t.Fleet.SetUptime(s.known())
	return nil
}

// upSince returns since when the service has been up without a break, as far as this
// process knows by itself.
func (t *Telemetry) upSince() time.Time {
	t.spans.mu.Lock()
	defer t.spans.mu.Unlock()
	return t.spans.from.Time()
}
