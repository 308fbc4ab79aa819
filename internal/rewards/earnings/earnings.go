// Package earnings says what operators have earned, and why: closed days from the ledger,
// open days computed with the same function.
//
// Its one invariant: every response adds up.
package earnings

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Telemetry is what this package needs of heartbeats.
type Telemetry interface {
	// Facts returns what hotspots did on a day that is not closed, up to now. It
	// reads the records that it needs. Hotspots with nothing that counts are left
	// out.
	Facts(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error)
	// Decided is Facts as of the minutes that no heartbeat changes any more, with those
	// that were served. It may have hotspots with nothing that counts.
	Decided(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error)
}

// Config configures New.
type Config struct {
	*rewards.Ledger
	Places    places.Store
	Totals    Totals
	Telemetry Telemetry

	// Unrecorded returns why nothing was expected of a hotspot on a day that is over and
	// has no record, or false if that is not known. It may be nil.
	Unrecorded func(hotspot beacon.HotspotID, day beacon.Day) (beacon.Facts, bool)

	// Around calls each for all hotspots that may be paid for at most withinM from a point
	// on a day that is not closed, and maybe for others. It is needed where open days are
	// shown.
	Around func(p geo.Point, withinM float64, each func(beacon.HotspotID))

	// HidesHomes reports whether the network hides homes. Nil: it does not.
	HidesHomes func() bool

	// InService reports whether a hotspot is verified and linked. Nil: none is known to be.
	InService func(beacon.HotspotID) bool

	// Nearby returns the hotspots in service that are nearest to a point, as everyone sees
	// them. It is needed for plans.
	Nearby func(p geo.Point, withinM float64, most int) []Neighbour
}

// Totals is what a database knows of months.
type Totals interface {
	MonthTotals(ctx context.Context, month beacon.Month) (ledger.MonthTotals, error)
}

// Earnings answers questions about what was earned.
type Earnings struct {
	Config
	places   places.Divider
	computed computed // what open days have earned so far
}

// New returns the earnings of a ledger.
func New(cfg Config) *Earnings {
	return &Earnings{Config: cfg, places: places.Divider{Ledger: cfg.Ledger, Store: cfg.Places}}
}

// Period selects the months of a summary.
type Period string

// The periods of decision N17.
const (
	Current Period = "current"
	Last    Period = "last"
	All     Period = "all"
)

// SummaryQuery asks what a user earned in a period.
type SummaryQuery struct {
	User   beacon.UserID // or beacon.Me
	Period Period
}

// Summary is what a user earned in a period.
type Summary struct {
	User       beacon.UserID
	Start, End time.Time // End is exclusive
	Status     rewards.Status
	Total      ledger.Sum
	Payment
	Hotspots []HotspotSum // by id: those that were in service
}

// Pending returns what is earned and neither settled nor held nor void.
func (s Summary) Pending() beacon.Amount { return s.pending(s.Total) }

// HotspotSum is what one hotspot earned in a period.
type HotspotSum struct {
	beacon.HotspotName
	Tier beacon.Tier // on the last day
	ledger.Sum
	Payment
}

// Pending is that of a summary.
func (h HotspotSum) Pending() beacon.Amount { return h.pending(h.Sum) }

// HistoryQuery asks for a user's months, newest first.
type HistoryQuery struct {
	User beacon.UserID // or beacon.Me
	From *beacon.Day   // nil: eleven months before To
	To   *beacon.Day   // nil: today
	Page beacon.Page
}

// MonthSum is one month of a history.
type MonthSum struct {
	Month    beacon.Month
	Hotspots int
	ledger.Sum
	Payment
}

// Pending is that of a summary.
func (m MonthSum) Pending() beacon.Amount { return m.pending(m.Sum) }

// ExplainQuery asks why a hotspot earned what it did on a day.
type ExplainQuery struct {
	Hotspot beacon.HotspotID
	Day     *beacon.Day // nil: today
}

// Explanation says what a day could have earned, what it lost, and why.
type Explanation struct {
	Hotspot beacon.HotspotID
	Day     beacon.Day
	Open    bool           // the day is not closed: everything is up to now
	Status  rewards.Status // of its month
	Policy  *policy.Policy
	Facts   beacon.Facts
	policy.Account
	Payment PaymentState // of what was earned
	Hold    *beacon.Hold // of the row, or what is active on an open day; nil: none

	Measured beacon.SpeedTest // by the last visit before the day, if places are paid; may be none

	// Uncounted says that nothing of the ground is known yet: it is being counted for how long
	// the hotspots have served.
	Uncounted bool

	// Approximate says that the facts, and all that follows from them, are shown coarsely. The
	// ledger has the exact ones.
	Approximate bool
}

// StatementQuery asks for the statement of a month.
type StatementQuery struct {
	User  beacon.UserID // or beacon.Me
	Month beacon.Month
}

// Statement is a settled month with everything that it was computed from.
type Statement struct {
	ledger.Statement
	Policies []*policy.Policy // those in force in the month

	// Each calls fn for every row, by day and then by hotspot, with the hash of the
	// chain up to and including the row. It reads rows as it goes, because there may
	// be many.
	Each func(ctx context.Context, fn func(row ledger.Row, chain ledger.Hash) error) error
}

// Standings are how long hotspots have served where they are on closed days, which decides
// who is paid for the ground.
type Standings struct {
	Counts beacon.StandingUnit
	Of     map[beacon.HotspotID]int
}

// Standings returns those of hotspots. There are none if they are not known: places are not
// paid, or they are being counted.
func (r *Earnings) Standings(ctx context.Context, ids []beacon.HotspotID) (Standings, error) {
	v, err := r.View(ctx, nil)
	if err != nil {
		return Standings{}, err
	}
	today := r.Today()
	rules := r.Known().On(today)
	if ordered, err := r.places.Ordered(ctx, &v, rules); err != nil || !ordered || !rules.PaysPlaces() {
		return Standings{}, err
	}
	claims, err := r.places.On(ctx, today, v.First, ids)
	if err != nil {
		return Standings{}, err
	}
	s := Standings{rules.Counts(), make(map[beacon.HotspotID]int, len(claims))}
	for id, c := range claims {
		s.Of[id] = c.Standing
	}
	return s, nil
}
