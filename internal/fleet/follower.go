package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Source is where changes come from: the store. See package store for what each
// promises; above all, that a node's changes become visible in their order.
type Source interface {
	Heads(ctx context.Context) (map[string]int64, error)
	Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error)
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	EachHotspot(ctx context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error
}

// Follower keeps a fleet in step with the store. Every process that writes has a
// stream of changes of its own, numbered without gaps; a follower keeps its
// place in each. That misses nothing, whatever the order in which transactions
// commit, and whoever was away catches up from where it stopped.
type Follower struct {
	fleet  *Fleet
	source Source
	log    *slog.Logger

	// onKey hears of every key that was created or revoked.
	onKey func(beacon.KeyID)

	companion Companion

	places map[string]int64 // by node: the last change that was taken over
	inStep atomic.Pointer[time.Time]
}

// Companion follows something else in the store that makes sense only together
// with the changes, such as heartbeats: a device beats after it was linked, so
// whoever looks at the beats first, then takes the changes over, and then the
// beats up to where he looked, knows every device that he hears.
type Companion interface {
	// Since is from when on it wants to know of hotspots that were deleted before
	// it began to follow.
	Since(ctx context.Context) (time.Time, error)
	Look(ctx context.Context) error
	Follow(ctx context.Context) error
}

const (
	pollInterval   = 200 * time.Millisecond
	stepTimeout    = 5 * time.Second
	changesAtATime = 500
)

// Freshness is how long ago the last look at the store may be for the fleet to
// count as in step with it (decision N23).
const Freshness = 2 * time.Second

// NewFollower prepares to follow; Load must come first.
func NewFollower(fleet *Fleet, source Source, onKey func(beacon.KeyID), companion Companion, log *slog.Logger) *Follower {
	return &Follower{fleet: fleet, source: source, onKey: onKey, companion: companion, log: log}
}

// Load fills the fleet. The places are read before the hotspots: what changes
// in between is met twice, never missed.
func (fo *Follower) Load(ctx context.Context) error {
	began := time.Now()
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return fmt.Errorf("read the heads of the changes: %w", err)
	}
	since, err := fo.companion.Since(ctx)
	if err != nil {
		return fmt.Errorf("find out since when deleted hotspots matter: %w", err)
	}
	var mu sync.Mutex
	var all []entry // not hotspots: those are five times as large
	var gone []beacon.Hotspot
	err = fo.source.EachHotspot(ctx, since, func(h beacon.Hotspot) error {
		if h.Deleted() {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, h)
			return nil
		}
		e := fo.fleet.newEntry(h) // in the reader's goroutine: there are several
		e.Item.live = fo.fleet.enliven(nil, h)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the hotspots: %w", err)
	}
	if err := fo.fleet.fill(pack(all), gone); err != nil {
		return err
	}
	fo.places = heads
	fo.inStep.Store(&began)
	return nil
}

// InStep reports whether the fleet had everything there was in the store at
// some moment within the last Freshness.
func (fo *Follower) InStep() bool { return fo.Age() <= Freshness }

// Age is how long ago the fleet last had everything there was in the store.
func (fo *Follower) Age() time.Duration {
	last := fo.inStep.Load()
	if last == nil {
		return math.MaxInt64 // never yet
	}
	return time.Since(*last)
}

// Run follows until ctx ends. While the store is away it keeps trying, and says
// so once.
func (fo *Follower) Run(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := fo.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !lost:
			fo.log.Error("cannot follow the changes of the database; answers may be stale until it is back", "err", err)
		case err == nil && lost:
			fo.log.Info("following the changes of the database again")
		}
		lost = err != nil
	}
}

// Step takes over everything that changed since the last one.
func (fo *Follower) Step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return fo.CatchUp(ctx)
}

// CatchUp is Step for when there may be much to take over: it takes the time
// that it needs.
func (fo *Follower) CatchUp(ctx context.Context) error {
	began := time.Now()
	if err := fo.companion.Look(ctx); err != nil {
		return err
	}
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return err
	}
	for node, head := range heads {
		for fo.places[node] < head {
			if err := fo.advance(ctx, node); err != nil {
				return err
			}
		}
	}
	if err := fo.companion.Follow(ctx); err != nil {
		return err
	}
	fo.inStep.Store(&began)
	return nil
}

// advance takes over the next changes of one node, and only then moves on.
func (fo *Follower) advance(ctx context.Context, node string) error {
	place := fo.places[node]
	changes, err := fo.source.Changes(ctx, node, place, changesAtATime)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return fmt.Errorf("node %s has changes after %d, and gives none", node, place)
	}
	seen := map[beacon.HotspotID]bool{}
	var stale []beacon.HotspotID
	for _, c := range changes {
		if c.Seq != place+1 {
			return fmt.Errorf("node %s: change %d is followed by %d; the stream must not have gaps", node, place, c.Seq)
		}
		place = c.Seq
		switch c.Kind {
		case beacon.KeyCreated, beacon.KeyRevoked:
			fo.onKey(beacon.KeyID(c.Target))
		case beacon.HotspotRegistered, beacon.HotspotUpdated, beacon.HotspotDeleted,
			beacon.HotspotVerified, beacon.HotspotLinked, beacon.HotspotUnlinked:
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
	fo.places[node] = place
	return nil
}
