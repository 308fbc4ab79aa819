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

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/geo"
	"github.com/beacon-wifi/beacon/spatial"
)

// Summary is a hotspot as a list shows it, encoded when it last changed: only
// the distance, which is another for each question, stands between the halves.
// Head contains the hotspot's id; Tail is the same for many hotspots.
type Summary struct {
	Head, Tail string
}

// Encode writes down a hotspot for lists.
type Encode func(h beacon.Hotspot, status beacon.Status) Summary

// Fleet holds the hotspots. It is safe for concurrent use; readers never wait.
type Fleet struct {
	encode Encode
	index  *spatial.Index[*Spot]

	mu     sync.Mutex                 // of writers: versions are compared and replaced in one step
	gone   map[beacon.HotspotID]int64 // the version in which a hotspot was deleted
	graves []grave                    // the same, the oldest first
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

// New makes an empty fleet.
func New(encode Encode) *Fleet {
	return &Fleet{encode: encode, index: spatial.New[*Spot](), gone: map[beacon.HotspotID]int64{}}
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
	spots := make([]*Spot, 0, len(hotspots))
	at := make(map[beacon.HotspotID]int, len(hotspots)) // where in spots
	for _, h := range hotspots {
		switch i, twice := at[h.ID]; {
		case !twice:
			at[h.ID] = len(spots)
			spots = append(spots, f.newSpot(h))
		case h.Version > spots[i].version:
			spots[i] = f.newSpot(h)
		}
	}
	return f.apply(spots)
}

// apply is Apply for spots of which no two are of one hotspot.
func (f *Fleet) apply(spots []*Spot) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now() // the age of graves is no data
	f.levelGraves(now)
	put := spots[:0]
	var remove []string
	for _, s := range spots {
		switch id := beacon.HotspotID(s.ID()); {
		case s.version <= f.known(id):
		case s.deleted:
			f.gone[id] = s.version
			f.graves = append(f.graves, grave{id, s.version, now})
			remove = append(remove, s.ID())
		default:
			put = append(put, s)
		}
	}
	if len(put) == 0 && len(remove) == 0 {
		return nil
	}
	return f.index.Apply(put, remove)
}

// known is the version of a hotspot that the fleet has, alive or dead; 0 if it
// never heard of it.
func (f *Fleet) known(id beacon.HotspotID) int64 {
	if spot, ok := f.index.Get(string(id)); ok {
		return spot.version
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
}

// Hit is a hotspot that was found.
type Hit = spatial.Hit[*Spot]

// Nearby finds hotspots, ordered by distance, then id. The answer is written
// over out.
func (f *Fleet) Nearby(q Query, out []Hit) []Hit {
	return f.index.Snapshot().Nearest(spatial.Query{
		Center: q.Center,
		Radius: q.RadiusM,
		Limit:  q.Limit,
		Tags:   tagOf(q.Status),
	}, nil, out)
}

// All calls yield for each hotspot of one moment until it returns false.
func (f *Fleet) All(yield func(*Spot) bool) { f.index.Snapshot().All(yield) }
