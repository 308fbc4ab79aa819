// Package geo is the geometry of places on Earth: points, distances, boxes. It
// is a leaf: it knows nothing of hotspots.
package geo

// EarthRadius is the mean radius of the Earth in metres (IUGG R1). Every
// distance of Beacon is measured on a sphere of this size (decision N13).
const EarthRadius = 6_371_008.8

// Point is a place in degrees.
type Point struct {
	Lat, Lng float64
}

// Valid reports whether the point is on Earth. Written so that NaN fails:
// NaN < -90 is false, and so is NaN >= -90.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lng >= -180 && p.Lng <= 180
}
