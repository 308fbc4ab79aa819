// Package closing closes days and settles months: it writes what was earned into the ledger,
// once. It also opens days again that a wrong clock closed, and replays them.
//
// Its one invariant: whichever process does it, and wherever it is stopped, each row and each
// statement is written once.
package closing

import (
	"context"
	"log/slog"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
)

// Telemetry is what this package needs of heartbeats.
type Telemetry interface {
	// FinalBefore returns the day before which all records of every day are on disk
	// for good. It returns false if this process does not know.
	FinalBefore() (beacon.Day, bool)
	// DidOf decodes the record of a day that is over. It returns beacon.ErrDamaged for a
	// record that no version can read.
	DidOf(record []byte) (beacon.Did, error)
}

// Days is what closing and reopening days needs of a database.
type Days interface {
	OwnedRecords(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) (
		records []beacon.OwnedRecord, next beacon.Owned, more bool, err error)
	OwnedOn(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) ([]beacon.Owned, error)
	HotspotMonths(ctx context.Context, month beacon.Month, from, to beacon.Owned) ([]ledger.HotspotMonth, error)
	UserMonths(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.UserMonth, error)
	UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error)
	PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error
	Reopen(ctx context.Context, r ledger.Reopening, by beacon.Actor) error
}

// Months is what settling months needs of a database.
type Months interface {
	UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error)
	HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error)
	Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error)
	AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error
	Settle(ctx context.Context, by beacon.Actor, revision int64, statements []ledger.Statement, ended ...ledger.HeldDay) (written int, err error)
	ToEnd(ctx context.Context, month beacon.Month, from, to beacon.UserID) ([]ledger.HeldDay, error)
	UsersToEnd(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]beacon.UserID, error)
	FinishMonth(ctx context.Context, month beacon.Month, revision int64, by beacon.Actor, at time.Time) error
}

// Config configures New.
type Config struct {
	*rewards.Ledger
	Days      Days
	Months    Months
	Places    places.Store
	Holds     holds.Store
	Telemetry Telemetry

	// Divide divides the ground of a day; nil: ground.Divide. A closing of many days can
	// remember what it divided before.
	Divide func(ctx context.Context, hotspots []ground.Hotspot, radiusM int) ([]ground.Share, error)

	// Lease returns the lease, and whether this process is the one that closes and
	// settles.
	Lease func() (lease.Lease, bool)
	Log   *slog.Logger
}

// Closer closes and settles. Call Start first, then Run.
type Closer struct {
	Config
	places places.Divider
	holds  holds.Holds
	shown  progress // for monitoring
}

// New returns a closer that is not started.
func New(cfg Config) *Closer {
	c := &Closer{
		Config: cfg, holds: holds.Holds{Ledger: cfg.Ledger, Store: cfg.Holds},
		places: places.Divider{Ledger: cfg.Ledger, Store: cfg.Places, Ground: cfg.Divide, Log: cfg.Log},
	}
	if cfg.Telemetry != nil {
		c.places.DidOf = cfg.Telemetry.DidOf
	}
	return c
}

// Start starts the ledger, and finds out how far it is.
func (r *Closer) Start(ctx context.Context) error {
	if err := r.Ledger.Start(ctx); err != nil {
		return err
	}
	v, err := r.View(ctx, nil)
	if err == nil && v.Begun {
		r.shown.closed(v.First - 1)
	}
	return err
}
