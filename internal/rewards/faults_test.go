package rewards_test

import (
	"context"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// mortal is the store of a process that dies at one of its writes, right before
// or right after the database has it. From then on nothing of the process
// reaches the database.
type mortal struct {
	tables
	left  int  // writes that it does before the last
	after bool // the last one still happens
	dead  bool
}

var errDead = errors.New("the process is dead")

// write does what a write does, if it lives to do it.
func (m *mortal) write(do func() error) error {
	switch {
	case m.dead:
		return errDead
	case m.left > 0:
		m.left--
		return do()
	}
	m.dead = true
	if m.after {
		_ = do()
	}
	return errDead
}

func (m *mortal) PutPage(ctx context.Context, l lease.Lease, page ledger.Page) error {
	return m.write(func() error { return m.tables.PutPage(ctx, l, page) })
}

func (m *mortal) ForgetStandings(ctx context.Context, l lease.Lease) error {
	return m.write(func() error { return m.tables.ForgetStandings(ctx, l) })
}

func (m *mortal) PutStandings(ctx context.Context, l lease.Lease, standings []ledger.Standing) error {
	return m.write(func() error { return m.tables.PutStandings(ctx, l, standings) })
}

func (m *mortal) FinishStandings(ctx context.Context, l lease.Lease, through ledger.StandingsThrough) error {
	return m.write(func() error { return m.tables.FinishStandings(ctx, l, through) })
}

func (m *mortal) AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error {
	return m.write(func() error { return m.tables.AddTotals(ctx, revision, sums) })
}

func (m *mortal) Settle(ctx context.Context, by beacon.Actor, revision int64, statements []ledger.Statement, ended ...ledger.HeldDay) (written int, err error) {
	err = m.write(func() (err error) {
		written, err = m.tables.Settle(ctx, by, revision, statements, ended...)
		return err
	})
	return written, err
}

func (m *mortal) EditHolds(
	ctx context.Context, user beacon.UserID, by beacon.Actor, at time.Time,
	edit func([]beacon.Hold) (beacon.Hold, beacon.ChangeKind, error),
) (h beacon.Hold, err error) {
	err = m.write(func() (err error) {
		h, err = m.tables.EditHolds(ctx, user, by, at, edit)
		return err
	})
	return h, err
}

func (m *mortal) FinishMonth(ctx context.Context, month beacon.Month, revision int64, by beacon.Actor, at time.Time) error {
	return m.write(func() error { return m.tables.FinishMonth(ctx, month, revision, by, at) })
}

// settling is a store that lets a test act before sums are added to totals, and after.
type settling struct {
	tables
	before, after func()
}

func (s *settling) AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error {
	if s.before != nil {
		s.before()
	}
	err := s.tables.AddTotals(ctx, revision, sums)
	if s.after != nil {
		s.after()
	}
	return err
}
