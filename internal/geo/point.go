// Package geo is the geometry of places on Earth: points, distances and boxes. It is
// a leaf package: it knows nothing of hotspots.
//
// Its invariant: a place has one vector, however its longitude is written, so the
// poles and ±180° need no special case.
package geo

import "math"

// EarthRadius is the mean radius of the Earth in metres (IUGG R1). Every distance in
// Beacon is measured on a sphere of this size (decision N13).
const EarthRadius = 6_371_008.8

// Point is a place in degrees.
type Point struct {
	Lat, Lng float64
}

// Valid reports whether the point is on Earth. It is written so that NaN fails: NaN <
// -90 is false, and so is NaN >= -90.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lng >= -180 && p.Lng <= 180
}

// Distance returns the length of the great-circle arc in metres, on the mean sphere
// (decision N13), to the micrometre: see Vec.Meters.
func Distance(a, b Point) float64 {
	return a.Vec().Meters(b.Vec())
}

// Toward returns the point at a distance in a direction, in degrees clockwise from north.
func (p Point) Toward(bearing, meters float64) Point {
	sinLat, cosLat := sincos(p.Lat)
	sinBearing, cosBearing := sincos(bearing)
	sinArc, cosArc := math.Sincos(meters / EarthRadius)
	sin := sinLat*cosArc + cosLat*sinArc*cosBearing
	east := math.Atan2(sinBearing*sinArc*cosLat, cosArc-sinLat*sin)
	return Point{
		Lat: math.Asin(min(max(sin, -1), 1)) * (180 / math.Pi),
		Lng: math.Remainder(p.Lng+east*(180/math.Pi), 360),
	}
}
