package geo

import "math"

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
