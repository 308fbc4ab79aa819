// Package replica keeps a process in step with the database, into which every process
// writes: it follows the streams of all of them into the fleet, the heartbeats and the
// cache of keys.
//
// Its one invariant: nothing is missed. Every process that writes has its own stream of
// changes, numbered without gaps, and its own journal of heartbeats. A follower keeps
// its position in each, and moves it only once what was read is applied. So it does not
// matter in which order transactions commit, and after a pause it resumes where it
// stopped.
//
//	follower := replica.NewFollower(fleet, store, heard, forgetKey, telemetry, log)
//	err := follower.Load(ctx) // fills the fleet
//	go follower.Run(ctx)      // keeps it in step
package replica

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Source is where changes come from: the store. Package store documents what each
// method promises; above all, a node's changes become visible in order.
type Source interface {
	Heads(ctx context.Context) (map[string]int64, error)
	Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error)
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	EachHotspot(ctx context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error
	Blur(ctx context.Context) (beacon.Blur, error)
	MapSettings(ctx context.Context) (beacon.MapSettings, error)
	Identity(ctx context.Context) (beacon.Identity, error)
}

// Follower keeps a process in step with the store.
type Follower struct {
	fleet  *fleet.Fleet
	source Source
	log    *slog.Logger

	// onKey is called with every key that was created or revoked.
	onKey func(beacon.KeyID, beacon.ChangeKind)

	// onPerson is called with every person who changed, or whose memberships did; may be nil.
	onPerson func(beacon.PersonID)

	beats Beats
	heard *clock.Heard
	maps  atomic.Pointer[beacon.MapSettings]
	self  atomic.Pointer[beacon.Identity]

	mu      sync.Mutex       // one step at a time
	cursors map[string]int64 // by node: the last change that was applied
	unshown bool             // a setting has changed, and not all hotspots are shown by it yet
}

// MapSettings returns what maps of the network show at first.
func (fo *Follower) MapSettings() beacon.MapSettings {
	if m := fo.maps.Load(); m != nil {
		return *m
	}
	return beacon.MapSettings{}
}

// Identity returns how the network presents itself.
func (fo *Follower) Identity() beacon.Identity {
	if i := fo.self.Load(); i != nil {
		return *i
	}
	return beacon.Identity{}
}

// readSettings reads the settings that every server follows.
func (fo *Follower) readSettings(ctx context.Context) error {
	blur, err := fo.source.Blur(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	shown, err := fo.source.MapSettings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings of maps: %w", err)
	}
	self, err := fo.source.Identity(ctx)
	if err != nil {
		return fmt.Errorf("read how the network presents itself: %w", err)
	}
	fo.fleet.SetBlur(blur)
	fo.maps.Store(&shown)
	fo.self.Store(&self)
	return nil
}

// Beats follows the journals of heartbeats: package telemetry. A device beats only
// after it was linked. So a step first reads how far the journals go, then applies the
// changes, and then the beats up to that point: every device that beat
// is known when its beats are applied.
type Beats interface {
	// DeletedSince returns since when deleted hotspots may have heartbeats that count.
	DeletedSince(ctx context.Context) (time.Time, error)
	Heads(ctx context.Context) (telemetry.Heads, error)
	Follow(ctx context.Context, upTo telemetry.Heads) error
}

const (
	pollInterval   = 200 * time.Millisecond
	stepTimeout    = 5 * time.Second
	changesAtATime = 500
)

// NewFollower returns a follower, which says when it has heard the store. Call Load first.
func NewFollower(f *fleet.Fleet, source Source, heard *clock.Heard, onKey func(beacon.KeyID, beacon.ChangeKind), beats Beats, log *slog.Logger) *Follower {
	return &Follower{fleet: f, source: source, heard: heard, onKey: onKey, beats: beats, log: log}
}

// OnPerson sets what is called with every person who changed, or whose memberships did. Call
// it before Load.
func (fo *Follower) OnPerson(fn func(beacon.PersonID)) { fo.onPerson = fn }

