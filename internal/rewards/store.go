package rewards

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Store is what this package needs of a database; see package store for what
// each promises.
type Store interface {
	// Books lets read see everything as of one moment. It may call it again, from
	// the start, when the database asks for it.
	Books(ctx context.Context, read func(ledger.Books) error) error
	// Records answers those records of a day that exist.
	Records(ctx context.Context, day int64, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)

	// KeepPolicies writes down the policies that are not known yet, and answers
	// all that are, by version.
	KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error)

	// OwnedRecords answers the records of a day, of up to limit hotspots that come
	// after one, in their order, deleted ones too. Next is the last of the hotspots
	// that were looked at; more is false when there are no others.
	OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
		records []beacon.OwnedRecord, next beacon.Owned, more bool, err error)
	// HotspotMonths and UserMonths answer the sums of a month from one hotspot, or
	// user, to another, both included, in their order.
	HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error)
	UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error)
	// PutPage writes a page of a day: all of it or, when the lease was lost or the
	// closing is not where the page begins, nothing, and answers Conflict.
	PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error

	// UserPage answers up to limit sums of a month whose users come after one, in
	// their order.
	UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error)
	// HotspotPage answers up to limit sums of a month whose hotspots come after one,
	// in the order of users and their hotspots.
	HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error)
	// Accounts answers the accounts from one user to another, both included.
	Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error)
	// AddTotals adds months of hotspots to their totals, each once, however often
	// it is asked to.
	AddTotals(ctx context.Context, sums []ledger.HotspotMonth) error
	// Settle writes the statements that are not there yet, and with each the
	// account of its user and a change from which an event is made. It answers how
	// many it wrote. One that does not follow the user's last statement is passed
	// over.
	Settle(ctx context.Context, by beacon.Actor, statements []ledger.Statement) (written int, err error)
	// FinishMonth notes that everyone's month is settled, once.
	FinishMonth(ctx context.Context, month beacon.Month, by beacon.Actor, at time.Time) error
}
