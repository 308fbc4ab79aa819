package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

const (
	markInterval = 5 * time.Second

	// unbroken is how late a mark may be for the service to count as up in between. A
	// longer gap was an outage: the database was away, or the process stood still.
	unbroken = time.Minute

	// forLong is longer than a process lives, in minutes.
	forLong = 100 * 365 * 24 * 60
)

// spans is when the service was up, as far as this process knows.
type spans struct {
	mu     sync.Mutex
	last   mark
	others []beacon.ServiceSpan
	read   time.Time // when others were read, by the machine's clock; zero: they have to be
}

// mark is a durable record that the service is up.
type mark struct {
	from           beacon.Minute // start of our own span
	now            time.Time     // by the data's clock; zero: there is none yet
	machine        time.Time     // by the machine's clock
	taken, refused int64         // beats up to that time
}

// errRefusing: to devices, a service that takes no beats is down, whatever else works.
var errRefusing = errors.New("every beat since the last check was refused")

// mark durably records that the service is up, from the last mark until now. A mark
// that cannot be written does not count: then beats cannot be written either. It may be
// called by several at once: spans only grow.
func (t *Telemetry) mark(ctx context.Context) error {
	t.noticeBack()
	m := mark{now: t.Clock.Now(), machine: t.Clock.Machine(), taken: t.taken.Load(), refused: t.refused.Load()}
	broken, err := t.spans.next(&m, t.upFrom(m.now), t.Clock.Rate())
	if err != nil {
		return err
	}
	if err := t.Store.ExtendSpan(ctx, int64(m.from), int64(beacon.MinuteOf(m.now))); err != nil {
		return err
	}
	if t.spans.wrote(m, broken) {
		others, err := t.Store.Spans(ctx, 0) // one for each start of a server; the time before the first is no outage
		if err != nil {
			return err
		}
		t.spans.knows(others, m.machine)
	}
	t.spans.show(t.Fleet)
	return nil
}

// next completes the next mark. It reports whether the service may have been down since
// the last one: then a span begins at upFrom.
func (s *spans) next(m *mark, upFrom beacon.Minute, rate float64) (broken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.refused > s.last.refused && m.taken == s.last.taken {
		s.last.refused = m.refused
		return false, errRefusing
	}
	passed, elapsed := m.now.Sub(s.last.now.Round(0)), m.machine.Sub(s.last.machine) // wall clock, monotonic clock
	m.from = s.last.from
	if broken = s.last.now.IsZero() || elapsed > unbroken || passed < 0 || clock.WasSet(passed, elapsed, rate); broken {
		m.from = upFrom
	}
	return broken, nil
}

// wrote records that a mark is durable, and reports whether the spans of others have to be
// read: if the last one was broken, our old span is one of them now.
func (s *spans) wrote(m mark, broken bool) (read bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.machine.Before(s.last.machine) {
		return false // another was faster
	}
	s.last = m
	if broken {
		s.read = time.Time{}
	}
	return m.machine.Sub(s.read) > unbroken/2
}

// knows records which spans there are, as of a time of the machine's clock.
func (s *spans) knows(all []beacon.ServiceSpan, machine time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others, s.read = all, machine
}

// upFrom returns when a span begins that is first recorded now: when it was noticed that the
// clock was set back, if that was just before. What was heard since then was heard while
// the service was up.
func (t *Telemetry) upFrom(now time.Time) beacon.Minute {
	t.clockSeen.mu.Lock()
	defer t.clockSeen.mu.Unlock()
	from := t.clockSeen.backTo
	if passed := now.Sub((from + 1).Time()); now.Before(from.Time()) || float64(passed) > float64(unbroken)*max(t.Clock.Rate(), 1) {
		return beacon.MinuteOf(now)
	}
	return from
}

// show tells memory all known spans. Our own has no end yet: while memory lives, so does
// the process, and the next mark finds out whether it stood still.
func (s *spans) show(memory *fleet.Fleet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []heartbeat.Span{{From: s.last.from, To: s.last.from + forLong}}
	for _, o := range s.others {
		all = append(all, heartbeat.Span{From: beacon.Minute(o.From), To: beacon.Minute(o.To)})
	}
	memory.SetUptime(all)
}

// readSpans reads, at startup, when the service was up.
func (t *Telemetry) readSpans(ctx context.Context) error {
	others, err := t.Store.Spans(ctx, 0)
	if err != nil {
		return err
	}
	t.spans.last.from = beacon.MinuteOf(t.Clock.Now())
	t.spans.knows(others, t.Clock.Machine())
	t.spans.show(t.Fleet)
	return nil
}

// upSince returns since when the service has been up without a break, as far as this
// process knows by itself.
func (t *Telemetry) upSince() time.Time {
	t.spans.mu.Lock()
	defer t.spans.mu.Unlock()
	return t.spans.last.from.Time()
}
