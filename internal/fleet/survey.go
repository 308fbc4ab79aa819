package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// Cluster stands for many hotspots where a map has no room for each.
type Cluster = coverage.Cluster

// Tile is a square of the web map.
type Tile = coverage.Tile

const (
	// MaxItems is the most hotspots or clusters that a survey shows.
	MaxItems = coverage.MaxClusters
	// closeZoom is the zoom from which a map shows single hotspots.
	closeZoom = 14
	// MaxZoom is the deepest zoom.
	MaxZoom = coverage.MaxZoom
	// AnyZoom shows single hotspots if there are not too many.
	AnyZoom = -1
)

// Survey is what is in a box, and what covers it, at one moment (decision N20).
type Survey struct {
	Count   int     // hotspots with their middle in the box, whatever their status
	Online  int     // those of them that are online
	AreaKm2 float64 // of the box, covered by online hotspots
	Share   float64 // of the box that is covered: 0 to 1
	Items
}

// Items are what a map shows: hotspots or, if there are too many, clusters.
type Items struct {
	Aggregated bool
	Marks      []MapItem
	Clusters   []Cluster
}

// MapItem is a hotspot as maps show it.
type MapItem struct {
	Hotspot *Hotspot
	Place   geo.Point // where it is shown
	Status  beacon.Status
}

// Survey returns the survey of a valid box. The zoom affects the items alone.
func (f *Fleet) Survey(box geo.Box, zoom int, now time.Time) Survey {
	drawn := f.drawn(now)
	s := Survey{AreaKm2: drawn.Area(box)}
	s.Count, s.Online = drawn.Count(box)
	s.Share = share(s.AreaKm2, box)
	switch {
	case s.Count > MaxItems && zoom == AnyZoom:
		zoom = MaxZoom
		fallthrough
	case s.Count > MaxItems, zoom != AnyZoom && zoom < closeZoom:
		s.Aggregated = true
		s.Clusters = drawn.Clusters(box, zoom)
	default:
		s.Marks = make([]MapItem, 0, s.Count)
		drawn.Each(box, s.mark)
	}
	return s
}

// share returns what share of a box an area is. A difference from 1 by rounding alone
// counts as 1; of a box too small to have an area, the share is 0.
func share(km2 float64, box geo.Box) float64 {
	const squareMeters, rounding = 1e6, 1e-12
	switch of := km2 * squareMeters / box.Area(); {
	case of >= 1-rounding:
		return 1
	case of >= 0:
		return of
	default: // 0/0
		return 0
	}
}

// WhatIf returns how many square kilometres of a box are covered, and how many would
// be with additional discs.
func (f *Fleet) WhatIf(box geo.Box, add []Addition, now time.Time) (before, after float64, err error) {
	discs := make([]coverage.Disc[*Hotspot], len(add))
	for i, a := range add {
		discs[i] = coverage.Disc[*Hotspot]{Item: imagined, Place: a.Place, RadiusM: a.RadiusM, Online: true}
	}
	// Of those at one place the last counts, since they have one ID: the largest.
	slices.SortFunc(discs, func(a, b coverage.Disc[*Hotspot]) int { return cmp.Compare(a.RadiusM, b.RadiusM) })
	return f.drawn(now).AreaWith(box, discs)
}

// Addition is a hypothetical hotspot.
type Addition struct {
	Place   geo.Point
	RadiusM float64
}

// imagined is what additions stand for.
var imagined = &Hotspot{text: "addition", idLen: uint8(len("addition"))}

// Tile returns what a map shows of a valid tile.
func (f *Fleet) Tile(t Tile, now time.Time) Items { return tileOf(f.drawn(now), t) }

func tileOf(drawn *coverage.Snapshot[*Hotspot], t Tile) (items Items) {
	count := drawn.TileCount(t)
	if t.Z < closeZoom || count > MaxItems {
		return Items{Aggregated: true, Clusters: drawn.TileClusters(t)}
	}
	items.Marks = make([]MapItem, 0, count)
	drawn.TileEach(t, items.mark)
	return items
}

func (i *Items) mark(d coverage.Disc[*Hotspot]) bool {
	m := MapItem{d.Item, d.Place, beacon.Pending}
	switch {
	case d.Online:
		m.Status = beacon.Online
	case d.Item.Active():
		m.Status = beacon.Offline
	}
	i.Marks = append(i.Marks, m)
	return true
}
