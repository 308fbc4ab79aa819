package edge

import (
	"math"
	"strconv"
)

// Fraction shows a number of ten-thousandths, which are the unit of the domain: 9987 is
// 0.9987.
func Fraction(n int) float64 { return float64(n) / 10_000 }

// ShareOf returns a share in ten-thousandths. It rounds to the nearest, but returns 1 only for all and 0 only for none.
func ShareOf(part, whole int) int {
	const one = 10_000
	if part == 0 || part == whole {
		return part / whole * one
	}
	return min(max((part*one+whole/2)/whole, 1), one-1)
}

func AppendTenThousandths(out []byte, n int) []byte {
	const one = 10_000
	out = append(out, byte('0'+n/one)) // at most 1
	return AppendFraction(out, int64(n%one), one/10)
}

// AppendFraction writes the digits after the decimal point without trailing zeros. unit
// is the value of the first digit.
func AppendFraction(out []byte, rest, unit int64) []byte {
	if rest == 0 {
		return out
	}
	out = append(out, '.')
	for ; rest > 0; unit /= 10 {
		out = append(out, byte('0'+rest/unit))
		rest %= unit
	}
	return out
}

// millionths is a fraction from 0 to 1 of which every digit shown is true.
type millionths int64

// ScoreOf rounds down: it returns 1 only if everything was served. It returns 0 if
// nothing was expected.
func ScoreOf(served, expected int64) millionths {
	if expected == 0 {
		return 0
	}
	const one = 1_000_000
	return millionths(served/expected*one + served%expected*one/expected)
}

// Share returns 0.9987 for 998700.
func (n millionths) Share() float64 { return float64(n) / 1_000_000 }

// String returns the share as text.
func (n millionths) String() string { return strconv.FormatFloat(n.Share(), 'f', -1, 64) }

// km2 is an area in units of 10^-12 km², which are square millimetres. Sums and
// differences of the areas shown are therefore exact.
type km2 struct {
	whole int64 // km²
	rest  int64 // fraction of 1 km², 0 to oneKm2-1
}

const oneKm2 = 1_000_000_000_000

// Km2Of rounds to the nearest unit.
func Km2Of(area float64) km2 {
	whole, rest := math.Modf(max(0, area))
	units := int64(math.Round(rest * oneKm2)) // up to oneKm2
	return km2{int64(whole) + units/oneKm2, units % oneKm2}
}

// Minus subtracts b. The result is 0 if b is larger.
func (a km2) Minus(b km2) km2 {
	a.whole, a.rest = a.whole-b.whole, a.rest-b.rest
	if a.rest < 0 {
		a.whole, a.rest = a.whole-1, a.rest+oneKm2
	}
	if a.whole < 0 {
		return km2{}
	}
	return a
}

func AppendKm2(out []byte, a km2) []byte {
	out = strconv.AppendInt(out, a.whole, 10)
	return AppendFraction(out, a.rest, oneKm2/10)
}

// RoundDegrees rounds an angle to 1e-7°, which is a centimetre.
func RoundDegrees(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }
