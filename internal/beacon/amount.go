package beacon

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Amount is money, in millionths of a credit. It is added and compared as an integer:
// no amount is ever a float (decision N17).
type Amount int64

// Credit is the unit in which amounts are shown.
const Credit Amount = 1_000_000

// amountDigits is how many digits a credit has after the point.
const amountDigits = 6

// Append appends the amount in credits: every digit, and no trailing zeros.
func (a Amount) Append(out []byte) []byte {
	rest := uint64(a)
	if a < 0 {
		out, rest = append(out, '-'), -rest
	}
	out = strconv.AppendUint(out, rest/uint64(Credit), 10)
	rest %= uint64(Credit)
	if rest > 0 {
		out = append(out, '.')
	}
	for unit := uint64(Credit / 10); rest > 0; unit /= 10 {
		out = append(out, '0'+byte(rest/unit))
		rest %= unit
	}
	return out
}

// String returns the amount as Append writes it.
func (a Amount) String() string { return string(a.Append(nil)) }

// MarshalJSON writes the amount as a number.
func (a Amount) MarshalJSON() ([]byte, error) { return a.Append(nil), nil }

var errAmount = errors.New("must be an amount such as 12.5, with at most six digits after the point")

// UnmarshalJSON reads a number, or a string that holds one. It never makes a float of
// it.
func (a *Amount) UnmarshalJSON(text []byte) (err error) {
	*a, err = ParseAmount(strings.Trim(string(text), `"`))
	return err
}

// ParseAmount reads an amount of less than a million million credits, exactly.
func ParseAmount(text string) (Amount, error) {
	whole, negative := strings.CutPrefix(text, "-")
	whole, part, point := strings.Cut(whole, ".")
	if whole == "" || len(whole) > 12 || point && part == "" || len(part) > amountDigits {
		return 0, errAmount
	}
	var n Amount
	for _, digit := range whole + part + strings.Repeat("0", amountDigits-len(part)) {
		if digit < '0' || digit > '9' {
			return 0, errAmount
		}
		n = n*10 + Amount(digit-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// RewardUnit is the unit of amounts (decision N17).
const RewardUnit = "credit"

// MinutesADay is how many minutes a UTC day always has.
const MinutesADay = 24 * 60

// Facts are what a hotspot did on one UTC day: all that its reward depends on. For a
// day that is not over they cover the minutes up to now.
type Facts struct {
	Served   int // minutes, of those expected
	Expected int // minutes

	// Why the other minutes were not expected: the hotspot's own hours, an outage of
	// the service, or because it was not yet, or no longer, in service.
	Closed, Excused, Outside int

	Bytes uint64 // carried in hours in which it was in service and open
	Tier  Tier

	Ground // zero under a policy that pays no places
}

// Did is what a hotspot did on a day, with the minutes that it served.
type Did struct {
	Facts
	Minutes Minutes
}

// Ground is what a reward depends on, besides, if places are paid: how much of the
// ground around the hotspot was its own. Shares and minutes are in millionths.
type Ground struct {
	Own    int64 // minutes served, each times the share of its squares that it owned in it
	Recent int64 // what it owned of each expected minute on the last seven closed days
	Proof  int64 // the share that is paid; never zero
	Days   int   // closed days on which it had served at this place

	Lat, Lng int32 // the place, in ten-millionths of a degree

	Shared int // minutes in which some of its squares belonged to older hotspots
	Older  int // number of those hotspots
}

// OnEarth reports whether the place exists.
func (g Ground) OnEarth() bool {
	const degree = 10_000_000
	return -90*degree <= g.Lat && g.Lat <= 90*degree && -180*degree <= g.Lng && g.Lng <= 180*degree
}

// None reports whether the hotspot was not in service at all. Such a day leaves no
// trace, whatever it carried.
func (f Facts) None() bool { return f.Expected == 0 && f.Closed == 0 && f.Excused == 0 && f.Bytes == 0 }

// Earned is what a hotspot, or a user, earned: three amounts (decision N18).
type Earned struct {
	Availability, Performance, Utilization Amount
}

// Total returns the sum of all three.
func (e Earned) Total() Amount { return e.Availability + e.Performance + e.Utilization }

// Plus returns the sum of two earnings.
func (e Earned) Plus(other Earned) Earned {
	return Earned{e.Availability + other.Availability, e.Performance + other.Performance, e.Utilization + other.Utilization}
}

// Owned is a hotspot and its owner, now or on a day. It sorts by user, then by
// hotspot.
type Owned struct {
	User    UserID
	Hotspot HotspotID
}

// OwnedRecord is the record of a hotspot's day, with its owner.
type OwnedRecord struct {
	Owned
	Data []byte
}

// HotspotName is how a list of rewards names a hotspot.
type HotspotName struct {
	ID        HotspotID
	Name      string
	DeletedAt time.Time // zero unless deleted
}
