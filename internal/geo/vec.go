package geo

import "math"

// Vec is a place as a unit vector from the centre of the Earth. Among vectors
// the poles and the ±180° meridian are places like any other: what is near on
// the ground is near in space, and the straight line orders as the arc does.
type Vec [3]float64

// Vec gives the point as a unit vector. One place gives one vector: at ±90°
// every longitude gives the pole itself, and -180° and 180° are the same.
func (p Point) Vec() Vec {
	sinLat, cosLat := sincos(p.Lat)
	sinLng, cosLng := sincos(p.Lng)
	return Vec{cosLat * cosLng, cosLat * sinLng, sinLat}
}

// ChordSquared is the square of the straight line between two places through
// the Earth, whose radius is 1. The conversions keep a compiler from fusing the
// sums, so that every platform and every call site gets the same bits.
func (v Vec) ChordSquared(w Vec) float64 {
	x, y, z := v[0]-w[0], v[1]-w[1], v[2]-w[2]
	return float64(x*x) + float64(y*y) + float64(z*z)
}

// Meters is the distance on the ground, in whole micrometres. Everything finer
// is noise of the arithmetic: rounded off, two places that are equally far from
// a third compare as equal, and a place on the border of a radius is within it.
//
// A chord says little about its arc where that is nearly half the Earth, so
// beyond a quarter it is the way from the antipode that is measured.
func (v Vec) Meters(w Vec) float64 {
	squared := v.ChordSquared(w)
	if squared <= Quarter {
		return ArcMeters(squared)
	}
	return wholeMicrometres(math.Pi - arc(v.ChordSquared(Vec{-w[0], -w[1], -w[2]})))
}

// Quarter is the square of the chord from a pole to the equator.
const Quarter = 2

// ArcMeters is what Vec.Meters says of places that far apart, given the square
// of their chord. It is for chords up to Quarter.
func ArcMeters(chordSquared float64) float64 {
	return wholeMicrometres(arc(chordSquared))
}

func wholeMicrometres(arc float64) float64 {
	const perMeter = 1e6
	return math.RoundToEven(arc*(EarthRadius*perMeter)) / perMeter
}

// arc is the angle over a chord.
func arc(chordSquared float64) float64 {
	chord := math.Sqrt(chordSquared)
	const near = 1e-4 // 64 km: the next term of the series would add 1e-15
	if chordSquared < near {
		return chord * (1 + chordSquared*(1./24+chordSquared*(3./640)))
	}
	return 2 * math.Asin(chord/2)
}

// sincos is math.Sincos for degrees. The whole quarter turns are taken off in
// degrees, where they are exact; in radians cos(90°) would be 6e-17, and the
// pole would be another place for each longitude.
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
