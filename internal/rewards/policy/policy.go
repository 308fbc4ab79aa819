// Package policy decides what a hotspot earns. It is a pure function from the facts
// of a day to three amounts, by the policy in force on that day. It reads no clock,
// stores nothing, and does not know who owns the hotspot.
//
// Its one invariant: the same facts and the same version always give the same
// amounts, on any machine.
//
// Policy files are read field by field, since decoding them into a struct would accept
// an absent field as zero, and could not say what a wrong one must be.
package policy

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Policy is one version of the rules (decision N18).
type Policy struct {
	Version int
	From    beacon.Day // the first day on which it is in force

	Availability beacon.Amount    // for a day served in all expected minutes
	Performance  [3]beacon.Amount // by tier: for each credit of availability
	PerGB        beacon.Amount    // for 10^9 bytes carried
	Cap          beacon.Amount    // the most that a day's traffic earns

	// A policy that pays places pays each square of ground once a minute, to one of the
	// hotspots around it. Cap is then for a day in which a hotspot owned all its squares.
	// Both are zero in a policy that pays devices.
	Radius   int           // in metres: how far the ground of a hotspot reaches
	Unproven beacon.Amount // the share paid to a hotspot whose place is not proven

	// StandingADay is how many minutes of a day count for standing: the hotspot that has
	// served more such minutes at its place comes first. Nothing is paid for a place that no
	// exact visit has found, and an excused minute as that minute of the day was paid before.
	// If it is zero, days count that have enough minutes, a place that nobody has found is
	// paid like one whose proof has ended, and excused minutes at the mean of all.
	StandingADay int
}

// Off reports whether rewards are off while the policy is in force: it has no terms, so
// nothing earns anything. Days are closed all the same, since what hotspots did on them is
// shown elsewhere too (decision D245).
func (p *Policy) Off() bool { return *p == Policy{Version: p.Version, From: p.From} }

// servedADay is how many minutes a hotspot must serve for a day to count, if days count.
const servedADay = 60

// PaysPlaces reports whether the policy pays places rather than devices.
func (p *Policy) PaysPlaces() bool { return p.Radius != 0 }

// Counts returns in what the standing of hotspots is counted.
func (p *Policy) Counts() beacon.StandingUnit {
	switch {
	case !p.PaysPlaces():
		return beacon.NoStanding
	case p.StandingADay == 0:
		return beacon.InDays
	}
	return beacon.InMinutes
}

// Standing returns what a day adds to the standing of a hotspot. found says that an exact
// visit had found it at its place.
func (p *Policy) Standing(served int, found bool) int {
	switch {
	case p.Counts() == beacon.InDays && served >= servedADay:
		return 1
	case p.Counts() == beacon.InMinutes && found:
		return min(served, p.StandingADay)
	}
	return 0
}

// Lines returns what a statement's hash covers of the policy: its line, and one with the
// columns of a held row, so that nobody can give them other names. Policies of earlier
// versions of the program have no such line.
func (p *Policy) Lines() []string {
	if p.Counts() != beacon.InMinutes {
		return []string{p.Line()}
	}
	return []string{p.Line(), "columns," + ledger.ColumnsOf(p.Counts()) + "," + ledger.HoldColumn + ",hash"}
}

// Line returns the policy as one line of text, without a newline: the word policy,
// the version, the first day, and the amounts in millionths, in the order of the
// fields. A policy that pays devices has no last three fields, and one that counts days of
// standing no last one.
func (p *Policy) Line() string {
	line := fmt.Sprintf("policy,%d,%s,%d,%d,%d,%d,%d,%d", p.Version, p.From, int64(p.Availability),
		int64(p.Performance[beacon.Standard]), int64(p.Performance[beacon.Enhanced]), int64(p.Performance[beacon.Premium]),
		int64(p.PerGB), int64(p.Cap))
	if p.PaysPlaces() {
		line += fmt.Sprintf(",%d,%d", p.Radius, int64(p.Unproven))
	}
	if p.StandingADay != 0 {
		line += fmt.Sprintf(",%d", p.StandingADay)
	}
	return line
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

// LinesIn returns the lines of these policies.
func (b Set) LinesIn(month beacon.Month) (lines []string) {
	for _, p := range b.In(month) {
		lines = append(lines, p.Lines()...)
	}
	return lines
}

// LastOn returns the newest policy that is not Off. Without any, it is the newest built-in
// one.
func (b Set) LastOn() Policy {
	for i := len(b) - 1; i >= 0; i-- {
		if !b[i].Off() {
			return b[i]
		}
	}
	return Newest()
}

// PlacesFrom returns the first day on which places are paid; false if there is none.
func (b Set) PlacesFrom() (from beacon.Day, found bool) {
	for i := range b {
		if b[i].PaysPlaces() {
			return b[i].From, true
		}
	}
	return 0, false
}

// gigabyte is how many bytes PerGB pays for.
const gigabyte = 1_000_000_000

// Reward returns what a day earned. Each of the three amounts is rounded down to the
// millionth by itself (decision N18). Performance is a share of the availability that
// is paid.
func (p *Policy) Reward(f beacon.Facts) beacon.Earned {
	available, most := p.available(f), p.Cap
	if p.PaysPlaces() {
		available, most = p.left(p.Availability, f)[paid], p.left(p.Cap, f)[paid]+f.Spare
	}
	return beacon.Earned{
		Availability: available,
		Performance:  share(available, p.Performance[f.Tier]),
		Utilization:  min(most, p.carried(f.Bytes)),
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

// ParseLine parses the output of Line.
func ParseLine(line string) (Policy, error) {
	words := strings.Split(line, ",")
	const ofDevices, ofPlaces, inMinutes = 9, 11, 12
	if n := len(words); n != ofDevices && n != ofPlaces && n != inMinutes || words[0] != "policy" {
		return Policy{}, fmt.Errorf("%.100q is not a policy", line)
	}
	version, err := strconv.Atoi(words[1])
	if err != nil {
		return Policy{}, fmt.Errorf("%.100q has no version", line)
	}
	p := Policy{Version: version}
	if p.From, err = beacon.ParseDay(words[2]); err != nil {
		return Policy{}, fmt.Errorf("%.100q: the first day %w", line, err)
	}
	var radius, standing beacon.Amount
	amounts := []*beacon.Amount{
		&p.Availability, &p.Performance[0], &p.Performance[1], &p.Performance[2], &p.PerGB, &p.Cap, &radius, &p.Unproven, &standing,
	}
	for i, word := range words[3:] {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return Policy{}, fmt.Errorf("%.100q: %q is not an amount", line, word)
		}
		*amounts[i] = beacon.Amount(n)
	}
	p.Radius, p.StandingADay = int(radius), int(standing)
	if p.Line() != line {
		return Policy{}, fmt.Errorf("%.100q is not written as a policy", line)
	}
	return p, nil
}
