// Package policy decides what a hotspot earns: a pure function from the facts of
// a day to three amounts, by the policy that is in force on it. It reads no
// clock, keeps nothing, and knows nothing of whose hotspot it is.
//
// Its one invariant: the same facts and the same version give the same amounts,
// whoever computes them, and whenever.
package policy

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Policy is one version of the rules (decision N18).
type Policy struct {
	Version int
	From    beacon.Day // the first day that it is in force on

	Availability beacon.Amount    // for a day that was served in all expected minutes
	Performance  [3]beacon.Amount // by tier: for each credit of availability
	PerGB        beacon.Amount    // for 10^9 bytes carried
	Cap          beacon.Amount    // the most for what was carried on a day
}

// Line writes the policy as one line of text, without its end: the word policy,
// the version, the first day, and the amounts in millionths, in the order of the
// fields. It is what a statement's hash is made over.
func (p *Policy) Line() string {
	return fmt.Sprintf("policy,%d,%s,%d,%d,%d,%d,%d,%d", p.Version, p.From, int64(p.Availability),
		int64(p.Performance[beacon.Standard]), int64(p.Performance[beacon.Enhanced]), int64(p.Performance[beacon.Premium]),
		int64(p.PerGB), int64(p.Cap))
}

// Book is all policies there are, in the order of their versions. The first is
// in force from the first day of 1970 on, and each until the next one is.
type Book []Policy

// On answers the policy that is in force on a day.
func (b Book) On(day beacon.Day) *Policy {
	for i := len(b) - 1; i > 0; i-- {
		if b[i].From <= day {
			return &b[i]
		}
	}
	return &b[0]
}

// Version answers the policy of a version; nil: there is none.
func (b Book) Version(n int) *Policy {
	if n < 1 || n > len(b) {
		return nil
	}
	return &b[n-1]
}

// In answers the policies that are in force on some day of a month.
func (b Book) In(month beacon.Month) []*Policy {
	var in []*Policy
	for n := b.On(month.First()).Version; n <= b.On(month.Last()).Version; n++ {
		in = append(in, b.Version(n))
	}
	return in
}
