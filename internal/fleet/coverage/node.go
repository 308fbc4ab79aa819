package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// leafSize is the most discs of a cell that is not divided into four. Fewer make
// small cells, which are quick to measure, but many of them.
const leafSize = 8

// Cells of the first levels are always divided: they are too wide for the geometry.
// Those of the last never are: they are smaller than discs, and dividing them would
// only take memory where many discs are at one place.
const firstLevel = 3

var lastLevel = [zones]uint8{mercator: 20, north: 14, south: 14}

// node is a cell of the tree: a fork of four or a leaf. A cell with neither discs nor
// covered ground has no node. A published node never changes.
type node[T Item] struct {
	fork   *fork[T]   // that contains it; nil for a leaf
	discs  []entry[T] // of a leaf, sorted
	area   float64    // covered, in steradians; unknown until measured, known once published
	reach  float32    // upper bound of the radius of its online discs
	widest uint16     // and of all its discs, in whole metres; of a fork
	sole   bool       // a leaf that a single disc covers entirely
	// pending is whether all discs of a fork are.
	pending bool
}

// fork is a node with its kids and their totals: as much as two cache lines hold.
type fork[T Item] struct {
	node node[T]
	kids [4]*node[T]
	totals
}

func newFork[T Item](kids [4]*node[T]) *node[T] {
	f := &fork[T]{kids: kids}
	f.node.fork, f.node.area = f, unknown
	return &f.node
}

// unknown is the area of a node that is not measured yet.
var unknown = math.NaN()

func (n *node[T]) isKnown() bool { return n == nil || !math.IsNaN(n.area) }

func (n *node[T]) count() int {
	switch {
	case n == nil:
		return 0
	case n.fork != nil:
		return int(n.fork.count)
	default:
		return len(n.discs)
	}
}

// kid returns one of the four nodes below, or nil.
func (n *node[T]) kid(i int) *node[T] {
	if n == nil || n.fork == nil {
		return nil
	}
	return n.fork.kids[i]
}

// newLeaf makes a leaf of sorted entries.
func newLeaf[T Item](entries []entry[T]) *node[T] {
	n := &node[T]{area: unknown}
	if len(entries) > 0 {
		n.discs = append(make([]entry[T], 0, len(entries)), entries...) // no spare capacity
	}
	most := 0.0
	for i := range entries {
		most = max(most, entries[i].radius)
	}
	n.reach = roundedUp(most)
	return n
}

func roundedUp(value float64) float32 {
	rounded := float32(value)
	if float64(rounded) < value {
		rounded = math.Nextafter32(rounded, math.MaxFloat32)
	}
	return rounded
}

func roundedDown(value float64) float32 { return -roundedUp(-value) }

// join makes one node of four: a leaf, if they have few discs.
func join[T Item](c cell, kids [4]*node[T]) *node[T] {
	count := 0
	for _, kid := range kids {
		count += kid.count()
	}
	if count <= leafSize && c.level >= firstLevel {
		var few [leafSize]entry[T]
		return newLeaf(collect(kids, few[:0]))
	}
	n := newFork(kids)
	var all summary
	for _, kid := range kids {
		if kid != nil {
			n.reach = max(n.reach, kid.reach)
			all.add(kid.summary())
		}
	}
	n.fork.totals, n.widest, n.pending = all.totals, uint16(math.Ceil(all.reach)), all.pending
	return n
}

// collect appends the entries of four nodes, and sorts them.
func collect[T Item](kids [4]*node[T], into []entry[T]) []entry[T] {
	for _, kid := range kids {
		switch {
		case kid == nil:
		case kid.fork != nil:
			into = collect(kid.fork.kids, into)
		default:
			into = append(into, kid.discs...)
		}
	}
	sortEntries(into)
	return into
}

// summary is what a map shows of many discs. It is formed in tree order.
type summary struct {
	totals
	reach   float64 // upper bound of the radii
	pending bool    // all of them are
}

// totals are what a fork keeps of a summary, besides its own reach.
type totals struct {
	sum           geo.Vec // of their places
	count, online int32
	bounds        bounds // of their places
}

// bounds is a compact rectangle, rounded outwards.
type bounds struct{ south, north, west, east float32 }

func summarize[T Item](e *entry[T]) summary {
	lng := e.lng
	if lng == 180 { // it is in the first column, like -180°
		lng = -180
	}
	s := summary{totals{
		sum: e.place().Vec(), count: 1,
		bounds: bounds{roundedDown(e.lat), roundedUp(e.lat), roundedDown(lng), roundedUp(lng)},
	}, math.Abs(e.radius), !e.online() && e.item.Pending()}
	if e.online() {
		s.online = 1
	}
	return s
}

func (s *summary) add(o summary) {
	switch {
	case o.count == 0:
		return
	case s.count == 0:
		*s = o
		return
	}
	for axis := range s.sum {
		s.sum[axis] += o.sum[axis]
	}
	s.count += o.count
	s.online += o.online
	s.pending = s.pending && o.pending
	s.reach = max(s.reach, o.reach)
	s.bounds = bounds{
		min(s.bounds.south, o.bounds.south), max(s.bounds.north, o.bounds.north),
		min(s.bounds.west, o.bounds.west), max(s.bounds.east, o.bounds.east),
	}
}

func (n *node[T]) summary() summary {
	if n.fork != nil {
		return summary{n.fork.totals, float64(n.widest), n.pending}
	}
	var s summary
	for i := range n.discs {
		s.add(summarize(&n.discs[i]))
	}
	return s
}

// center returns the mean of the places: the place in the direction of the sum,
// clamped to the bounds, since shortest paths bend toward the poles.
func (s *summary) center() geo.Point {
	x, y, z := s.sum[0], s.sum[1], s.sum[2]
	b := &s.bounds
	return geo.Point{
		Lat: min(max(math.Atan2(z, math.Hypot(x, y))/radian, float64(b.south)), float64(b.north)),
		Lng: min(max(math.Atan2(y, x)/radian, float64(b.west)), float64(b.east)),
	}
}

// radiusAround returns a radius that reaches from the center to the end of each disc,
// and may reach farther: the length of a path to the farthest corner of the bounds
// that goes east where a degree is longest, plus the largest radius.
func (s *summary) radiusAround(center geo.Point) float64 {
	south, north := float64(s.bounds.south), float64(s.bounds.north)
	up := max(north-center.Lat, center.Lat-south)
	along := max(float64(s.bounds.east)-center.Lng, center.Lng-float64(s.bounds.west))
	nearest := max(0, south, -north) // to the equator, of the bounds
	const halfway = math.Pi * geo.EarthRadius
	return min(math.Hypot(up, along*math.Cos(nearest*radian))*radian*geo.EarthRadius+s.reach, halfway)
}
