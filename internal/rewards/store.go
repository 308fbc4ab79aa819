package rewards

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Store is what this package needs of a database. Package store documents what each
// method guarantees.
type Store interface {
	// Books calls read with a consistent snapshot. It may call read again from the
	// start, if the database requires a retry.
	Books(ctx context.Context, read func(ledger.Books) error) error
	// Records returns those records of a day that exist.
	Records(ctx context.Context, day int64, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)

	// KeepPolicies stores the policies that are new, and returns all that are stored,
	// by version.
	KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)

	// Node returns the name of this server.
	Node() string
	// MarkClock records what the clock of this server says and, if certain is not
	// zero, that this moment has come, unless staff have confirmed another since.
	MarkClock(ctx context.Context, said, certain time.Time, confirmed int64) error
	// ClockState returns what the database knows about the time.
	ClockState(ctx context.Context) (ledger.ClockState, error)
	// ConfirmClock sets the moment that has certainly come, to an earlier or a later
	// one, as staff say.
	ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error
	// ForgetClocks deletes the marks that are still as they are given.
	ForgetClocks(ctx context.Context, marks []ledger.ClockMark) error

	// OwnedRecords returns the records of a day of up to limit hotspots after the
	// given one, in order, including deleted ones. Next is the last hotspot examined;
	// more is false when there are no others.
	OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
		records []beacon.OwnedRecord, next beacon.Owned, more bool, err error)
	// HotspotMonths and UserMonths return the sums of a month from one hotspot, or
	// user, to another, both included, in order.
	HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error)
	UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error)
	// PutPage writes a page of a day in one transaction. It writes nothing and
	// returns Conflict if the lease was lost, or if the closing is not where the page
	// begins.
	PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error

	// UserPage returns up to limit sums of a month for users after the given one, in
	// order.
	UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error)
	// HotspotPage returns up to limit sums of a month for hotspots after the given
	// one, by user and then by hotspot.
	HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error)
	// Accounts returns the accounts from one user to another, both included.
	Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error)
	// AddTotals adds months of hotspots to their totals. It is idempotent: each month
	// is added once.
	AddTotals(ctx context.Context, sums []ledger.HotspotMonth) error
	// Settle writes the statements that do not exist yet, each with its user's
	// account and a change that becomes an event. It returns how many it wrote. It
	// skips a statement that does not follow the user's last one.
	Settle(ctx context.Context, by beacon.Actor, statements []ledger.Statement) (written int, err error)
	// FinishMonth records that a month is settled for everyone, once.
	FinishMonth(ctx context.Context, month beacon.Month, by beacon.Actor, at time.Time) error
}
