//go:build linux

package endtoend_test

import (
	"cmp"
	"math"
	"slices"
)

// The oracle of coverage integrates over the longitude how much of each meridian
// some discs cover. On one meridian that is a union of intervals of latitude, and
// the ground along an interval is a difference of two sines: only the integral
// over the longitude is a sum, and it is refined until it does not change.

// groundDisc is all ground within a way of a place.
type groundDisc struct{ lat, lng, radiusM float64 }

// groundBox is from south to north and from west eastwards to east.
type groundBox struct{ north, south, east, west float64 }

const (
	sphereM = 6_371_008.8 // decision N13
	degree  = math.Pi / 180
)

var wholeWorld = groundBox{90, -90, 180, -180}

func (b groundBox) width() float64 {
	if b.west > b.east {
		return b.east - b.west + 360
	}
	return b.east - b.west
}

// m2 is the ground in the box.
func (b groundBox) m2() float64 {
	return sphereM * sphereM * b.width() * degree * sineStep(b.south*degree, b.north*degree)
}

// holds reports whether a place is in the box. A pole is on every meridian, and
// ±180° are the same one.
func (b groundBox) holds(lat, lng float64) bool {
	if lat < b.south || lat > b.north || math.Abs(lat) == 90 {
		return lat == b.north || lat == b.south
	}
	within := func(lng float64) bool {
		if b.west > b.east {
			return lng >= b.west || lng <= b.east
		}
		return lng >= b.west && lng <= b.east
	}
	return within(lng) || math.Abs(lng) == 180 && within(-lng)
}

// sineStep is sin(high) - sin(low), without losing what is small.
func sineStep(low, high float64) float64 { return 2 * math.Cos((low+high)/2) * math.Sin((high-low)/2) }

// covered is how many square metres of the box the discs cover together.
func (b groundBox) covered(discs []groundDisc) float64 {
	sweep := sweep{south: b.south * degree, north: b.north * degree}
	for _, d := range discs {
		sweep.add(b, d)
	}
	turns := slices.DeleteFunc(sweep.turns(b), func(lng float64) bool { return !(lng > b.west && lng < b.west+b.width()) })
	turns = append(turns, b.west, b.west+b.width())
	slices.Sort(turns)
	sweep.tolerance /= float64(len(turns))
	sum := 0.0
	for i := 1; i < len(turns); i++ {
		sum += sweep.integrate(turns[i-1], turns[i], sweep.rule(turns[i-1], turns[i]), 0)
	}
	return sum * degree * sphereM * sphereM
}

// sweep goes over the meridians of a box. Longitudes are in degrees, because so
// the difference of two that are close is exact; all else is in radians.
type sweep struct {
	south, north float64
	discs        []sweptDisc
	tolerance    float64
	strips       []strip
}

type sweptDisc struct {
	lat, lng, radius float64
	reach            float64 // how far east and west, in degrees
}

// strip is a part of a meridian.
type strip struct{ low, high float64 }

// add takes a disc that may reach the box.
func (s *sweep) add(b groundBox, d groundDisc) {
	swept := sweptDisc{lat: d.lat * degree, lng: d.lng, radius: d.radiusM / sphereM, reach: 180}
	if math.Abs(swept.lat)+swept.radius < math.Pi/2 {
		swept.reach = math.Asin(math.Sin(swept.radius)/math.Cos(swept.lat)) / degree
	}
	off := math.Abs(math.Remainder(d.lng-b.west-b.width()/2, 360))
	if swept.lat-swept.radius > s.north || swept.lat+swept.radius < s.south || off > b.width()/2+swept.reach+1e-9 {
		return
	}
	s.discs = append(s.discs, swept)
	s.tolerance += 1e-10 * math.Pi * swept.radius * swept.radius / degree
}

// turns are the longitudes at which what is covered changes its formula: where a
// disc begins or ends, where it leaves the box, and where two rims cross.
func (s *sweep) turns(b groundBox) (at []float64) {
	for i, d := range s.discs {
		offs := []float64{-d.reach, d.reach}
		for _, side := range []float64{s.south, s.north} {
			square := math.Sin((d.radius+side-d.lat)/2) * math.Sin((d.radius-side+d.lat)/2) / (math.Cos(side) * math.Cos(d.lat))
			if square > 0 && square < 1 {
				off := 2 * math.Asin(math.Sqrt(square)) / degree
				offs = append(offs, -off, off)
			}
		}
		for _, off := range offs {
			at = append(at, d.lng+off)
		}
		for _, other := range s.discs[:i] {
			at = append(at, d.crossings(other)...)
		}
	}
	for i, lng := range at { // by the name that is in the box, if one is
		at[i] = b.west + math.Mod(lng-b.west+720, 360)
	}
	return at
}

