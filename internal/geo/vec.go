package geo

import "math"

// Vec is a place as a unit vector from the centre of the Earth. Vectors make the
// poles and the ±180° meridian places like any other: places near on the ground are
// near in space, and chords order as arcs do.
type Vec [3]float64

// Vec returns the point as a unit vector. One place has one vector: at ±90° every
// longitude yields the pole itself, and -180° and 180° are the same.
func (p Point) Vec() Vec {
	sinLat, cosLat := sincos(p.Lat)
	sinLng, cosLng := sincos(p.Lng)
	return Vec{cosLat * cosLng, cosLat * sinLng, sinLat}
}

// ChordSquared returns the square of the chord between two places, where the radius
// of the Earth is 1. The conversions keep a compiler from fusing the sums, so that
// every platform and every call site gets the same bits.
func (v Vec) ChordSquared(w Vec) float64 {
	x, y, z := v[0]-w[0], v[1]-w[1], v[2]-w[2]
	return float64(x*x) + float64(y*y) + float64(z*z)
}

// Meters returns the distance on the ground, in whole micrometres. Anything finer is
// noise of the arithmetic: after rounding, two places equally far from a third
// compare as equal, and a place on the border of a radius is within it.
//
// A chord says little about an arc of nearly half the Earth's circumference, so
// beyond a quarter the distance is measured from the antipode.
func (v Vec) Meters(w Vec) float64 {
	squared := v.ChordSquared(w)
	if squared <= Quarter {
		return ArcMeters(squared)
	}
	return wholeMicrometres(math.Pi - arc(v.ChordSquared(Vec{-w[0], -w[1], -w[2]})))
}

// Quarter is the square of the chord from a pole to the equator.
const Quarter = 2

// ArcMeters returns what Vec.Meters does for two places, given the square of their
// chord. It is for squares up to Quarter.
func ArcMeters(chordSquared float64) float64 {
	return wholeMicrometres(arc(chordSquared))
}

func wholeMicrometres(arc float64) float64 {
	const perMeter = 1e6
	return math.RoundToEven(arc*(EarthRadius*perMeter)) / perMeter
}

// arc returns the angle of a chord.
func arc(chordSquared float64) float64 {
	chord := math.Sqrt(chordSquared)
	const near = 1e-4 // 64 km: the next term of the series would add 1e-15
	if chordSquared < near {
		return chord * (1 + chordSquared*(1./24+chordSquared*(3./640)))
	}
	return 2 * math.Asin(chord/2)
}

// sincos is math.Sincos for degrees. Whole quarter turns are subtracted in degrees,
// where they are exact; in radians cos(90°) would be 6e-17, and the pole would be a
// different place for each longitude.
func sincos(degrees float64) (sin, cos float64) {
	quarters := math.RoundToEven(degrees / 90)
	sin, cos = math.Sincos((degrees - 90*quarters) * (math.Pi / 180))
	switch int(quarters) & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	default:
		return sin, cos
	}
}
