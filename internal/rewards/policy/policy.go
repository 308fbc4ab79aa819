// Package policy decides what a hotspot earns. It is a pure function from the facts
// of a day to three amounts, by the policy in force on that day. It reads no clock,
// stores nothing, and does not know who owns the hotspot.
//
// Its one invariant: the same facts and the same version always give the same
// amounts, on any machine.
package policy

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Policy is one version of the rules (decision N18).
type Policy struct {
	Version int
	From    beacon.Day // the first day on which it is in force

	Availability beacon.Amount    // for a day served in all expected minutes
	Performance  [3]beacon.Amount // by tier: for each credit of availability
	PerGB        beacon.Amount    // for 10^9 bytes carried
	Cap          beacon.Amount    // the most that a day's traffic earns
}

// Line returns the policy as one line of text, without a newline: the word policy,
// the version, the first day, and the amounts in millionths, in the order of the
// fields. A statement's hash covers it.
func (p *Policy) Line() string {
	return fmt.Sprintf("policy,%d,%s,%d,%d,%d,%d,%d,%d", p.Version, p.From, int64(p.Availability),
		int64(p.Performance[beacon.Standard]), int64(p.Performance[beacon.Enhanced]), int64(p.Performance[beacon.Premium]),
		int64(p.PerGB), int64(p.Cap))
}

// Set holds all policies, ordered by version. The first is in force from the first
// day of 1970, and each until the next one begins.
type Set []Policy

// On returns the policy in force on a day.
func (b Set) On(day beacon.Day) *Policy {
	for i := len(b) - 1; i > 0; i-- {
		if b[i].From <= day {
			return &b[i]
		}
	}
	return &b[0]
}

// Version returns the policy with a version, or nil if there is none.
func (b Set) Version(n int) *Policy {
	if n < 1 || n > len(b) {
		return nil
	}
	return &b[n-1]
}

// In returns the policies in force on some day of a month.
func (b Set) In(month beacon.Month) []*Policy {
	var in []*Policy
	for n := b.On(month.First()).Version; n <= b.On(month.Last()).Version; n++ {
		in = append(in, b.Version(n))
	}
	return in
}
