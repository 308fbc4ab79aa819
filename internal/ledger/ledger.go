// Package ledger is the words of the books that are kept about rewards: what a
// hotspot earned on a day, the sums of that, statements, and how far all of it
// has come; and the hashes that chain them. It decides no amount.
//
// Its one invariant: what is in the books is added to and never changed.
package ledger

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Row is what a hotspot earned on a day, and why. It is written once, when the
// day is closed, and never changes.
type Row struct {
	Day beacon.Day
	beacon.Owned
	Policy int // the version of the policy
	beacon.Facts
	beacon.Earned
}

// Sum is what some days of a hotspot, or of all hotspots of a user, add up to.
type Sum struct {
	Served, Expected int64 // minutes
	beacon.Earned
}

// Plus adds up.
func (s Sum) Plus(other Sum) Sum {
	return Sum{s.Served + other.Served, s.Expected + other.Expected, s.Earned.Plus(other.Earned)}
}

// HotspotMonth is the sum of a hotspot's rows of a month.
type HotspotMonth struct {
	Month beacon.Month
	beacon.Owned
	Through beacon.Day  // the last of the days
	Tier    beacon.Tier // on that day
	Sum
}

// UserMonth is the sum of a user's rows of a month.
type UserMonth struct {
	Month    beacon.Month
	User     beacon.UserID
	Hotspots int  // that have a row
	Rows     int  //
	Chain    Hash // over all the rows, in the order of days and then of hotspots
	Sum
}

// HotspotTotal is the sum of a hotspot's months that are settled.
type HotspotTotal struct {
	beacon.Owned
	Through beacon.Month // the last of the months
	Tier    beacon.Tier  // at its end
	Sum
}

// Account is how a user stands.
type Account struct {
	User     beacon.UserID
	FirstDay beacon.Day   // with a row
	Settled  beacon.Month // the last month that has a statement; NoMonth: none
	Hash     Hash         // of that statement; zero: none
	Sum                   // of all statements
}

// NoMonth comes before every month.
const NoMonth beacon.Month = -1

// Statement is a month of a user's that is settled. It never changes.
type Statement struct {
	UserMonth
	Previous  Hash // of the user's statement before this one; zero: it is the first
	Hash      Hash // over this one
	SettledAt time.Time
}

// Closing is how far the closing of days has come.
type Closing struct {
	Day           beacon.Day   // the newest that was begun
	Upto          beacon.Owned // up to and including which hotspot it has rows
	Hotspots      int          // that have one
	beacon.Earned              // by all of them
	ClosedAt      time.Time    // zero: there is more to come
}

// Through is the last day that is closed for everyone.
func (c Closing) Through() beacon.Day {
	if c.ClosedAt.IsZero() {
		return c.Day - 1
	}
	return c.Day
}

// Policy is a reward policy as it was written down when it was first known.
type Policy struct {
	Version int
	From    beacon.Day // the first day that it is in force on
	Text    string
}

// Page is a part of a day that is closed, in the order of its hotspots.
type Page struct {
	Day  beacon.Day
	From beacon.Owned // where the closing of the day is; zero: it has not begun
	Upto beacon.Owned // where it is afterwards
	Done time.Time    // when the day was closed, with this page; zero: there is more to come

	Basis    Basis // of the sums
	Rows     []Row
	Hotspots []HotspotMonth // the sums as they are afterwards
	Users    []UserMonth    // the same
	Accounts []Account      // of users who may have none yet: only User and FirstDay matter
}

// Basis tells whether the sums that a page was added to are still those that are
// written, from its first hotspot and user to its last. Both only ever grow.
type Basis struct {
	Hotspots, Through int64 // how many hotspots have a sum, and their last days, added up
	Users, Rows       int64 // how many users have one, and their rows, added up
}

// BasisOf is that of sums which were read.
func BasisOf(hotspots []HotspotMonth, users []UserMonth) Basis {
	b := Basis{Hotspots: int64(len(hotspots)), Users: int64(len(users))}
	for i := range hotspots {
		b.Through += int64(hotspots[i].Through)
	}
	for i := range users {
		b.Rows += int64(users[i].Rows)
	}
	return b
}

// Books is what is written, as of one moment.
type Books interface {
	// Closing answers how far the closing of days has come; false: none was begun.
	Closing(ctx context.Context) (c Closing, any bool, err error)
	// Closings answers all days that were begun, by day.
	Closings(ctx context.Context) ([]Closing, error)
	// FirstRecord answers the first day that has a record of heartbeats; false:
	// there is none.
	FirstRecord(ctx context.Context) (day beacon.Day, any bool, err error)
	// Finished answers the newest month that is settled for everyone; false: none is.
	Finished(ctx context.Context) (month beacon.Month, any bool, err error)
	// Names answers the hotspots of a user, by id: those that live, and those that
	// were deleted at a time or after it.
	Names(ctx context.Context, user beacon.UserID, deletedSince time.Time) ([]beacon.HotspotName, error)
	// NamesOf answers hotspots, deleted or not, in no particular order.
	NamesOf(ctx context.Context, ids []beacon.HotspotID) ([]beacon.HotspotName, error)
	// Owner answers whose hotspot it is, or was: it may be deleted.
	Owner(ctx context.Context, id beacon.HotspotID) (user beacon.UserID, any bool, err error)
	Account(ctx context.Context, user beacon.UserID) (a Account, any bool, err error)
	// Statement answers a user's statement of a month; false: it is not settled.
	Statement(ctx context.Context, user beacon.UserID, month beacon.Month) (s Statement, any bool, err error)
	// Statements answers a user's statements from one month to another, both
	// included, by month.
	Statements(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]Statement, error)
	// UserMonths answers the sums of a user, from one month to another, both
	// included, by month.
	UserMonths(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]UserMonth, error)
	// HotspotMonths answers the sums of a user's hotspots in a month, by hotspot.
	HotspotMonths(ctx context.Context, user beacon.UserID, month beacon.Month) ([]HotspotMonth, error)
	// Totals answers the sums of a user's hotspots over what is settled, by hotspot.
	Totals(ctx context.Context, user beacon.UserID) ([]HotspotTotal, error)
	// Rows calls fn with the rows of a user's day, by hotspot.
	Rows(ctx context.Context, user beacon.UserID, day beacon.Day, fn func(Row) error) error
	// Row answers the row of a hotspot's day.
	Row(ctx context.Context, day beacon.Day, of beacon.Owned) (r Row, any bool, err error)
}
