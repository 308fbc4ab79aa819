// Package fleet holds the live state of the network in memory: every hotspot, indexed
// by place and by id, with what responses about it need. It is a cache, not the
// source of truth: that is the store, whose changes package replica applies here. It
// knows neither SQL nor JSON; the caller supplies how a hotspot is encoded.
//
// It is the only owner of live state: other packages call its methods, and none is
// handed a lock, the table of heartbeats or an entry of it.
//
// Its one invariant: a newer version of a hotspot is never replaced by an older one,
// in whatever order they arrive. So all copies of the fleet converge.
//
// Locks are taken in this order, and none is held during I/O:
//
//	Fleet.mu       → indexes, directory, table, queue of the map
//	coverageMap.mu → index, table, queue of the map
//
// Those on the right are leaves, like the lock of the openings, and no goroutine holds
// both on the left. A heartbeat takes the lock of the index once, to find the hotspot,
// and that of the table twice: to see whether the beat is known, and to apply it.
//
//	f := fleet.New(encode)
//	err := f.Load(each)       // fills the fleet
//	err = f.Apply(hotspot)    // keeps it in step
//	hits := f.Nearby(fleet.NearbyQuery{Center: p, RadiusM: 500, Limit: 20, Now: now}, nil)
package fleet

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/fleet/directory"
	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Encoder returns what responses show of a hotspot besides its id and that does not
// change by itself. It is called once for each version. The fleet keeps the text beside
// the id and never looks inside: its form belongs to those who write responses. Public is
// the hotspot as strangers see it, or nil if that is the same.
type Encoder func(h beacon.Hotspot, public *beacon.Hotspot) string

// Fleet holds the hotspots. It is safe for concurrent use. A search for nearby
// hotspots never waits; a request for a map may first draw recent changes (see
// coverageMap).
type Fleet struct {
	encode    Encoder
	outages   *heartbeat.Outages
	table     *heartbeat.Table // excuses the outages
	index     *spatial.Index[*Hotspot]
	directory *directory.Directory[*Hotspot]
	coverage  coverageMap
	openings  openings
	places    places
	blur      atomic.Pointer[beacon.Blur]
	displaced atomic.Bool // some hotspots are indexed at their public place

	mu        sync.Mutex // serializes writers: versions are compared and replaced in one step
	deleted   map[beacon.HotspotID]deletedHotspot
	changedAt time.Time // the latest UpdatedAt of all that were loaded or applied since it was taken
}

