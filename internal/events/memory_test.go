package events_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

var errAway = errors.New("the database is away")

// memory is a database whose faults can be chosen to the moment. What the real
// ones do is tested beside it.
type memory struct {
	mu      sync.Mutex
	streams map[string][]beacon.Change
	places  map[string]int64
	events  []beacon.Event
	pruned  int64 // how many of them are gone
	hidden  int   // how many changes at the end of a stream cannot be read
	holder  lease.Lease
	calls   map[string]int

	fail      map[string]error // by method
	delay     time.Duration    // before each answer
	doubt     func() verdict   // how an append with events ends
	lingering func()           // an append that hangs in the database, after its caller gave up
}

type verdict int

const (
	committed verdict = iota
	refused           // the caller hears of a failure, and nothing was written
	unheard           // it was written, and the caller hears of a failure
	hanging           // as unheard, but it is written later
)

func newMemory() *memory {
	return &memory{streams: map[string][]beacon.Change{}, places: map[string]int64{}, calls: map[string]int{}, fail: map[string]error{}}
}

// write adds a change to a node's stream.
func (m *memory) write(node string, kind beacon.ChangeKind, target string, version int64, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[node] = append(m.streams[node], beacon.Change{
		Node: node, Seq: int64(len(m.streams[node]) + 1), Kind: kind, Target: target, Version: version, At: at,
		Actor: beacon.Actor{User: "usr_secret", Key: "key_secret"},
	})
}

// happen adds events as someone else does: whoever sees hotspots come and go.
func (m *memory) happen(count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range count {
		m.events = append(m.events, beacon.Event{Seq: int64(len(m.events) + 1), Kind: beacon.HotspotOnline})
	}
}

func (m *memory) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *memory) called(method string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[method]
}

// enter counts a call and lets it fail or wait.
func (m *memory) enter(ctx context.Context, method string) error {
	m.mu.Lock()
	m.calls[method]++
	err, delay := m.fail[method], m.delay
	m.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (m *memory) Heads(ctx context.Context) (map[string]int64, error) {
	if err := m.enter(ctx, "Heads"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	heads := map[string]int64{}
	for node, stream := range m.streams {
		heads[node] = int64(len(stream))
	}
	return heads, nil
}

func (m *memory) Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error) {
	if err := m.enter(ctx, "Changes"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.streams[node][after : len(m.streams[node])-m.hidden]
	return append([]beacon.Change(nil), rest[:min(limit, len(rest))]...), nil
}

func (m *memory) EventPlaces(ctx context.Context) (map[string]int64, error) {
	if err := m.enter(ctx, "EventPlaces"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.places), nil
}

func (m *memory) AppendEvents(ctx context.Context, l lease.Lease, places map[string]int64, events []beacon.Event) error {
	if err := m.enter(ctx, "AppendEvents"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lingering != nil { // it has the row of the lease, so we come after it
		m.lingering()
		m.lingering = nil
	}
	if m.holder.Token != l.Token {
		return &beacon.Error{Kind: beacon.Conflict, Message: "the lease is another's"}
	}
	write := func() {
		maps.Copy(m.places, places)
		for _, e := range events {
			e.Seq = int64(len(m.events) + 1)
			m.events = append(m.events, e)
		}
	}
	end := committed
	if m.doubt != nil && len(places) > 0 {
		end = m.doubt()
	}
	switch end {
	case refused:
		return errAway
	case unheard:
		write()
		return errAway
	case hanging:
		m.lingering = write
		return errAway
	}
	write()
	return nil
}

func (m *memory) PruneEvents(ctx context.Context, _ lease.Lease, before time.Time) error {
	if err := m.enter(ctx, "PruneEvents"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.pruned < int64(len(m.events)) && m.events[m.pruned].At.Before(before) {
		m.pruned++
	}
	return nil
}

func (m *memory) Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error) {
	if err := m.enter(ctx, "Events"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.events[min(max(after, m.pruned), int64(len(m.events))):]
	return append([]beacon.Event(nil), rest[:min(limit, len(rest))]...), nil
}

func (m *memory) EventHead(ctx context.Context) (oldest, newest int64, err error) {
	if err := m.enter(ctx, "EventHead"); err != nil {
		return 0, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pruned + 1, int64(len(m.events)), nil
}

func (m *memory) TakeLease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (lease.Lease, bool, error) {
	if err := m.enter(ctx, "TakeLease"); err != nil {
		return lease.Lease{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holder.Holder != holder {
		if m.holder.Until.After(now) {
			return m.holder, false, nil
		}
		m.holder = lease.Lease{Name: name, Holder: holder, Token: m.holder.Token + 1}
	}
	m.holder.Until = now.Add(ttl)
	return m.holder, true, nil
}
