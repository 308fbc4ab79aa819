// Package fleet holds the live state of the network in memory: every hotspot, indexed
// by place and by id, with what responses about it need. It is a cache, not the
// source of truth: that is the store, whose changes a Follower applies here. It knows
// neither SQL nor JSON; the caller supplies how a hotspot is encoded.
//
// Its one invariant: a newer version of a hotspot is never replaced by an older one,
// in whatever order they arrive. So all copies of the fleet converge.
//
//	f := fleet.New(encode, table)
//	follower := fleet.NewFollower(f, store, onKey, companion, log)
//	err := follower.Load(ctx) // fills the fleet
//	go follower.Run(ctx)      // keeps it in step
//	hits := f.Nearby(fleet.NearbyQuery{Center: p, RadiusM: 500, Limit: 20, Now: now}, nil)
package fleet

import (
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/fleet/directory"
	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Encoder returns what responses show of a hotspot besides its id and that does not
// change by itself. It is called once for each version. The fleet keeps the text beside
// the id and never looks inside: its form belongs to those who write responses.
type Encoder func(beacon.Hotspot) string

// Fleet holds the hotspots. It is safe for concurrent use. A search for nearby
// hotspots never waits; a request for a map may first draw recent changes (see
// coverageMap).
type Fleet struct {
	encode Encoder
	table  *heartbeat.Table
	index  *spatial.Index[*Hotspot]
	roll   *directory.Roll[*Hotspot]
	chart  coverageMap

	mu         sync.Mutex                 // serializes writers: versions are compared and replaced in one step
	gone       map[beacon.HotspotID]int64 // by deleted hotspot: the version that deleted it
	tombstones []tombstone                // the same, oldest first
	departed   map[beacon.HotspotID]deleted
}

// tombstone is the tombstone of a deleted hotspot. It keeps the version for a while, so
// that an older copy still in flight cannot bring the hotspot back.
type tombstone struct {
	id      beacon.HotspotID
	version int64
	at      time.Time
}

// tombstoneTime is how long a tombstone is kept. It is longer than anything can be in
// flight: a request, or a read of changes, is abandoned after seconds.
const tombstoneTime = 10 * time.Minute

// New returns an empty fleet. Table keeps the heartbeat state of its hotspots.
func New(encode Encoder, table *heartbeat.Table) *Fleet {
	return &Fleet{
		encode: encode, table: table, index: spatial.New[*Hotspot](), roll: directory.New[*Hotspot](), chart: coverageMap{tree: coverage.New[*Hotspot]()},
		gone: map[beacon.HotspotID]int64{}, departed: map[beacon.HotspotID]deleted{},
	}
}

// Len returns the number of live hotspots.
func (f *Fleet) Len() int { return f.index.Snapshot().Len() }

// Has reports whether the fleet has this version of the hotspot, or a newer one.
func (f *Fleet) Has(id beacon.HotspotID, version int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known(id) >= version
}

// Apply takes over the hotspots that are newer than the known ones, and drops those
// that are deleted. For readers it is a single step.
func (f *Fleet) Apply(hotspots ...beacon.Hotspot) error {
	newest := make(map[beacon.HotspotID]beacon.Hotspot, len(hotspots))
	for _, h := range hotspots {
		if h.Version > newest[h.ID].Version {
			newest[h.ID] = h
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now() // the machine's clock: the age of a tombstone is not data
	f.expireTombstones(now)
	var put []entry
	var changed []*Hotspot
	var remove []string
	for id, h := range newest {
		if h.Version <= f.known(id) {
			continue
		}
		old, stood := f.index.Get(string(id))
		if stood {
			changed = append(changed, old)
		}
		if h.Deleted() {
			f.gone[id] = h.Version
			f.tombstones = append(f.tombstones, tombstone{id, h.Version, now})
			f.depart(h)
			remove = append(remove, string(id))
			continue
		}
		e := f.succeed(h)
		put = append(put, e)
		if !stood {
			changed = append(changed, e.Item)
		}
	}
	if len(put) == 0 && len(remove) == 0 {
		return nil
	}
	if err := f.show(put, remove); err != nil {
		return err
	}
	f.chart.enqueue(changed...)
	return nil
}

// show makes spots visible to searches and lists, and removes others.
func (f *Fleet) show(put []entry, remove []string) error {
	spots := make([]*Hotspot, len(put))
	for i, e := range put {
		spots[i] = e.Item
	}
	if err := f.index.Apply(spots, remove); err != nil {
		return err
	}
	f.roll.Apply(put, remove)
	return nil
}

// succeed returns the spot that replaces the hotspot's current one, if there is one,
// and takes over its heartbeat state.
func (f *Fleet) succeed(h beacon.Hotspot) entry {
	var before *heartbeat.Live
	if old, ok := f.index.Get(string(h.ID)); ok {
		before = old.live
	}
	e := f.newEntry(h)
	e.Item.live = f.enliven(before, h)
	return e
}

// enliven returns the heartbeat state of a hotspot. It is created when a device is
// first linked, and kept when the device is gone.
func (f *Fleet) enliven(live *heartbeat.Live, h beacon.Hotspot) *heartbeat.Live {
	if live == nil && neverServed(h) {
		return nil
	}
	return f.table.Place(live, h)
}

// neverServed reports whether a hotspot has no device, and had none recently.
func neverServed(h beacon.Hotspot) bool {
	return h.Device.LinkedAt.IsZero() && len(h.PastService) == 0
}

// fill puts spots, and the recently deleted hotspots, into an empty fleet.
func (f *Fleet) fill(spots []entry, gone []beacon.Hotspot) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range gone {
		f.depart(h)
	}
	return f.show(spots, nil)
}

// known returns the version of a hotspot that the fleet has, live or deleted, or 0 if
// it does not know the hotspot.
func (f *Fleet) known(id beacon.HotspotID) int64 {
	if spot, ok := f.index.Get(string(id)); ok {
		return spot.version
	}
	if d, ok := f.departed[id]; ok {
		return d.version
	}
	return f.gone[id]
}

// expireTombstones drops expired tombstones. It visits only those: a write does not wait,
// however many hotspots were deleted recently.
func (f *Fleet) expireTombstones(now time.Time) {
	for len(f.tombstones) > 0 && now.Sub(f.tombstones[0].at) > tombstoneTime {
		if old := f.tombstones[0]; f.gone[old.id] == old.version {
			delete(f.gone, old.id)
		}
		f.tombstones = f.tombstones[1:]
	}
}

// NearbyQuery asks for the hotspots nearest to a point (decision N13).
type NearbyQuery struct {
	Center  geo.Point
	RadiusM float64
	Limit   int
	Status  beacon.Status // empty: any
	Now     time.Time     // the moment the status is for
}

// Hit is a hotspot that was found.
type Hit = spatial.Hit[*Hotspot]

// Nearby returns hotspots ordered by distance, then id. The result overwrites out.
func (f *Fleet) Nearby(q NearbyQuery, out []Hit) []Hit {
	search := spatial.Query{Center: q.Center, Radius: q.RadiusM, Limit: q.Limit}
	var keep func(*Hotspot) bool
	switch q.Status {
	case beacon.Pending:
		search.Tags = pending
	case beacon.Online, beacon.Offline:
		search.Tags = active
		keep = func(s *Hotspot) bool { return s.heardAt(q.Now) == (q.Status == beacon.Online) }
	}
	return f.index.Snapshot().Nearest(search, keep, out)
}

// Find returns a hotspot by its id.
func (f *Fleet) Find(id beacon.HotspotID) (*Hotspot, bool) { return f.index.Get(string(id)) }

// Metrics returns the totals of a hotspot's heartbeats. It returns false if the fleet
// does not know the hotspot, or it never had a device.
func (f *Fleet) Metrics(id beacon.HotspotID, now time.Time) (metrics beacon.Metrics, ok bool) {
	f.With(id, func(live *heartbeat.Live) {
		metrics, ok = f.table.Metrics(live, now), true
	})
	return metrics, ok
}

// Wake is With for a hotspot for which a record or a heartbeat has turned up. Such a
// hotspot once had a device, though perhaps not now, so Wake creates its heartbeat
// state. It reports whether the fleet knows the hotspot.
func (f *Fleet) Wake(id beacon.HotspotID, fn func(*heartbeat.Live)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	spot, ok := f.index.Get(string(id))
	if !ok {
		return f.tendDeparted(id, fn)
	}
	if spot.live == nil {
		woken := *spot
		woken.live = f.table.Place(nil, beacon.Hotspot{ID: id})
		e, _ := f.roll.Snapshot().Get(string(id))
		e.Item = &woken
		if err := f.show([]entry{e}, nil); err != nil {
			return false // cannot happen: its place was valid before
		}
		f.chart.enqueue(spot)
		spot = &woken
	}
	fn(spot.live)
	return true
}

// With calls fn with the heartbeat state of a hotspot, if it has one. The state is
// the hotspot's only while fn runs: a *heartbeat.Live that is kept longer may become
// another hotspot's.
func (f *Fleet) With(id beacon.HotspotID, fn func(*heartbeat.Live)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if spot, ok := f.index.Get(string(id)); ok && spot.live != nil {
		fn(spot.live)
	}
}

// Replay applies durable heartbeats. Those of unknown hotspots are dropped: they were
// deleted long ago. That holds only if the fleet has every change made before the
// beats came; see Companion. Beats returns the hotspots that beat and were not
// announced as online.
func (f *Fleet) Replay(beats []heartbeat.Beat) (came []beacon.HotspotID) {
	for i := range beats {
		id := beacon.HotspotID(beats[i].Hotspot.Format(beacon.HotspotPrefix))
		switch spot, ok := f.Find(id); {
		case !ok:
			f.Tend(id, func(live *heartbeat.Live) { f.table.Apply(live, &beats[i]) })
		case spot.live == nil: // unlinked before this process knew its device
			f.Wake(id, func(live *heartbeat.Live) { f.table.Apply(live, &beats[i]) })
		case f.Beat(spot, &beats[i]):
			came = append(came, id)
		}
	}
	return came
}

// Beat applies one heartbeat of a hotspot that was just found. It reports whether the
// hotspot is active and not announced as online.
func (f *Fleet) Beat(spot *Hotspot, beat *heartbeat.Beat) (came bool) {
	f.table.Apply(spot.live, beat)
	if !spot.live.Lit() && spot.Active() {
		f.chart.enqueue(spot)
	}
	return !spot.live.Announced() && spot.Active()
}

// All calls yield for each hotspot of one snapshot until it returns false.
func (f *Fleet) All(yield func(*Hotspot) bool) { f.index.Snapshot().All(yield) }
