// Package geo is the geometry of places on Earth: points, distances and boxes. It is
// a leaf package: it knows nothing of hotspots.
//
// Its invariant: a place has one vector, however its longitude is written, so the
// poles and ±180° need no special case.
package geo

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
