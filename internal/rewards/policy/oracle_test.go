package policy_test

import (
	"math/big"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// The oracle computes decision N18 in fractions, without any limit of size.

func fraction(a beacon.Amount) *big.Rat { return big.NewRat(int64(a), 1_000_000) }

// floor cuts a fraction off behind its sixth digit.
func floor(r *big.Rat) *big.Rat {
	millionths := new(big.Rat).Mul(r, big.NewRat(1_000_000, 1))
	whole := new(big.Int).Div(millionths.Num(), millionths.Denom())
	return new(big.Rat).SetFrac(whole, big.NewInt(1_000_000))
}

type fractions struct{ availability, performance, utilization, carried *big.Rat }

func oracle(p *policy.Policy, f beacon.Facts) fractions {
	availability := new(big.Rat)
	if f.Expected != 0 {
		score := big.NewRat(int64(f.Served), int64(f.Expected))
		availability = floor(new(big.Rat).Mul(fraction(p.Availability), score))
	}
	rate := fraction(map[string]beacon.Amount{
		"standard": p.Performance[0], "enhanced": p.Performance[1], "premium": p.Performance[2],
	}[f.Tier.String()])
	gigabytes := new(big.Rat).SetFrac(new(big.Int).SetUint64(f.Bytes), big.NewInt(1_000_000_000))
	carried := floor(gigabytes.Mul(gigabytes, fraction(p.PerGB)))
	utilization := carried
	if most := fraction(p.Cap); carried.Cmp(most) > 0 {
		utilization = most
	}
	return fractions{availability, floor(new(big.Rat).Mul(availability, rate)), utilization, carried}
}
