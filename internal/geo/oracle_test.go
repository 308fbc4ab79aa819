package geo_test

import (
	"math/big"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// The oracle is the haversine formula in 300 bits, with series of its own: it
// shares neither formula nor arithmetic with the package.

const bits = 300

func number(f float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(f) }

func blank() *big.Float { return new(big.Float).SetPrec(bits) }

func pi() *big.Float {
	p, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, bits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return p
}

func radians(degrees float64) *big.Float {
	r := blank().Mul(number(degrees), pi())
	return r.Quo(r, number(180))
}

// taylor sums term, term·-x²/((n+1)(n+2)), …: the sine from (x, 1), the cosine
// from (1, 0).
func taylor(term, x *big.Float, n int) *big.Float {
	sum, square := blank().Set(term), blank().Mul(x, x)
	for range 80 {
		term = blank().Quo(blank().Mul(term, square), number(float64((n+1)*(n+2))))
		term.Neg(term)
		sum.Add(sum, term)
		n += 2
	}
	return sum
}

func sine(x *big.Float) *big.Float   { return taylor(blank().Set(x), x, 1) }
func cosine(x *big.Float) *big.Float { return taylor(number(1), x, 0) }

// arctangent halves its argument's angle twelve times, then sums the series.
func arctangent(x *big.Float) *big.Float {
	const halvings = 12
	for range halvings {
		root := blank().Sqrt(blank().Add(number(1), blank().Mul(x, x)))
		x = blank().Quo(x, root.Add(root, number(1)))
	}
	sum, power, square := blank(), blank().Set(x), blank().Mul(x, x)
	for n := range 40 {
		term := blank().Quo(power, number(float64(2*n+1)))
		if n%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power = blank().Mul(power, square)
	}
	return sum.Mul(sum, number(1<<halvings))
}

func haversine(angle *big.Float) *big.Float {
	s := sine(blank().Quo(angle, number(2)))
	return s.Mul(s, s)
}

func oracleDistance(a, b geo.Point) float64 {
	h := haversine(blank().Sub(radians(b.Lat), radians(a.Lat)))
	across := haversine(blank().Sub(radians(b.Lng), radians(a.Lng)))
	across.Mul(across, cosine(radians(a.Lat)))
	across.Mul(across, cosine(radians(b.Lat)))
	h.Add(h, across)
	rest := blank().Sub(number(1), h)
	angle := pi()
	if rest.Cmp(number(1e-60)) > 0 {
		angle = blank().Mul(number(2), arctangent(blank().Sqrt(blank().Quo(h, rest))))
	}
	meters, _ := angle.Mul(angle, number(6_371_008.8)).Float64()
	return meters
}
