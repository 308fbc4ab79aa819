package spatial

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Query asks for the nearest items.
type Query struct {
	Center geo.Point
	Radius float64 // metres; an item on the border is within
	Limit  int     // the most items to return; made for up to a few hundred
	Tags   Tags    // only items with one of these; zero: all items
}

// Hit is a found item and its distance from the centre.
type Hit[T Item] struct {
	Item   T
	Meters float64 // as geo.Distance returns it
}

// Nearest returns the items within the radius for which keep returns true, ordered by
// distance, then ID: the nearest ones, if there are more than the limit (decision
// N13). A nil keep keeps all. It is called only for items that would be in the
// result, in no particular order, and must always return the same for an item.
//
// The result overwrites out, and nothing is allocated if it fits there. An invalid
// query has no hits.
func (s *Snapshot[T]) Nearest(q Query, keep func(T) bool, out []Hit[T]) []Hit[T] {
	out = out[:0]
	if !q.Center.Valid() || !(q.Radius >= 0) || q.Limit <= 0 {
		return out
	}
	run := search[T]{
		at:     q.Center.Vec(),
		within: surelyWithin(q.Radius),
		Query:  q,
		keep:   keep,
		hits:   out,
	}
	run.bound, run.tie = notBeyond(q.Radius)
	run.visit(&s.root, geo.Vec{})
	for i := range run.hits {
		run.hits[i].Meters = run.meters(&run.hits[i])
	}
	return run.hits
}

// search is a search in progress. Its hits are always sorted, which for such small
// limits is faster than a heap. Until the end, Meters of a hit is the squared chord:
// it orders as the distance does, except for differences of micrometres, and costs a
// tenth.
type search[T Item] struct {
	Query
	at     geo.Vec
	bound  float64 // an item with a larger squared chord cannot be a hit
	within float64 // an item with a smaller one is within the radius
	tie    float64 // only if two differ by more is it certain which is farther
	keep   func(T) bool
	hits   []Hit[T]
}

// visit searches a branch, the nearer side of each fork first. On each axis, off is a
// lower bound of the distance from the centre to the branch. It bounds the exact bits
// of ChordSquared, since every step of either is monotonic, rounding included.
func (s *search[T]) visit(b *branch[T], off geo.Vec) {
	for b.fork != nil {
		f := b.fork
		beyond := s.at[f.axis] - f.pivot
		near := 0
		if beyond > 0 && !f.onePlace {
			near = 1
		}
		if s.wants(&f.kids[near]) {
			s.visit(&f.kids[near], off)
		}
		b = &f.kids[1-near]
		if !s.wants(b) {
			return
		}
		if f.onePlace {
			if s.outranks(f) {
				return
			}
			continue
		}
		off[f.axis] = beyond
		if off.ChordSquared(geo.Vec{}) > s.bound {
			return
		}
	}
	s.scan(b.leaf)
}

func (s *search[T]) wants(b *branch[T]) bool {
	return s.Tags == 0 || b.tags&s.Tags != 0
}

// outranks reports whether all hits come before anything on the second side of a fork
// at one place, because hits with lower IDs fill the result.
func (s *search[T]) outranks(f *fork[T]) bool {
	if len(s.hits) < s.Limit {
		return false
	}
	last := &s.hits[s.Limit-1]
	return s.meters(last) <= s.at.Meters(f.kids[1].anyPlace()) && last.Item.ID() < f.pivotID
}

// scan searches the entries of a leaf. It has Vec.ChordSquared inline, because the
// compiler keeps no array in registers.
func (s *search[T]) scan(leaf []entry[T]) {
	atX, atY, atZ := s.at[0], s.at[1], s.at[2]
	for i := range leaf {
		e := &leaf[i]
		x, y, z := e.at[0]-atX, e.at[1]-atY, e.at[2]-atZ
		chord := float64(x*x) + float64(y*y) + float64(z*z)
		if chord > s.bound {
			continue
		}
		hit := Hit[T]{e.item, chord}
		if s.qualifies(&hit) {
			s.add(hit)
		}
	}
}

// qualifies reports whether an item that may be near enough is a hit.
func (s *search[T]) qualifies(hit *Hit[T]) bool {
	switch {
	case hit.Meters > s.within && s.meters(hit) > s.Radius:
		return false
	case len(s.hits) == s.Limit && !s.before(hit, &s.hits[s.Limit-1]):
		return false
	case s.Tags != 0 && hit.Item.Tags()&s.Tags == 0:
		return false
	default:
		return s.keep == nil || s.keep(hit.Item)
	}
}

// add inserts a hit, in place of the last one if there is no more room.
func (s *search[T]) add(hit Hit[T]) {
	if len(s.hits) < s.Limit {
		s.hits = append(s.hits, hit)
	}
	i := len(s.hits) - 1
	for i > 0 {
		// s.before(&hit, &s.hits[i-1]), inlined for speed.
		more := s.hits[i-1].Meters - hit.Meters
		if more < -s.tie || (more <= s.tie && !s.beforeClosely(&hit, &s.hits[i-1])) {
			break
		}
		s.hits[i] = s.hits[i-1]
		i--
	}
	s.hits[i] = hit
	if len(s.hits) == s.Limit {
		last := s.hits[s.Limit-1].Meters
		s.tie = slack(last)
		s.bound = min(s.bound, last+s.tie)
	}
}

// before is the order of the result: by distance, then ID.
func (s *search[T]) before(a, b *Hit[T]) bool {
	more := b.Meters - a.Meters
	return more > s.tie || (more >= -s.tie && s.beforeClosely(a, b))
}

// beforeClosely is the order of two hits that are about equally far.
func (s *search[T]) beforeClosely(a, b *Hit[T]) bool {
	if x, y := s.meters(a), s.meters(b); x != y {
		return x < y
	}
	return a.Item.ID() < b.Item.ID()
}

// meters returns the distance of a hit whose Meters is still a squared chord.
func (s *search[T]) meters(hit *Hit[T]) float64 {
	if hit.Meters <= geo.Quarter {
		return geo.ArcMeters(hit.Meters)
	}
	return s.at.Meters(hit.Item.Place().Vec())
}

// A search compares squared chords, because a distance costs ten times as much. But
// distances are rounded to the micrometre, and equal ones are ordered by ID. So
// chords decide only where they differ by more than the slack; otherwise the
// distances do.

// step is two micrometres in radii of the Earth: two places whose chords differ by
// more are never equally far after rounding. The noise of a chord, a part in 10^16,
// is far below it.
const step = 2e-6 / geo.EarthRadius

// slack returns how much a squared chord grows with a step.
func slack(chordSquared float64) float64 {
	return step * (2*math.Sqrt(chordSquared) + step)
}

// notBeyond returns a squared chord that no place within the radius exceeds (an arc
// is longer than its chord), and the slack there.
func notBeyond(radius float64) (bound, tie float64) {
	arc := min(radius/geo.EarthRadius, math.Pi)
	tie = slack(arc * arc)
	return arc*arc + tie, tie
}

// surelyWithin returns a squared chord below which every place is within the radius.
// Beyond a quarter of the Earth's circumference no chord is proof of that.
func surelyWithin(radius float64) float64 {
	const quarter = math.Pi / 2
	arc := min(radius/geo.EarthRadius, quarter) - step
	if arc <= 0 {
		return -1
	}
	chord := 2 * math.Sin(arc/2)
	return chord * chord
}
