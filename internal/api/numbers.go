package api

import (
	"math"
	"strconv"
)

// tenThousandths is a fraction from 0 to 1, in the unit of the domain.
type tenThousandths int

// MarshalJSON writes 9987 as 0.9987.
func (n tenThousandths) MarshalJSON() ([]byte, error) { return appendTenThousandths(nil, int(n)), nil }

// shareOf rounds to the nearest, but returns 1 only for all and 0 only for none.
func shareOf(part, whole int) tenThousandths {
	const one = 10_000
	if part == 0 || part == whole {
		return tenThousandths(part / whole * one)
	}
	return tenThousandths(min(max((part*one+whole/2)/whole, 1), one-1))
}

// gigabytes is a number of bytes that is shown in units of 10^9.
type gigabytes uint64

// MarshalJSON writes 1500000000 as 1.5, exactly: with every digit and no float error.
func (n gigabytes) MarshalJSON() ([]byte, error) {
	const unit = 1_000_000_000
	out := strconv.AppendUint(nil, uint64(n)/unit, 10)
	return appendFraction(out, int(n%unit), unit/10), nil
}

func appendTenThousandths(out []byte, n int) []byte {
	const one = 10_000
	out = append(out, byte('0'+n/one)) // at most 1
	return appendFraction(out, n%one, one/10)
}

// appendFraction writes the digits after the decimal point without trailing zeros. unit
// is the value of the first digit.
func appendFraction(out []byte, rest, unit int) []byte {
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

// scoreOf rounds down: it returns 1 only if everything was served. It returns 0 if
// nothing was expected.
func scoreOf(served, expected int64) millionths {
	if expected == 0 {
		return 0
	}
	const one = 1_000_000
	return millionths(served/expected*one + served%expected*one/expected)
}

// MarshalJSON writes 998700 as 0.9987.
func (n millionths) MarshalJSON() ([]byte, error) { return appendMillionths(nil, n), nil }

// String returns the same text as MarshalJSON.
func (n millionths) String() string { return string(appendMillionths(nil, n)) }

func appendMillionths(out []byte, n millionths) []byte {
	const one = 1_000_000
	out = append(out, byte('0'+n/one)) // at most 1
	return appendFraction(out, int(n%one), one/10)
}

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
	units := int64(math.Round(rest * oneKm2)) // up to oneKm2
	return km2{int64(whole) + units/oneKm2, units % oneKm2}
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
