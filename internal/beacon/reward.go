package beacon

import "time"

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
