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
