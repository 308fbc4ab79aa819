package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// disc is an online Disc as the geometry uses it: all points of the sphere within an
// angle of its middle.
type disc struct {
	lat, lng       float64 // degrees
	radius         float64 // radians
	sinLat, cosLat float64
	sin, cos       float64 // of the radius
}

func newDisc(lat latitude, lng, meters float64) disc {
	s := disc{lat: lat.degrees, lng: lng, radius: meters * (1. / geo.EarthRadius), sinLat: lat.sin, cosLat: lat.cos}
	half := sine(s.radius / 2)
	s.sin, s.cos = sine(s.radius), 1-2*half*half
	return s
}

// area returns the ground that it covers, in steradians.
func (s *disc) area() float64 {
	half := sine(s.radius / 2)
	return 4 * math.Pi * half * half
}

// holdsPole reports whether one of the poles is, or may be, within.
func (s *disc) holdsPole() bool {
	return math.Abs(s.lat)*radian+s.radius > math.Pi/2-1e-12
}

// reaches reports whether the disc is not entirely beyond one of the sides or
// corners, nor behind the axis of the Earth. This is the only test of which discs
// belong to a rectangle: one that it excludes has no effect on the result, to the
// bit.
func (s *disc) reaches(r *rect) bool {
	degrees := s.radius / radian
	across := max(r.south-s.lat, s.lat-r.north)
	if across > degrees {
		return false
	}
	beyond := max(turned(s.lng-r.east), turned(r.west-s.lng))
	if beyond > 0 && s.cosLat*sine(beyond*radian) >= s.sin {
		return false
	}
	if across > 0 && beyond > 0 && s.cosLat > 0.2 && s.misses(across, beyond) {
		return false
	}
	aside := math.Abs(turned(s.lng - (r.west+r.east)/2))
	return aside <= 90 || -s.cosLat*math.Cos(aside*radian) < s.sin
}

// misses reports whether a corner that far away, in degrees of latitude and of
// longitude, is certainly out of reach. The slack allows for the nearest point being
// slightly beside the corner, since parallels are curved.
func (s *disc) misses(across, beyond float64) bool {
	const slack = 1 + 1e-3
	return haversine(across)+s.cosLat*(s.cosLat-s.radius)*haversine(beyond) > haversine(s.radius/radian)*slack
}

// isInside reports whether the disc is certainly clear of all sides.
func (s *disc) isInside(r *rect) bool {
	const margin = 1 + 1e-9
	degrees := s.radius / radian * margin
	if s.lat+degrees > r.north || s.lat-degrees < r.south {
		return false
	}
	west, east := turned(s.lng-r.west), turned(r.east-s.lng)
	return west > 0 && east > 0 && s.cosLat*sine(min(west, 90)*radian) > s.sin*margin &&
		s.cosLat*sine(min(east, 90)*radian) > s.sin*margin
}

// covers reports whether all of the rectangle is certainly within the disc. The point
// farthest from the middle is a corner: along a parallel the distance grows up to the
// meridian on the far side of the Earth, which only matters around a pole.
func (s *disc) covers(r *rect) bool {
	if max(s.lat-r.south, r.north-s.lat)*radian > s.radius || (r.east-r.west)*radian*(s.cosLat-s.radius) > 2.1*s.radius {
		return false // too far away or too wide, as most are
	}
	across := s.cosLat
	if !s.holdsPole() {
		across *= max(haversine(turned(s.lng-r.west)), haversine(turned(s.lng-r.east)))
	}
	limit := sine(s.radius / 2)
	limit *= limit
	return haversine(s.lat-r.south)+math.Cos(r.south*radian)*across <= limit &&
		haversine(s.lat-r.north)+math.Cos(r.north*radian)*across <= limit
}

func haversine(degrees float64) float64 {
	half := sine(degrees * (radian / 2))
	return half * half
}

// sine is math.Sin, faster for small angles.
func sine(x float64) float64 {
	if square := x * x; square < 1e-4 {
		return x * (1 - square*(1./6-square*(1./120)))
	}
	return math.Sin(x)
}

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

// isFull reports whether the discs, with radii up to largest, certainly cover the
// rectangle together, where none does so alone.
func (p *patches) isFull(r *rect, discs []disc, largest float64) bool {
	const widest = 1 // degree
	if r.east-r.west > widest {
		return false
	}
	// A degree of longitude is widest nearest to the equator.
	nearest := max(0, max(r.south, -r.north)*radian-largest)
	width := math.Cos(nearest) * radian
	// Too few are not worth a try.
	ground := ((r.east-r.west)*width + 2*largest) * ((r.north-r.south)*radian + 2*largest)
	if float64(len(discs))*largest*largest < ground {
		return false
	}
	p.all = p.all[:0]
	for i := range discs {
		s := &discs[i]
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
