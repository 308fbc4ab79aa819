package replica_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// source is an honest store in memory: a write is a row and a change in the
// stream of its node, both at once.
type source struct {
	mu      sync.Mutex
	rows    map[beacon.HotspotID]beacon.Hotspot
	streams map[string][]beacon.Change
	blur    beacon.Blur
	maps    beacon.MapSettings
	self    beacon.Identity

	// What a test puts in the way.
	fails   map[string]error                      // by method
	between func(method string)                   // before each method
	tamper  func([]beacon.Change) []beacon.Change // with what Changes answers
	delay   time.Duration                         // of Heads
	calls   map[string]int                        // by method
	loaded  map[beacon.HotspotID]int              // how often a row was asked for
}

func newSource() *source {
	return &source{
		rows: map[beacon.HotspotID]beacon.Hotspot{}, streams: map[string][]beacon.Change{},
		fails: map[string]error{}, calls: map[string]int{}, loaded: map[beacon.HotspotID]int{},
	}
}

var errAway = errors.New("the database is away")

// write commits a version of a hotspot through a node.
func (s *source) write(node string, h beacon.Hotspot) {
	kind := beacon.HotspotUpdated
	if h.Deleted() {
		kind = beacon.HotspotDeleted
	}
	s.change(node, beacon.Change{Kind: kind, Target: string(h.ID), Version: h.Version}, func() { s.rows[h.ID] = h })
}

// key commits a change of a key.
func (s *source) key(node string, kind beacon.ChangeKind, id string) {
	s.change(node, beacon.Change{Kind: kind, Target: id}, func() {})
}

func (s *source) change(node string, c beacon.Change, row func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Node, c.Seq = node, int64(len(s.streams[node])+1)
	s.streams[node] = append(s.streams[node], c)
	row()
}

// enter is the beginning of every method.
func (s *source) enter(method string) error {
	if s.between != nil {
		s.between(method)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	return s.fails[method]
}

func (s *source) fail(method string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails[method] = err
}

func (s *source) Heads(ctx context.Context) (map[string]int64, error) {
	if err := s.enter("Heads"); err != nil {
		return nil, err
	}
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	heads := map[string]int64{}
	for node, stream := range s.streams {
		heads[node] = int64(len(stream))
	}
	return heads, nil
}

func (s *source) Changes(_ context.Context, node string, after int64, limit int) ([]beacon.Change, error) {
	if err := s.enter("Changes"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	some := slices.Clone(s.streams[node][after:])
	some = some[:min(limit, len(some))]
	if s.tamper != nil {
		some = s.tamper(some)
	}
	return some, nil
}

func (s *source) HotspotsByID(_ context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error) {
	if err := s.enter("HotspotsByID"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []beacon.Hotspot
	for _, id := range ids {
		s.loaded[id]++
		if h, ok := s.rows[id]; ok {
			all = append(all, h)
		}
	}
	return all, nil
}

// privacy commits a change of the setting.
func (s *source) privacy(node string, blur beacon.Blur) {
	s.change(node, beacon.Change{Kind: beacon.SettingChanged, Target: "home_privacy"}, func() { s.blur = blur })
}

func (s *source) Blur(context.Context) (beacon.Blur, error) {
	err := s.enter("Blur")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blur, err
}

func (s *source) MapSettings(context.Context) (beacon.MapSettings, error) {
	err := s.enter("MapSettings")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maps, err
}

func (s *source) Identity(context.Context) (beacon.Identity, error) {
	err := s.enter("Identity")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.self, err
}

// EachHotspot calls from many goroutines at once, as a store may.
func (s *source) EachHotspot(_ context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error {
	if err := s.enter("EachHotspot"); err != nil {
		return err
	}
	s.mu.Lock()
	var all sync.WaitGroup
	for _, h := range s.rows {
		if !h.Deleted() || !deletedSince.IsZero() && !h.DeletedAt.Before(deletedSince) {
			all.Go(func() { _ = fn(h) })
		}
	}
	s.mu.Unlock()
	all.Wait()
	return nil
}

// live are the versions of what is not deleted.
func (s *source) live() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := map[string]int64{}
	for id, h := range s.rows {
		if !h.Deleted() {
			live[string(id)] = h.Version
		}
	}
	return live
}

// noBeats has no heartbeats to follow.
type noBeats struct{ since time.Time }

func (b noBeats) DeletedSince(context.Context) (time.Time, error) { return b.since, nil }

func (noBeats) Heads(context.Context) (telemetry.Heads, error) { return telemetry.Heads{}, nil }
func (noBeats) Follow(context.Context, telemetry.Heads) error  { return nil }
