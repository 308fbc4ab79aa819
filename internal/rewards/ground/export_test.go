package ground

import (
	"math"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// How far the constants are from what they stand for, in their own fractions.
const (
	HalfUnitOff  = halfUnit - math.Pi*(1<<93)/fullTurn
	HalfMeterOff = halfMeter - (1<<62)/(2*geo.EarthRadius)
	QuarterOff   = quarter - math.Pi*(1<<61)
)

const (
	AllRows = allRows
	One     = 1 << 62
)

// Sine is sine.
func Sine(x uint64) uint64 { return sine(x) }

// SquaresInRow is how many squares a row has.
func SquaresInRow(i int64) int64 {
	r := rowAt(i)
	return r.n
}
