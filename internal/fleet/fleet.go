// Package fleet is the live picture of the network, in memory: every hotspot by
// its place, with what answers about it need. It is a picture, not the truth:
// that is the store's, whose changes a Follower brings here. It knows neither
// SQL nor JSON; how a hotspot is written down is handed in.
//
// Its one invariant: of a hotspot, a newer version is never replaced by an older
// one, in whatever order they arrive. So copies of the fleet converge.
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

// Encode writes down of a hotspot what lists show of it and what does not change
// by itself. The text contains the hotspot's id.
type Encode func(beacon.Hotspot) string

// Fleet holds the hotspots. It is safe for concurrent use. Who looks for hotspots
// never waits; who asks for a map may draw what has just changed (see chart).
type Fleet struct {
	encode Encode
	table  *heartbeat.Table
	index  *spatial.Index[*Spot]
	roll   *directory.Roll[*Spot]
	chart  chart

	mu       sync.Mutex                 // of writers: versions are compared and replaced in one step
	gone     map[beacon.HotspotID]int64 // the version in which a hotspot was deleted
	graves   []grave                    // the same, the oldest first
	departed map[beacon.HotspotID]departed
}

// grave remembers a deleted hotspot's version for a while, so that an older
// copy which is still under way cannot bring it back to life.
type grave struct {
	id      beacon.HotspotID
	version int64
	dug     time.Time
}

// graveTime is longer than anything can be under way: a request or a reading of
// changes is given up after seconds.
const graveTime = 10 * time.Minute

// New makes an empty fleet, whose hotspots' vitals are in the table.
func New(encode Encode, table *heartbeat.Table) *Fleet {
	return &Fleet{
		encode: encode, table: table, index: spatial.New[*Spot](), roll: directory.New[*Spot](), chart: chart{tree: coverage.New[*Spot]()},
		gone: map[beacon.HotspotID]int64{}, departed: map[beacon.HotspotID]departed{},
	}
}

// Len is the number of live hotspots.
func (f *Fleet) Len() int { return f.index.Snapshot().Len() }

// Has reports whether the fleet has the hotspot in this version or a newer one.
func (f *Fleet) Has(id beacon.HotspotID, version int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known(id) >= version
}

