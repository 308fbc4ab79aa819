package coverage

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// radian is one degree in radians.
const radian = math.Pi / 180

// rect is the ground between two parallels and two meridians, in degrees. It is at
// most half the Earth wide and does not cross ±180°, so it is the intersection of its
// four sides, each of them a hemisphere or a cap.
type rect struct {
	south, north, west, east float64
}

// area returns the ground within, in steradians.
func (r rect) area() float64 {
	box := geo.Box{North: r.north, South: r.south, East: r.east, West: r.west}
	return box.Area() / (geo.EarthRadius * geo.EarthRadius)
}

// clip returns the intersection of two rectangles, which may be empty.
func (r rect) clip(o rect) rect {
	return rect{max(r.south, o.south), min(r.north, o.north), max(r.west, o.west), min(r.east, o.east)}
}

func (r rect) empty() bool { return !(r.south < r.north && r.west < r.east) }

// within reports whether o contains all of r.
func (r rect) within(o rect) bool {
	return r.south >= o.south && r.north <= o.north && r.west >= o.west && r.east <= o.east
}

// length returns the length of the longer sides, in radians.
func (r *rect) length() float64 {
	return max(r.north-r.south, r.width()) * radian
}

// width returns the width at the middle, from west to east, in degrees of a meridian.
func (r *rect) width() float64 {
	return (r.east - r.west) * math.Cos((r.south+r.north)/2*radian)
}

func (r *rect) middle() latitude { return newLatitude((r.south + r.north) / 2) }

// halves cuts the longer sides in two.
func (r *rect) halves() (one, other rect) {
	one, other = *r, *r
	if r.north-r.south > r.width() {
		one.south = (r.south + r.north) / 2
		other.north = one.south
	} else {
		one.east = (r.west + r.east) / 2
		other.west = one.east
	}
	return one, other
}

// turned brings a difference of longitudes into -180 to 180 degrees. A small one
// stays exact.
func turned(degrees float64) float64 {
	switch {
	case degrees > 180:
		return degrees - 360
	case degrees < -180:
		return degrees + 360
	default:
		return degrees
	}
}

// point is a point in the plane of a frame.
type point struct{ x, y float64 }

func (p point) cross(q point) float64 { return p.x*q.y - p.y*q.x }
func (p point) dot(q point) float64   { return p.x*q.x + p.y*q.y }

// frame is the stereographic projection of the sphere around a place: y points north
// there, and a point at angle c is tan(c/2) from the origin. Every circle of the
// sphere is a circle in it: the rims of discs, and parallels and meridians, which may
// be straight. Coordinates are formed from differences, so near the origin they are
// precise to the last bits.
type frame struct {
	lat, lng       float64
	sinLat, cosLat float64
}

func newFrame(s *disc) frame { return frame{s.lat, s.lng, s.sinLat, s.cosLat} }

// vector returns a place as east, north and up as seen from the origin.
func (f *frame) vector(lat, lng, sinLat, cosLat float64) (east, north, up float64) {
	away := turned(lng-f.lng) * radian
	half, higher := sine(away/2), (lat-f.lat)*radian
	bulge := 2 * cosLat * half * half
	east = cosLat * sine(away)
	north = sine(higher) + f.sinLat*bulge
	rise := sine(higher / 2)
	up = 1 - 2*rise*rise - f.cosLat*bulge
	return east, north, up
}

// at returns the projection of a place.
func (f *frame) at(lat latitude, lng float64) point {
	east, north, up := f.vector(lat.degrees, lng, lat.sin, lat.cos)
	return point{east / (1 + up), north / (1 + up)}
}

// latitude is a latitude with its sine and cosine, for repeated use.
type latitude struct{ degrees, sin, cos float64 }

func newLatitude(degrees float64) latitude {
	sin, cos := math.Sincos(degrees * radian)
	return latitude{degrees, sin, cos}
}

// near returns another latitude, at less cost if it is near.
func (l latitude) near(degrees float64) latitude {
	angle := (degrees - l.degrees) * radian
	if math.Abs(angle) > 0.01 {
		return newLatitude(degrees)
	}
	half, sin := sine(angle/2), sine(angle)
	cos := 1 - 2*half*half
	return latitude{degrees, l.sin*cos + l.cos*sin, l.cos*cos - l.sin*sin}
}

// circle is the projection of a disc. Its center is not quite the projection of the
// disc's middle.
type circle struct {
	disc   *disc
	center point
	radius float64
	middle point // the projection of the disc's middle
	rank   int   // among the circles of a group
}

func (f *frame) circle(s *disc) circle {
	east, north, up := f.vector(s.lat, s.lng, s.sinLat, s.cosLat)
	scale := 1 / (up + s.cos)
	return circle{
		disc:   s,
		center: point{east * scale, north * scale},
		radius: s.sin * scale,
		middle: point{east / (1 + up), north / (1 + up)},
	}
}

// triangle returns the signed area, in steradians, between the origin and the
// shortest path from p to q: positive if that turns left around the origin.
func triangle(p, q point) float64 {
	return 2 * arctan(p.cross(q), 1+p.dot(q))
}

// arctan is math.Atan2, faster where x is positive and the angle small.
func arctan(y, x float64) float64 {
	if t := y / x; x > 0 && math.Abs(t) < 1e-3 {
		square := t * t
		return t * (1 - square*(1./3-square*(1./5)))
	}
	return math.Atan2(y, x)
}

// sector returns the signed area between the origin and the rim of the disc from p to
// q, counterclockwise around the disc. From the middle of the disc it would be a
// slice of cake; triangles make up the difference to the origin.
func (c *circle) sector(p, q point) float64 {
	angle, sin, cos := c.angle(p, q)
	half := sine(c.disc.radius / 2)
	tan2 := c.disc.sin / (1 + c.disc.cos)
	tan2 *= tan2
	cake := 2 * half * half * angle
	return cake - 2*arctan(tan2*sin, 1+tan2*cos) + triangle(p, q)
}

// angle returns the angle at the middle of the disc, on the sphere, between two
// points of its rim, with its sine and cosine. The sphere is rotated so that the
// middle is the origin, by z → (z-m)/(1+m̄z).
func (c *circle) angle(p, q point) (angle, sin, cos float64) {
	m := c.middle
	up, uq := point{p.x - m.x, p.y - m.y}, point{q.x - m.x, q.y - m.y}
	vp, vq := point{1 + m.dot(p), m.cross(p)}, point{1 + m.dot(q), m.cross(q)}
	// The argument of (uq·conj(up))·(vp·conj(vq)).
	a, b := point{up.dot(uq), up.cross(uq)}, point{vq.dot(vp), vq.cross(vp)}
	sin, cos = a.x*b.y+a.y*b.x, a.x*b.x-a.y*b.y
	angle = math.Atan2(sin, cos)
	// Which way around is decided as where arcs are cut: seen from the center.
	isLong := point{p.x - c.center.x, p.y - c.center.y}.cross(point{q.x - c.center.x, q.y - c.center.y}) < 0
	if angle < 0 && (isLong || cos < 0) {
		angle += 2 * math.Pi
	} else if angle > 0 && isLong && cos > 0 {
		angle += 2 * math.Pi
	}
	length := math.Sqrt(sin*sin + cos*cos)
	return angle, sin / length, cos / length
}