// Load fills the fleet. It reads the positions before the hotspots: a change in
// between is applied twice, never missed.
func (fo *Follower) Load(ctx context.Context) error {
	began := time.Now()
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return fmt.Errorf("read the heads of the changes: %w", err)
	}
	since, err := fo.beats.DeletedSince(ctx)
	if err != nil {
		return fmt.Errorf("find which deleted hotspots are still needed: %w", err)
	}
	if err := fo.readSettings(ctx); err != nil {
		return err
	}
	err = fo.fleet.Load(func(add func(beacon.Hotspot) error) error { return fo.source.EachHotspot(ctx, since, add) })
	if err != nil {
		return fmt.Errorf("read the hotspots: %w", err)
	}
	fo.cursors = heads
	fo.heard.Set(began)
	return nil
}

// Run follows until ctx ends. While the store is unavailable, responses may be stale;
// Run keeps trying.
func (fo *Follower) Run(ctx context.Context) {
	clock.Every(ctx, pollInterval, nil, fo.log, "follow the changes in the database", fo.Step)
}

// Step applies everything that changed since the last step.
func (fo *Follower) Step(ctx context.Context) error {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	quick, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := fo.catchUp(quick); err != nil {
		return err
	}
	return fo.reshow(ctx)
}

// reshow shows all hotspots by the setting in force, if it has changed. That takes as long
// as to load them, so it has no timeout.
func (fo *Follower) reshow(ctx context.Context) error {
	if !fo.unshown {
		return nil
	}
	if err := fo.readSettings(ctx); err != nil {
		return err
	}
	var mu sync.Mutex
	var homes []beacon.Hotspot
	err := fo.source.EachHotspot(ctx, time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		if h.Type != beacon.Home {
			return nil
		}
		if homes = append(homes, h); len(homes) < changesAtATime {
			return nil
		}
		full := homes
		homes = nil
		return fo.fleet.Reshow(full...)
	})
	if err == nil {
		err = fo.fleet.Reshow(homes...)
	}
	if err != nil {
		return fmt.Errorf("show the homes by the new setting: %w", err)
	}
	fo.unshown = false
	return nil
}

// CatchUp is Step without its timeout, for when there may be much to apply.
func (fo *Follower) CatchUp(ctx context.Context) error {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return fo.catchUp(ctx)
}

func (fo *Follower) catchUp(ctx context.Context) error {
	began := time.Now()
	beats, err := fo.beats.Heads(ctx)
	if err != nil {
		return err
	}
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return err
	}
	for node, head := range heads {
		for fo.cursors[node] < head {
			if err := fo.advance(ctx, node); err != nil {
				return err
			}
		}
	}
	if err := fo.beats.Follow(ctx, beats); err != nil {
		return err
	}
	fo.heard.Set(began)
	return nil
}

// advance applies the next changes of one node, and only then moves its position.
func (fo *Follower) advance(ctx context.Context, node string) error {
	cursor := fo.cursors[node]
	changes, err := fo.source.Changes(ctx, node, cursor, changesAtATime)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return fmt.Errorf("node %s has changes after %d, but returned none", node, cursor)
	}
	seen := map[beacon.HotspotID]bool{}
	var stale []beacon.HotspotID
	for _, c := range changes {
		if c.Seq != cursor+1 {
			return fmt.Errorf("node %s: change %d is followed by %d; the stream must not have gaps", node, cursor, c.Seq)
		}
		cursor = c.Seq
		switch {
		case c.Kind == beacon.KeyCreated || c.Kind == beacon.KeyRevoked:
			fo.onKey(beacon.KeyID(c.Target), c.Kind)
		case c.Kind.OfPerson():
			if fo.onPerson != nil {
				fo.onPerson(beacon.PersonID(c.Target))
			}
		case c.Kind == beacon.SettingChanged:
			fo.unshown = true
		case c.Kind.OfHotspot():
			id := beacon.HotspotID(c.Target)
			if !seen[id] && !fo.fleet.Has(id, c.Version) {
				seen[id] = true
				stale = append(stale, id)
			}
		}
	}
	if len(stale) > 0 {
		hotspots, err := fo.source.HotspotsByID(ctx, stale)
		if err != nil {
			return err
		}
		if err := fo.fleet.Apply(hotspots...); err != nil {
			return err
		}
	}
	fo.cursors[node] = cursor
	return nil
}
