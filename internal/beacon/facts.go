package beacon

import (
	"cmp"
	"time"
)

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

// Did is what a hotspot did on a day, with the minutes that it served, and those that were
// excused.
type Did struct {
	Facts
	Minutes        Minutes
	ExcusedMinutes Minutes
}

// Ground is what a reward depends on, besides, if places are paid: how much of the
// ground around the hotspot was its own. Shares and minutes of Own and Due are in millionths.
type Ground struct {
	Counts   StandingUnit // in what standing is counted
	Standing int          // on the closed days before, at this place

	Own    int64  // minutes served, each times the share of its squares that it owned in it
	Due    int64  // if minutes are counted: excused ones that it would have served, by its last days
	Recent int64  // what it owned of each minute on the last seven closed days: an expected one; if minutes are counted, one served
	Proof  int64  // the share that is paid
	Spare  Amount // if minutes are counted: what outages of the days before left of the most that traffic earns

	Lat, Lng int32 // the place, in ten-millionths of a degree

	Shared int // minutes in which some of its squares belonged to older hotspots
	Older  int // number of those hotspots
}

// StandingUnit says in what it is counted how long hotspots have served at their places.
type StandingUnit uint8

const (
	NoStanding StandingUnit = iota // the policy pays no places
	InDays                         // on which it served
	InMinutes                      // served, of each day only some
)

// OnEarth reports whether the place exists.
func (g Ground) OnEarth() bool {
	const degree = 10_000_000
	return -90*degree <= g.Lat && g.Lat <= 90*degree && -180*degree <= g.Lng && g.Lng <= 180*degree
}

// None reports whether nothing of the day counts: the hotspot was not in service at all.
// Such a day leaves no trace.
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

// Compare orders by user and then by hotspot, as days are closed.
func (o Owned) Compare(other Owned) int {
	return cmp.Or(cmp.Compare(o.User, other.User), cmp.Compare(o.Hotspot, other.Hotspot))
}

// OwnedRecord is the record of a hotspot's day, with its owner.
type OwnedRecord struct {
	Owned
	Data []byte
}

// OwnedName is the name of a hotspot, with whose it is and was.
type OwnedName struct {
	HotspotName
	Owners
}

// HotspotName is how a list of rewards names a hotspot.
type HotspotName struct {
	ID        HotspotID
	Name      string
	DeletedAt time.Time // zero unless deleted
}
