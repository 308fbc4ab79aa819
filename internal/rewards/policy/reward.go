package policy

import (
	"math/bits"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// gigabyte is how many bytes PerGB pays for.
const gigabyte = 1_000_000_000

// Reward returns what a day earned. Each of the three amounts is rounded down to the
// millionth by itself (decision N18). Performance is a share of the availability that
// is paid.
func (p *Policy) Reward(f beacon.Facts) beacon.Earned {
	available := p.available(f)
	return beacon.Earned{
		Availability: available,
		Performance:  share(available, p.Performance[f.Tier]),
		Utilization:  min(p.Cap, p.carried(f.Bytes)),
	}
}

func (p *Policy) available(f beacon.Facts) beacon.Amount {
	if f.Expected == 0 {
		return 0
	}
	return p.Availability * beacon.Amount(f.Served) / beacon.Amount(f.Expected)
}

// share returns rate credits for each credit of an amount.
func share(of, rate beacon.Amount) beacon.Amount { return of * rate / beacon.Credit }

// carried returns what bytes are worth before the cap. The product needs more than 64
// bits; the quotient does not, because PerGB is limited.
func (p *Policy) carried(bytes uint64) beacon.Amount {
	hi, lo := bits.Mul64(uint64(p.PerGB), bytes)
	worth, _ := bits.Div64(hi, lo, gigabyte)
	return beacon.Amount(worth)
}
