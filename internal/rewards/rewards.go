// Package rewards pays operators: it closes days, settles months, and explains what
// was earned and why. Each verb has the shape Verb(ctx, Principal, Input) (Output,
// error). Package policy alone decides what a day earns; package ledger defines what
// is stored.
//
// Its one invariant: what it says about a closed day never changes, unless staff open the
// day again, which leaves a correction.
package rewards

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Telemetry is what this package needs of heartbeats.
type Telemetry interface {
	// FinalBefore returns the day before which all records of every day are on disk
	// for good. It returns false if this process does not know.
	FinalBefore() (beacon.Day, bool)
	// Facts returns what hotspots did on a day that is not closed, up to now. It
	// reads the records that it needs. Hotspots with nothing that counts are left
	// out.
	Facts(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error)
	// Decided is Facts as of the minutes that no heartbeat changes any more, with those
	// that were served. It may have hotspots with nothing that counts.
	Decided(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error)
	// DidOf decodes the record of a day that is over. It returns beacon.ErrDamaged for a
	// record that no version can read.
	DidOf(record []byte) (beacon.Did, error)
}

// Config configures New.
type Config struct {
	Store     Store
	Telemetry Telemetry
	Policies  policy.Set // of this process; the database may have more
	Founding  policy.Set // those of a new database, which begin with Policies; nil: Policies

	// Unrecorded returns why nothing was expected of a hotspot on a day that is over and
	// has no record, or false if that is not known. It may be nil.
	Unrecorded func(hotspot beacon.HotspotID, day beacon.Day) (beacon.Facts, bool)

	// Around calls each for all hotspots that may be paid for at most withinM from a point
	// on a day that is not closed, and maybe for others. It is needed where open days are
	// shown.
	Around func(p geo.Point, withinM float64, each func(beacon.HotspotID))

	// Lease returns the lease, and whether this process is the one that closes and
	// settles.
	Lease func() (lease.Lease, bool)

	Now  func() time.Time
	Rate float64 // how fast Now runs compared with the machine's clock; 0: unknown, and no other clock is asked
	Log  *slog.Logger

	// RealTime says that Now is not simulated, and can be compared with the clock of
	// the database.
	RealTime bool
}

// Rewards implements the verbs. Call Start first, then Run.
type Rewards struct {
	Config
	policies atomic.Pointer[policy.Set]
	pageSize int
	clock    clock.Steadiness
	shown    progress // for monitoring
	computed computed // what open days have earned so far

	witnesses witnesses
	machine   func() time.Time // time.Now, for how long something took: that is right even if the clock is set

	// asPaid sets what the books say of a hotspot whose place was erased; nil: nothing does.
	asPaid func(ctx context.Context, day beacon.Day, of beacon.Owned, c *claim) error
}

// pageSize is how many hotspots, or users, are closed or settled in one transaction.
// Heartbeats wait for that transaction.
const pageSize = 1000

// New returns rewards that are not started.
func New(cfg Config) *Rewards {
	r := &Rewards{Config: cfg, pageSize: pageSize, machine: time.Now}
	r.policies.Store(&cfg.Policies)
	return r
}

// refuse returns a Conflict with a message.
func refuse(format string, args ...any) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: fmt.Sprintf(format, args...)}
}

// Period selects the months of a summary.
type Period string

// The periods of decision N17.
const (
	Current Period = "current"
	Last    Period = "last"
	All     Period = "all"
)

// Status is the state of a period, from open to paid (decision N17).
type Status string

// The states of a period.
const (
	InProgress Status = "in_progress"
	Finalizing Status = "finalizing"
	Settled    Status = "settled"
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
	Status     Status
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
	Open    bool   // the day is not closed: everything is up to now
	Status  Status // of its month
	Policy  *policy.Policy
	Facts   beacon.Facts
	policy.Account
	Payment PaymentState // of what was earned
	Hold    *beacon.Hold // of the row, or what is active on an open day; nil: none

	Measured beacon.SpeedTest // by the last visit before the day, if places are paid; may be none
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

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	Books(ctx context.Context, read func(ledger.Books) error) error
	MonthTotals(ctx context.Context, month beacon.Month) (ledger.MonthTotals, error)
	Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)

	KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)
	FoundPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)
	AdoptPolicy(ctx context.Context, p ledger.Policy, by beacon.Actor, at time.Time) error

	Node() string
	MarkClock(ctx context.Context, said, certain time.Time, confirmed int64) error
	ClockState(ctx context.Context) (ledger.ClockState, error)
	ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error
	ForgetClocks(ctx context.Context, marks []ledger.ClockMark) error
	ForgetSpans(ctx context.Context, after int64) error

	OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
		records []beacon.OwnedRecord, next beacon.Owned, more bool, err error)
	RecordPage(ctx context.Context, day beacon.Day, after beacon.HotspotID, limit int) ([]beacon.RecordRow, error)
	OwnedPage(ctx context.Context, after beacon.Owned, limit int) ([]beacon.Owned, error)
	HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error)
	UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error)
	ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error)
	PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error

	Standings(ctx context.Context, ids []beacon.HotspotID) ([]ledger.Standing, error)
	StandingsThrough(ctx context.Context) (through ledger.StandingsThrough, any bool, err error)
	ForgetStandings(ctx context.Context, l lease.Lease) error
	PutStandings(ctx context.Context, l lease.Lease, standings []ledger.Standing) error
	FinishStandings(ctx context.Context, l lease.Lease, through ledger.StandingsThrough) error

	UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error)
	HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error)
	Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error)
	AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error
	Settle(ctx context.Context, by beacon.Actor, revision int64, statements []ledger.Statement, ended ...ledger.HeldDay) (written int, err error)
	ToEnd(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.HeldDay, error)
	UsersToEnd(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]beacon.UserID, error)
	FinishMonth(ctx context.Context, month beacon.Month, revision int64, by beacon.Actor, at time.Time) error
	Reopen(ctx context.Context, r ledger.Reopening, by beacon.Actor) error

	EditHolds(ctx context.Context, user beacon.UserID, by beacon.Actor, at time.Time,
		edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error)) (beacon.Hold, error)
	Hold(ctx context.Context, id beacon.HoldID) (h beacon.Hold, any bool, err error)
	ActiveHolds(ctx context.Context) ([]beacon.Hold, error)
	Holds(ctx context.Context, user beacon.UserID, after beacon.HoldID, offset, limit int) (page []beacon.Hold, total int, err error)
}
