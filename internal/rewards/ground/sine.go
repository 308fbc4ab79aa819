package ground

import "math/bits"

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
