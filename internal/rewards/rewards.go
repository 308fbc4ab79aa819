// Package rewards pays operators. It knows how far the ledger is, and the policies; the
// packages below it close days and settle months (closing), say who is paid for which place
// (places), explain what was earned and why (earnings), and hold it back (holds). Each verb
// has the shape Verb(ctx, Principal, Input) (Output, error). Package policy alone decides
// what a day earns; package ledger defines what is stored.
//
// Its one invariant: what it says about a closed day never changes, unless staff open the
// day again, which leaves a correction.
package rewards

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	Books(ctx context.Context, read func(ledger.Books) error) error
	KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)
	FoundPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)
	AdoptPolicy(ctx context.Context, p ledger.Policy, by beacon.Actor, at time.Time) error
	ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error
}

// Config configures New.
type Config struct {
	Store    Store
	Clock    *clock.Clock
	Policies policy.Set // of this process; the database may have more
	Founding policy.Set // those of a new database, which begin with Policies; nil: Policies
}

// Ledger knows how far the ledger is, and the policies by which it is kept.
type Ledger struct {
	Config
	PageSize int // how many hotspots, or users, are closed or settled in one transaction

	policies atomic.Pointer[policy.Set]
}

// pageSize is small because heartbeats wait for the transaction of a page.
const pageSize = 1000

// New returns a ledger that is not started.
func New(cfg Config) *Ledger {
	r := &Ledger{Config: cfg, PageSize: pageSize}
	r.policies.Store(&cfg.Policies)
	return r
}

// BySchedule is the actor of what happens on schedule.
var BySchedule = beacon.Actor{Request: "schedule"}

// GraceDays is for how many days after places are first paid a hotspot that was there
// before counts as proven: its operator has that long to ask for a visit.
const GraceDays = 30

// Refuse returns a Conflict with a message.
func Refuse(format string, args ...any) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: fmt.Sprintf(format, args...)}
}

// Status is the state of a period, from open to paid (decision N17).
type Status string

// The states of a period.
const (
	InProgress Status = "in_progress"
	Finalizing Status = "finalizing"
	Settled    Status = "settled"
)

// Grace is how long a month stays open after its end, for corrections (decision N17).
const Grace = 72 * time.Hour

// Unsettled returns how many months from one on are over, with their grace period, at a
// moment.
func Unsettled(first beacon.Month, at time.Time) int {
	return max(int(beacon.MonthOf(at.Add(-Grace))-first), 0)
}

// Mismatch returns the error for sums that do not add up.
func Mismatch(user beacon.UserID, where string) error {
	return beacon.Unexpected(fmt.Errorf("the rewards of %s do not add up in %s: the database is damaged; run beacon doctor", user, where))
}

// ValidUser reports whether a text is a valid user id. Some other texts cannot be
// sent to a database.
func ValidUser(user beacon.UserID) bool { return id.Valid(beacon.UserPrefix, string(user)) }