// Apply takes over the hotspots that are newer than what is known, all of them
// in one step for readers, and drops those that are deleted.
func (f *Fleet) Apply(hotspots ...beacon.Hotspot) error {
	newest := make(map[beacon.HotspotID]beacon.Hotspot, len(hotspots))
	for _, h := range hotspots {
		if h.Version > newest[h.ID].Version {
			newest[h.ID] = h
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now() // the age of graves is no data
	f.levelGraves(now)
	var put []entry
	var changed []*Spot
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
			f.graves = append(f.graves, grave{id, h.Version, now})
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
	f.chart.tell(changed...)
	return nil
}

// show puts spots where searches and lists find them, and takes others away.
func (f *Fleet) show(put []entry, remove []string) error {
	spots := make([]*Spot, len(put))
	for i, e := range put {
		spots[i] = e.Item
	}
	if err := f.index.Apply(spots, remove); err != nil {
		return err
	}
	f.roll.Apply(put, remove)
	return nil
}

// succeed makes the spot that takes the place of the one that shows the hotspot
// now, if there is one, and hands its vitals on.
func (f *Fleet) succeed(h beacon.Hotspot) entry {
	var before *heartbeat.Live
	if old, ok := f.index.Get(string(h.ID)); ok {
		before = old.live
	}
	e := f.newEntry(h)
	e.Item.live = f.enliven(before, h)
	return e
}

// enliven gives a hotspot vitals from the moment on which a device is linked. It
// keeps them when the device is gone.
func (f *Fleet) enliven(live *heartbeat.Live, h beacon.Hotspot) *heartbeat.Live {
	if live == nil && neverServed(h) {
		return nil
	}
	return f.table.Place(live, h)
}

// neverServed reports whether a hotspot has no device, and none of late.
func neverServed(h beacon.Hotspot) bool {
	return h.Device.LinkedAt.IsZero() && len(h.PastService) == 0
}

// fill puts spots into an empty fleet, and who departed of late.
func (f *Fleet) fill(spots []entry, gone []beacon.Hotspot) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range gone {
		f.depart(h)
	}
	return f.show(spots, nil)
}

// known is the version of a hotspot that the fleet has, alive or dead; 0 if it
// never heard of it.
func (f *Fleet) known(id beacon.HotspotID) int64 {
	if spot, ok := f.index.Get(string(id)); ok {
		return spot.version
	}
	if d, ok := f.departed[id]; ok {
		return d.version
	}
	return f.gone[id]
}

// levelGraves forgets the dead of long ago. It looks only at those: however many
// were deleted of late, a write does not wait for them.
func (f *Fleet) levelGraves(now time.Time) {
	for len(f.graves) > 0 && now.Sub(f.graves[0].dug) > graveTime {
		if old := f.graves[0]; f.gone[old.id] == old.version {
			delete(f.gone, old.id)
		}
		f.graves = f.graves[1:]
	}
}

// Query asks for the hotspots nearest to a point (decision N13).
type Query struct {
	Center  geo.Point
	RadiusM float64
	Limit   int
	Status  beacon.Status // empty: any
	Now     time.Time     // when the status is asked for
}

// Hit is a hotspot that was found.
type Hit = spatial.Hit[*Spot]

// Nearby finds hotspots, ordered by distance, then id. The answer is written
// over out.
func (f *Fleet) Nearby(q Query, out []Hit) []Hit {
	search := spatial.Query{Center: q.Center, Radius: q.RadiusM, Limit: q.Limit}
	var keep func(*Spot) bool
	switch q.Status {
	case beacon.Pending:
		search.Tags = pending
	case beacon.Online, beacon.Offline:
		search.Tags = active
		keep = func(s *Spot) bool { return s.heardAt(q.Now) == (q.Status == beacon.Online) }
	}
	return f.index.Snapshot().Nearest(search, keep, out)
}

// Find gives a hotspot by its id.
func (f *Fleet) Find(id beacon.HotspotID) (*Spot, bool) { return f.index.Get(string(id)) }

// Metrics are what a hotspot's heartbeats add up to; false if the fleet does not
// know the hotspot, or it never had a device.
func (f *Fleet) Metrics(id beacon.HotspotID, now time.Time) (metrics beacon.Metrics, ok bool) {
	f.With(id, func(live *heartbeat.Live) {
		metrics, ok = f.table.Metrics(live, now), true
	})
	return metrics, ok
}

// Wake is With for a hotspot of which a record or a beat has turned up: it had a
// device once, even if it has none now, and gets vitals. It reports whether the
// fleet knows the hotspot.
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
			return false // it stands nowhere: cannot happen, it stood somewhere before
		}
		f.chart.tell(spot)
		spot = &woken
	}
	fn(spot.live)
	return true
}

// With calls fn with the vitals of a hotspot, if it has some. They stay the
// hotspot's while fn runs: who keeps a *heartbeat.Live for longer may find another
// hotspot's there.
func (f *Fleet) With(id beacon.HotspotID, fn func(*heartbeat.Live)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if spot, ok := f.index.Get(string(id)); ok && spot.live != nil {
		fn(spot.live)
	}
}

// Beats takes durable heartbeats over. Those of hotspots that the fleet does not
// know are dropped: they were deleted long ago. That holds only if the fleet has every
// change that was made before the beats came; see Companion. It answers the
// hotspots that beat and were not announced as online.
func (f *Fleet) Beats(beats []heartbeat.Beat) (came []beacon.HotspotID) {
	for i := range beats {
		id := beacon.HotspotID(beats[i].Hotspot.Format(beacon.HotspotPrefix))
		switch spot, ok := f.Find(id); {
		case !ok:
			f.Tend(id, func(live *heartbeat.Live) { f.table.Apply(live, &beats[i]) })
		case spot.live == nil: // unlinked since, and we were not there
			f.Wake(id, func(live *heartbeat.Live) { f.table.Apply(live, &beats[i]) })
		case f.Beat(spot, &beats[i]):
			came = append(came, id)
		}
	}
	return came
}

// Beat takes over one heartbeat of a hotspot that was found a moment ago. It
// reports whether the hotspot was not announced as online.
func (f *Fleet) Beat(spot *Spot, beat *heartbeat.Beat) (came bool) {
	f.table.Apply(spot.live, beat)
	if !spot.live.Lit() && spot.Active() {
		f.chart.tell(spot)
	}
	return !spot.live.Announced() && spot.Active()
}

// All calls yield for each hotspot of one moment until it returns false.
func (f *Fleet) All(yield func(*Spot) bool) { f.index.Snapshot().All(yield) }