// New returns an empty fleet.
func New(encode Encoder) *Fleet {
	outages := heartbeat.NewOutages()
	f := &Fleet{
		encode: encode, outages: outages, table: heartbeat.NewTable(outages),
		index: spatial.New[*Hotspot](), directory: directory.New[*Hotspot](), coverage: coverageMap{tree: coverage.New[*Hotspot]()},
		openings: openings{byKey: map[string]weak.Pointer[opening]{}},
		places:   newPlaces(),
		deleted:  map[beacon.HotspotID]deletedHotspot{},
	}
	f.blur.Store(new(beacon.Blur))
	return f
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
func (f *Fleet) Apply(hotspots ...beacon.Hotspot) error { return f.apply(hotspots, false) }

// apply is Apply. With again, it also takes over hotspots of the known version.
func (f *Fleet) apply(hotspots []beacon.Hotspot, again bool) error {
	newest := make(map[beacon.HotspotID]beacon.Hotspot, len(hotspots))
	for _, h := range hotspots {
		if h.Version > newest[h.ID].Version {
			newest[h.ID] = h
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var put []entry
	var changed []*Hotspot
	var remove []string
	var newer []beacon.Hotspot
	for id, h := range newest {
		if known := f.known(id); h.Version < known || h.Version == known && !again {
			continue
		}
		newer = append(newer, h)
		f.changedAt = beacon.Later(f.changedAt, h.UpdatedAt)
		old, stood := f.index.Get(string(id))
		if stood {
			changed = append(changed, old)
		}
		if h.Deleted() {
			f.keepDeleted(h)
			remove = append(remove, string(id))
			continue
		}
		e := f.newEntry(h)
		put = append(put, e)
		if stood {
			e.Item.live = f.enliven(old.live, h)
		} else {
			e.Item.live = f.enliven(f.deleted[id].live, h) // it may be back
			delete(f.deleted, id)
			changed = append(changed, e.Item)
		}
	}
	if len(newer) == 0 {
		return nil
	}
	if err := f.places.set(newer...); err != nil {
		return err
	}
	if err := f.show(put, remove); err != nil {
		return err
	}
	f.coverage.enqueue(changed...)
	return nil
}

// show makes hotspots visible to searches and lists, and removes others.
func (f *Fleet) show(put []entry, remove []string) error {
	hotspots := make([]*Hotspot, len(put))
	for i, e := range put {
		hotspots[i] = e.Item
	}
	if err := f.index.Apply(hotspots, remove); err != nil {
		return err
	}
	f.directory.Apply(put, remove)
	return nil
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

// Load fills an empty fleet. each passes every hotspot to add, including those deleted
// so recently that their heartbeats still count. add may be called from several
// goroutines at once.
func (f *Fleet) Load(each func(add func(beacon.Hotspot) error) error) error {
	var mu sync.Mutex
	var all []entry // not hotspots: those are five times as large
	var gone, moved []beacon.Hotspot
	var changedAt time.Time
	err := each(func(h beacon.Hotspot) error {
		if h.Deleted() {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, h)
			return nil
		}
		e := f.newEntry(h) // in the caller's goroutine: there are several
		e.Item.live = f.enliven(nil, h)
		elsewhere := h.Elsewhere() != nil
		mu.Lock()
		defer mu.Unlock()
		changedAt = beacon.Later(changedAt, h.UpdatedAt)
		all = append(all, e)
		if elsewhere {
			moved = append(moved, h)
		}
		return nil
	})
	if err != nil {
		return err
	}
	pack(all)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changedAt = beacon.Later(f.changedAt, changedAt)
	for _, h := range gone {
		f.keepDeleted(h)
	}
	if err := f.places.set(append(moved, gone...)...); err != nil {
		return err
	}
	return f.show(all, nil)
}

// TakeChangedAt returns the time of the latest change of any hotspot since the last call,
// by the clock of the server that made it.
func (f *Fleet) TakeChangedAt() (at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, f.changedAt = f.changedAt, time.Time{}
	return at
}

// known returns the version of a hotspot that the fleet has, live or deleted, or 0 if
// it does not know the hotspot.
func (f *Fleet) known(id beacon.HotspotID) int64 {
	if current, ok := f.index.Get(string(id)); ok {
		return current.version
	}
	return f.deleted[id].version
}

// NearbyQuery asks for the hotspots nearest to a point (decision N13).
type NearbyQuery struct {
	Center  geo.Point
	RadiusM float64
	Limit   int
	Status  beacon.Status // empty: any
	Active  bool          // only those in service; if there is no Status
	Now     time.Time     // the moment the status is for

	Type        beacon.Type // empty: any
	Connectable bool        // only what someone who goes there can connect to: see Hotspot.ConnectableAt
}

// Hit is a hotspot that was found.
type Hit = spatial.Hit[*Hotspot]

// Nearby returns hotspots ordered by distance, then id. The result overwrites out.
func (f *Fleet) Nearby(q NearbyQuery, out []Hit) []Hit {
	search := spatial.Query{Center: q.Center, Radius: q.RadiusM, Limit: q.Limit}
	var keep func(*Hotspot) bool
	switch q.Status {
	case "":
		if q.Active {
			search.Tags = active
		}
	case beacon.Pending:
		search.Tags = pending
	case beacon.Online, beacon.Offline:
		search.Tags = active
		keep = func(s *Hotspot) bool { return s.heardAt(q.Now) == (q.Status == beacon.Online) }
	}
	if q.Type != "" || q.Connectable {
		keep = narrowed(q, keep)
	}
	return f.index.Snapshot().Nearest(search, keep, out)
}

// narrowed adds the filters that few queries have to keep, which may be nil.
func narrowed(q NearbyQuery, keep func(*Hotspot) bool) func(*Hotspot) bool {
	return func(s *Hotspot) bool {
		return (keep == nil || keep(s)) && (q.Type == "" || s.Type() == q.Type) && (!q.Connectable || s.ConnectableAt(q.Now))
	}
}

// Find returns a hotspot by its id.
func (f *Fleet) Find(id beacon.HotspotID) (*Hotspot, bool) { return f.index.Get(string(id)) }

// All calls yield for each hotspot of one snapshot until it returns false.
func (f *Fleet) All(yield func(*Hotspot) bool) { f.index.Snapshot().All(yield) }