// crossings are the longitudes at which two rims cross, as well as vectors tell:
// that is good enough to know where to look closely.
func (d sweptDisc) crossings(o sweptDisc) []float64 {
	a, b := d.vector(), o.vector()
	dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2]
	normal := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	square := normal[0]*normal[0] + normal[1]*normal[1] + normal[2]*normal[2]
	if square == 0 {
		return nil
	}
	p := (math.Cos(d.radius) - dot*math.Cos(o.radius)) / square
	q := (math.Cos(o.radius) - dot*math.Cos(d.radius)) / square
	rest := (1 - p*p - q*q - 2*p*q*dot) / square
	if !(rest >= 0) {
		return nil
	}
	var at []float64
	for _, side := range []float64{-math.Sqrt(rest), math.Sqrt(rest)} {
		at = append(at, math.Atan2(p*a[1]+q*b[1]+side*normal[1], p*a[0]+q*b[0]+side*normal[0])/degree)
	}
	return at
}

func (d sweptDisc) vector() [3]float64 {
	lng := d.lng * degree
	return [3]float64{math.Cos(d.lat) * math.Cos(lng), math.Cos(d.lat) * math.Sin(lng), math.Sin(d.lat)}
}

// on is the part of a meridian that the disc covers: as far to the north and to
// the south of the point on it that is next to the disc's middle.
func (d sweptDisc) on(lng float64) (part strip, ok bool) {
	off := math.Remainder(lng-d.lng, 360)
	if math.Abs(off) >= d.reach {
		return strip{}, false
	}
	off *= degree
	foot := math.Atan2(math.Sin(d.lat), math.Cos(d.lat)*math.Cos(off))
	away := math.Asin(math.Cos(d.lat) * math.Sin(off))
	square := math.Sin(d.radius-away) * math.Sin(d.radius+away)
	if !(square > 0) {
		return strip{}, false
	}
	half := math.Asin(math.Sqrt(square) / math.Cos(away))
	return strip{foot - half, foot + half}, true
}

// along is how much ground of a meridian, for its width, the discs cover.
func (s *sweep) along(lng float64) float64 {
	s.strips = s.strips[:0]
	for i := range s.discs {
		part, ok := s.discs[i].on(lng)
		part = strip{max(part.low, s.south), min(part.high, s.north)}
		if ok && part.low < part.high {
			s.strips = append(s.strips, part)
		}
	}
	slices.SortFunc(s.strips, func(a, b strip) int { return cmp.Compare(a.low, b.low) })
	sum, reached := 0.0, s.south
	for _, part := range s.strips {
		if low := max(part.low, reached); part.high > low {
			sum += sineStep(low, part.high)
			reached = part.high
		}
	}
	return sum
}

// gaussPoints are Gauss's eight points and weights, those of one side.
var gaussPoints = [4][2]float64{
	{0.1834346424956498, 0.3626837833783620},
	{0.5255324099163290, 0.3137066458778873},
	{0.7966664774136267, 0.2223810344533745},
	{0.9602898564975363, 0.1012285362903763},
}

// rule integrates from one longitude to another. A disc begins and ends like a
// root, which is smooth over the angle on a half circle above the interval.
func (s *sweep) rule(low, high float64) float64 {
	sum := 0.0
	for _, g := range gaussPoints {
		for _, x := range []float64{-g[0], g[0]} {
			angle := (x + 1) * math.Pi / 2
			sum += g[1] * math.Sin(angle) * s.along((low+high)/2-(high-low)/2*math.Cos(angle))
		}
	}
	return sum * math.Pi / 4 * (high - low)
}

// integrate halves the interval until that changes nothing.
func (s *sweep) integrate(low, high, whole float64, depth int) float64 {
	middle := (low + high) / 2
	left, right := s.rule(low, middle), s.rule(middle, high)
	if math.Abs(left+right-whole) <= s.tolerance || depth == 40 {
		return left + right
	}
	return s.integrate(low, middle, left, depth+1) + s.integrate(middle, high, right, depth+1)
}
