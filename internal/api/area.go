package api

import (
	"math"
	"strconv"
)

// km2 is an area in units of 10^-12 km², which are square millimetres. Sums and
// differences of the areas shown are therefore exact.
type km2 struct {
	whole int64 // km²
	rest  int64 // fraction of 1 km², 0 to oneKm2-1
}

const oneKm2 = 1_000_000_000_000

// km2Of rounds to the nearest unit.
func km2Of(area float64) km2 {
	whole, rest := math.Modf(max(0, area))
	return km2{int64(whole), 0}.plus(int64(math.Round(rest * oneKm2)))
}

func (a km2) plus(rest int64) km2 {
	a.rest += rest
	if a.rest >= oneKm2 {
		a.whole, a.rest = a.whole+1, a.rest-oneKm2
	}
	return a
}

// minus subtracts b. The result is 0 if b is larger.
func (a km2) minus(b km2) km2 {
	a.whole, a.rest = a.whole-b.whole, a.rest-b.rest
	if a.rest < 0 {
		a.whole, a.rest = a.whole-1, a.rest+oneKm2
	}
	if a.whole < 0 {
		return km2{}
	}
	return a
}

func appendKm2(out []byte, a km2) []byte {
	out = strconv.AppendInt(out, a.whole, 10)
	return appendFraction(out, int(a.rest), oneKm2/10)
}
