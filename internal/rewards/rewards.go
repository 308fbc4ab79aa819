// Package rewards is what operators are paid: it closes days, settles months,
// and answers what was earned, and why. Each verb has the shape
// Verb(ctx, Principal, Input) (Output, error). What a day earns is decided by
// package policy alone, and what is kept of it by package ledger.
//
// Its one invariant: what was answered for a day that is closed is answered for
// ever.
package rewards

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Telemetry is what this package needs to know of heartbeats.
type Telemetry interface {
	// FinalBefore answers the day before which every day has all its records on
	// disk, for good; false: this process cannot tell.
	FinalBefore() (beacon.Day, bool)
	// Facts answers what hotspots did on a day that is not closed, up to now. It
	// reads the records that it needs. Who did nothing that counts is left out.
	Facts(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error)
	// FactsOf reads the record of a day that is over. It answers beacon.ErrDamaged
	// for one that nobody will ever read.
	FactsOf(record []byte) (beacon.Facts, error)
}

// Config is what rewards are made of.
type Config struct {
	Store     Store
	Telemetry Telemetry
	Policies  policy.Book // that this process brings; others may have brought more

	// Keeper tells whether this process is the one that closes and settles.
	Keeper func() (lease.Lease, bool)

	Now  func() time.Time
	Rate float64 // how fast Now runs beside the machine's clock; 0: nobody knows
	Log  *slog.Logger
}

// Rewards serves the verbs. Start comes first, then Run.
type Rewards struct {
	Config
	policies atomic.Pointer[policy.Book]
	pageSize int
	clock    clock.Steadiness
	shown    progress
}

// pageSize is how many hotspots, or users, are closed or settled in one
// transaction: heartbeats wait behind it.
const pageSize = 1000

// New makes rewards.
func New(cfg Config) *Rewards {
	r := &Rewards{Config: cfg, pageSize: pageSize}
	r.policies.Store(&cfg.Policies)
	return r
}

// Period is which months a summary is of.
type Period string

// The periods of decision N17.
const (
	Current Period = "current"
	Last    Period = "last"
	All     Period = "all"
)

// Status is how far a period is from being paid (decision N17).
type Status string

// The states of a period.
const (
	InProgress Status = "in_progress"
	Finalizing Status = "finalizing"
	Settled    Status = "settled"
)

// SummaryQuery asks what a user earned in a period.
type SummaryQuery struct {
	User   beacon.UserID // or Me
	Period Period
}

// Me stands for the principal's own user in place of an id.
const Me = "me"

// Summary is what a user earned in a period.
type Summary struct {
	User       beacon.UserID
	Start, End time.Time // the end is not part of it
	Status     Status
	Total      ledger.Sum
	Settled    beacon.Amount // of the total; the rest is pending
	Hotspots   []HotspotSum  // by id: those that were in service
}

// Pending is what is earned and not settled.
func (s Summary) Pending() beacon.Amount { return s.Total.Total() - s.Settled }

// HotspotSum is what one hotspot earned in a period.
type HotspotSum struct {
	beacon.HotspotName
	Tier beacon.Tier // at the end
	ledger.Sum
}

// HistoryQuery asks for a user's months, the newest first.
type HistoryQuery struct {
	User beacon.UserID // or Me
	From *beacon.Day   // nil: eleven months before To
	To   *beacon.Day   // nil: today
	Page beacon.Page
}

// MonthSum is one month of a history.
type MonthSum struct {
	Month    beacon.Month
	Hotspots int
	ledger.Sum
}

// ExplainQuery asks why a hotspot earned what it did on a day.
type ExplainQuery struct {
	Hotspot beacon.HotspotID
	Day     *beacon.Day // nil: today
}

// Explanation says what a day could have earned, what it lost, and why.
type Explanation struct {
	Hotspot beacon.HotspotID
	Day     beacon.Day
	Open    bool   // the day is not closed: all of it is up to now
	Status  Status // of its month
	Policy  *policy.Policy
	Facts   beacon.Facts
	policy.Account
}

// StatementQuery asks for the statement of a month.
type StatementQuery struct {
	User  beacon.UserID // or Me
	Month beacon.Month
}

// Statement is a month that is settled, with all that it came from.
type Statement struct {
	ledger.Statement
	Policies []*policy.Policy // those in force in the month

	// Each calls fn with every row, by day and then by hotspot, and the hash of the
	// chain up to and including it. It reads them as it goes: there may be many.
	Each func(ctx context.Context, fn func(row ledger.Row, chain ledger.Hash) error) error
}
