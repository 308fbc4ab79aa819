package fleet

import (
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// places finds hotspots by where they may be paid for, if that is far from where the
// index has them: hotspots that were moved since a visit, and deleted ones. They are few.
// Fleet.mu guards what is not the index.
type places struct {
	index   *spatial.Index[*pastPlace]
	points  map[beacon.HotspotID]int       // how many there are of a hotspot
	deleted map[beacon.HotspotID]time.Time // when it was
}

func newPlaces() places {
	return places{spatial.New[*pastPlace](), map[beacon.HotspotID]int{}, map[beacon.HotspotID]time.Time{}}
}

// pastPlace is one place of a hotspot.
type pastPlace struct {
	hotspot beacon.HotspotID
	number  int
	point   geo.Point
}

func (p *pastPlace) ID() string         { return string(p.hotspot) + "/" + strconv.Itoa(p.number) }
func (p *pastPlace) Place() geo.Point   { return p.point }
func (p *pastPlace) Tags() spatial.Tags { return 0 }

// set replaces what is known of some hotspots.
func (p *places) set(hotspots ...beacon.Hotspot) error {
	var put []*pastPlace
	var remove []string
	for i := range hotspots {
		h := &hotspots[i]
		points := h.Elsewhere()
		delete(p.deleted, h.ID) // it may be back
		switch {
		case !h.Deleted():
		case neverServed(*h): // it earned nothing anywhere
			points = nil
		default:
			points = append(points, h.Location.Point)
			p.deleted[h.ID] = h.DeletedAt
		}
		remove = append(remove, p.drop(h.ID)...)
		for n, point := range points {
			put = append(put, &pastPlace{h.ID, n, point})
		}
		if len(points) > 0 {
			p.points[h.ID] = len(points)
		}
	}
	if len(put) == 0 && len(remove) == 0 {
		return nil
	}
	return p.index.Apply(put, remove)
}

// drop forgets a hotspot and returns what is to be removed from the index.
func (p *places) drop(id beacon.HotspotID) (remove []string) {
	for n := range p.points[id] {
		remove = append(remove, (&pastPlace{hotspot: id, number: n}).ID())
	}
	delete(p.points, id)
	return remove
}

// purge forgets hotspots that were deleted before a moment.
func (p *places) purge(before time.Time) {
	var remove []string
	for id, at := range p.deleted {
		if at.Before(before) {
			remove = append(remove, p.drop(id)...)
			delete(p.deleted, id)
		}
	}
	if len(remove) > 0 {
		_ = p.index.Apply(nil, remove) // fails only for what is put
	}
}

// Around calls each for the hotspots that may be paid for at most withinM from a point,
// on a day that is not closed: those that were deleted or moved since as well. Some of
// them are farther away, and one may come twice.
func (f *Fleet) Around(p geo.Point, withinM float64, each func(beacon.HotspotID)) {
	q := spatial.Query{Center: p, Radius: withinM + beacon.PlaceWithinM, Limit: 1}
	if f.displaced.Load() {
		q.Radius += beacon.BlurWithinM
	}
	f.index.Snapshot().Nearest(q, func(h *Hotspot) bool {
		each(beacon.HotspotID(h.ID()))
		return false // look on
	}, nil)
	f.places.index.Snapshot().Nearest(q, func(h *pastPlace) bool {
		each(h.hotspot)
		return false
	}, nil)
}
