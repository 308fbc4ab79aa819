package coverage

import "math"

// In a dense city most ground is covered many times over. A few comparisons can prove
// it: each piece of the ground is within some disc.

// mostPieces is how many pieces are examined before giving up. Pieces are counted,
// not tests of discs: the number of those depends on the order of the discs.
const mostPieces = 64

// patches test whether discs fill a rectangle, on a flat map that makes nothing too
// small: what is within a disc there is within it on Earth.
type patches struct {
	all    []patch
	pieces int // left to examine
}

// patch is a disc on the map, in radians.
type patch struct{ x, y, square float64 }

// isFull reports whether the spots certainly cover the rectangle together, where none
// does so alone.
func (p *patches) isFull(r *rect, spots []spot) bool {
	const widest = 1 // degree
	if r.east-r.west > widest {
		return false
	}
	largest := 0.0
	for i := range spots {
		largest = max(largest, spots[i].radius)
	}
	// A degree of longitude is widest nearest to the equator.
	nearest := max(0, max(r.south, -r.north)*radian-largest)
	width := math.Cos(nearest) * radian
	// Too few are not worth a try.
	ground := ((r.east-r.west)*width + 2*largest) * ((r.north-r.south)*radian + 2*largest)
	if float64(len(spots))*largest*largest < ground {
		return false
	}
	p.all = p.all[:0]
	for i := range spots {
		s := &spots[i]
		p.all = append(p.all, patch{turned(s.lng-r.west) * width, (s.lat - r.south) * radian, s.radius * s.radius})
	}
	p.pieces = mostPieces
	x, y := (r.east-r.west)*width/2, (r.north-r.south)*radian/2
	return p.fill(x, y, x, y)
}

// fill reports whether a piece of the map, given by its middle and half its width and
// height, is covered.
func (p *patches) fill(x, y, width, height float64) bool {
	if p.pieces == 0 {
		return false
	}
	p.pieces--
	isBare := true // in the middle
	for i := range p.all {
		dx, dy := math.Abs(p.all[i].x-x), math.Abs(p.all[i].y-y)
		if dx*dx+dy*dy > p.all[i].square {
			continue
		}
		isBare = false
		dx, dy = dx+width, dy+height
		if dx*dx+dy*dy <= p.all[i].square {
			return true
		}
	}
	if isBare {
		return false
	}
	width, height = width/2, height/2
	return p.fill(x-width, y-height, width, height) && p.fill(x+width, y-height, width, height) &&
		p.fill(x-width, y+height, width, height) && p.fill(x+width, y+height, width, height)
}
