package ground

import (
	"math"
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// A unit is 10⁻⁷ degrees, about a centimetre. Latitudes are counted in units from the
// South Pole and longitudes from 180° W.
const (
	halfTurn = 1_800_000_000
	fullTurn = 2 * halfTurn
	height   = 450 // of a row
	allRows  = halfTurn / height
	atMost   = fullTurn / height // squares in a row
)

// Place is a point in units: latitude and longitude as people write them, in whole
// 10⁻⁷ degrees.
type Place struct {
	Lat, Lng int32
}

// PlaceOf returns the place nearest to a valid point.
func PlaceOf(p geo.Point) Place {
	return Place{int32(math.Round(p.Lat * 1e7)), int32(math.Round(p.Lng * 1e7))}
}

func (p Place) fromSouth() int64 { return int64(p.Lat) + halfTurn/2 }

func (p Place) fromWest() int64 { return (int64(p.Lng) + halfTurn) % fullTurn }

// row is a row of squares.
type row struct {
	lat  int64  // of its middle
	cos  uint64 // of its latitude
	n    int64  // squares
	step uint64 // half of a unit, divided by n: see halfAngle
}

// rowAt returns a row, counted from the South Pole.
func rowAt(i int64) row {
	r := row{lat: i*height + height/2}
	r.cos = cosine(r.lat)
	hi, lo := bits.Mul64(r.cos, atMost)
	r.n = int64(hi<<2|lo>>62) + int64(lo>>61&1)
	r.step = halfUnit / uint64(r.n)
	return r
}

// rowOf returns the number of the row that a latitude is in.
func rowOf(lat int64) int64 { return min(lat/height, allRows-1) }

// halfAngle returns half of the angle between the middle of a square and a longitude.
func (r *row) halfAngle(square, lng int64) uint64 {
	d := (2*square+1)*halfTurn - r.n*lng
	return scaled(uint64(max(d, -d)), r.step)
}

// Sines, cosines and angles (in radians) are in fractions of 2⁶².
const (
	// halfUnit is half of a unit of 10⁻⁷ degrees: π/3.6e9, in fractions of 2⁹³.
	halfUnit = 8_642_451_851_119_134_904
	// halfMeter is the angle of half a metre on the ground: 1/(2 × geo.EarthRadius).
	halfMeter = 361_927_456_326
	// quarter is a quarter turn, rounded up.
	quarter = 7_244_019_458_077_122_843
)

// scaled returns n × step, where step is in fractions of 2⁹³.
func scaled(n, step uint64) uint64 {
	hi, lo := bits.Mul64(n, step)
	return hi<<33 | lo>>31
}

// times multiplies two fractions.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<2 | lo>>62
}

// sine returns the sine of an angle of at most a quarter turn, by its series.
func sine(x uint64) uint64 {
	sum, squared := x, times(x, x)
	for i, term := uint64(2), x; ; i += 4 {
		term = times(term, squared) / (i * (i + 1))
		sum -= term
		term = times(term, squared) / ((i + 2) * (i + 3))
		if term == 0 {
			return sum
		}
		sum += term
	}
}

// cosine returns the cosine of a latitude: the sine of its distance to the nearer
// pole.
func cosine(lat int64) uint64 {
	return sine(scaled(2*uint64(min(lat, halfTurn-lat)), halfUnit))
}
