package registry

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// neighboursWithinM is how far from a hotspot its neighbours are.
	neighboursWithinM = 200
	// maxNeighbours is how many of them are returned: the nearest.
	maxNeighbours = 100
)

// Neighbours are the hotspots around one, the nearest first.
type Neighbours struct {
	Total   int // there may be more than are returned
	Nearest []Neighbour
}

// Neighbour is a hotspot near another.
type Neighbour struct {
	View
	DistanceM    float64
	SameOperator bool
}

// Neighbours returns what stands around a hotspot, by where visits found it or else where
// it is registered. It is for staff: the table of routes has checked the key.
func (r *Registry) Neighbours(ctx context.Context, _ beacon.Principal, hotspot beacon.HotspotID) (Neighbours, error) {
	of, err := r.find(ctx, hotspot)
	if err != nil {
		return Neighbours{}, err
	}
	tomorrow := beacon.DayOf(r.now()) + 1 // with the visits of today
	around := map[beacon.HotspotID]bool{}
	r.fleet.Around(of.PlaceOn(tomorrow).Point, neighboursWithinM, func(id beacon.HotspotID) { around[id] = true })
	delete(around, hotspot)
	hotspots, err := r.store.HotspotsByID(ctx, slices.Collect(maps.Keys(around)))
	if err != nil {
		return Neighbours{}, err
	}
	var all []Neighbour
	for _, h := range hotspots {
		if away := h.DistanceTo(&of, tomorrow); !h.Deleted() && away <= neighboursWithinM {
			all = append(all, Neighbour{View: r.view(h), DistanceM: away, SameOperator: h.Operator == of.Operator})
		}
	}
	slices.SortFunc(all, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(a.DistanceM, b.DistanceM), strings.Compare(string(a.ID), string(b.ID)))
	})
	return Neighbours{Total: len(all), Nearest: all[:min(len(all), maxNeighbours)]}, nil
}
