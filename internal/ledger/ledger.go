// Package ledger defines the types of the reward ledger: what a hotspot earned on a
// day, the sums of those rows, monthly statements, and the progress of closing and
// settling; and the hashes that chain them. It computes no amounts; package policy
// does.
//
// Its one invariant: rows and statements are append-only. Once written they never change;
// sums and accounts follow them.
package ledger

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Kind is what a row says. It is not stored: each kind has a table of its own.
type Kind uint8

const (
	// Earning is what a hotspot earned on a day, and why. It is written when the day is
	// closed.
	Earning Kind = iota
	// Correction makes the rows from its day on void: the day was closed wrongly. It has no
	// hotspot, and its minutes and amounts are taken away from the sums.
	Correction
	// Ending says what happened to a held row once its hold was over. It has the day and the
	// hold of that row, and is in the statement that follows.
	Ending
)

// Row is one row of a user's month. It is written once and never changes.
type Row struct {
	Kind Kind
	Day  beacon.Day
	beacon.Owned
	Policy int // the version of the policy
	beacon.Facts
	beacon.Earned

	Revision int64 // how often days had been opened again when it was written
	Corrects Hash  // of a correction: the hash of the last valid row; its day is the first that is not

	Hold beacon.HoldID // under which the row was written; "": it is not held

	// Of an ending:
	Ends   Hash          // the hash of the held row
	Amount beacon.Amount // what that row earned
	Void   bool          // it is not paid
}

// IsHeld reports whether a row is not paid with its month.
func (r *Row) IsHeld() bool { return r.Kind == Earning && r.Hold != "" }

// HeldDay is a row under a hold.
type HeldDay struct {
	Day beacon.Day
	beacon.Owned
	Hold   beacon.HoldID
	Hash   Hash // of the row
	Amount beacon.Amount
	State  beacon.HoldState // of the hold
	Listed beacon.Month     // whose statement ends it, or NoMonth
}

// Ending returns the row that says what happened to a held one.
func (d *HeldDay) Ending() Row {
	return Row{
		Kind: Ending, Day: d.Day, Owned: beacon.Owned{User: d.User}, Hold: d.Hold,
		Ends: d.Hash, Amount: d.Amount, Void: d.State == beacon.HoldIsVoided,
	}
}

// Sum is the total over some days of a hotspot, or of all hotspots of a user.
type Sum struct {
	Served, Expected int64 // minutes
	beacon.Earned
}

// Plus returns the sum of s and other.
func (s Sum) Plus(other Sum) Sum {
	return Sum{s.Served + other.Served, s.Expected + other.Expected, s.Earned.Plus(other.Earned)}
}

// HotspotMonth is the sum of a hotspot's rows in a month.
type HotspotMonth struct {
	Month beacon.Month
	beacon.Owned
	Through beacon.Day  // the last day included
	Tier    beacon.Tier // on that day
	Sum
}

// UserMonth is the sum of a user's rows in a month.
type UserMonth struct {
	Month    beacon.Month
	User     beacon.UserID
	Hotspots int  // number of hotspots with a row
	Rows     int  // number of rows
	Chain    Hash // over all rows, in the order of Walk
	Sum
	Held beacon.Amount // of Sum, what was earned under a hold
}

// HotspotTotal is the sum of a hotspot's settled months.
type HotspotTotal struct {
	beacon.Owned
	Through beacon.Month // the last month included
	Tier    beacon.Tier  // at its end
	Sum
}

// Account is the state of a user's rewards.
type Account struct {
	User     beacon.UserID
	FirstDay beacon.Day   // the first day with a row
	Settled  beacon.Month // the last month with a statement, or NoMonth
	Hash     Hash         // of that statement; zero if there is none
	Sum                   // of all statements
}

// NoMonth sorts before every month.
const NoMonth beacon.Month = -1

// Statement is a settled month of a user. It never changes.
type Statement struct {
	UserMonth
	Previous  Hash // of the user's previous statement; zero for the first
	Hash      Hash // of this statement
	SettledAt time.Time
}

// Closing is the progress of closing one day.
type Closing struct {
	Day           beacon.Day   // the newest day begun
	Upto          beacon.Owned // the last hotspot that has been handled
	Hotspots      int          // number of hotspots with a row
	beacon.Earned              // by all of them
	ClosedAt      time.Time    // zero while the day is being closed
}

// MonthTotals is what the closed days of a month add up to, for everyone.
type MonthTotals struct {
	Users      int // who earned something
	Statements int // of them, those whose statement is made
	Earned     beacon.Amount
}

// Through returns the last day that is closed for everyone.
func (c Closing) Through() beacon.Day {
	if c.ClosedAt.IsZero() {
		return c.Day - 1
	}
	return c.Day
}

// Policy is a reward policy as it was stored when it was first seen.
type Policy struct {
	Version int
	From    beacon.Day // the first day it is in force
	Text    string
}

// Page is one step of closing a day: a range of hotspots in order.
type Page struct {
	Day  beacon.Day
	From beacon.Owned // how far the day is closed before this page; zero if not begun
	Upto beacon.Owned // how far it is closed after this page
	Done time.Time    // when this page closed the day; zero if more pages follow

	Revision int64 // how often days were opened again
	Again    bool  // the day was closed before

	Basis    Basis // of the sums before this page
	Rows     []Row
	Hotspots []HotspotMonth // the sums after this page
	Users    []UserMonth    // the sums after this page
	Held     []HeldDay      // those of the rows that are held
	Accounts []Account      // of users who may have none yet; only User and FirstDay matter

	// Places says that the day is under a policy that pays places. Its standings are
	// written before, and are complete with the last page. StandingADay is what they count.
	Places       bool
	StandingADay int
}

// Standing is how long a hotspot served at a place on closed days.
type Standing struct {
	Hotspot beacon.HotspotID
	Since   beacon.Day // the first day of the place
	Through beacon.Day // the last day included
	Before  int        // without that one
	Is      int
}

// On returns what the standing was when a day began, of which no later one is included.
func (s Standing) On(day beacon.Day) int {
	if s.Through == day {
		return s.Before
	}
	return s.Is
}

// StandingsThrough is the day through which standings are complete, as of a revision, and
// how many minutes of a day they count; 0: they count days.
type StandingsThrough struct {
	Day      beacon.Day
	Revision int64
	ADay     int
}

// Basis detects whether the sums that a page was added to are still the stored ones,
// from its first hotspot and user to its last. It works because both only ever grow.
type Basis struct {
	Hotspots, Through int64 // number of hotspots with a sum, and the total of their last days
	Users, Rows       int64 // number of users with a sum, and the total of their rows
}

// BasisOf returns the basis of sums that were read.
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

// Books is read access to the ledger as of one moment.
type Books struct {
	Progress
	Owners
	Sums
	RowReader
	Holds
}

// Progress is how far the ledger is.
type Progress interface {
	// Closing returns the progress of the newest day begun; false if none was begun.
	Closing(ctx context.Context) (c Closing, found bool, err error)
	// Closings returns all days that were begun, by day.
	Closings(ctx context.Context) ([]Closing, error)
	// FirstRecord returns the first day with a heartbeat record; false if there is
	// none.
	FirstRecord(ctx context.Context) (day beacon.Day, found bool, err error)
	// Finished returns the newest month settled for everyone; false if there is none.
	Finished(ctx context.Context) (month beacon.Month, found bool, err error)
	// Reopenings returns all reopenings, by revision, without what they wrote.
	Reopenings(ctx context.Context) (Reopenings, error)
}

// Owners says whose hotspots are.
type Owners interface {
	// Names returns the hotspots that belong to a user, or did on the day of since or later,
	// by id: the live ones and those deleted at or after since.
	Names(ctx context.Context, user beacon.UserID, since time.Time) ([]beacon.OwnedName, error)
	// NamesOf returns the named hotspots, deleted or not, in no particular order.
	NamesOf(ctx context.Context, ids []beacon.HotspotID) ([]beacon.HotspotName, error)
	// Whose returns who a hotspot belongs to, or did before it was deleted.
	Whose(ctx context.Context, id beacon.HotspotID) (o beacon.Owners, found bool, err error)
}

// Sums are those of users and hotspots, and statements.
type Sums interface {
	Account(ctx context.Context, user beacon.UserID) (a Account, found bool, err error)
	// Statement returns a user's statement of a month; false if it is not settled.
	Statement(ctx context.Context, user beacon.UserID, month beacon.Month) (s Statement, found bool, err error)
	// Statements returns a user's statements between two months, both included, by
	// month.
	Statements(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]Statement, error)
	// UserMonths returns a user's sums between two months, both included, by month.
	UserMonths(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]UserMonth, error)
	// HotspotMonths returns the sums of a user's hotspots in a month, by hotspot.
	HotspotMonths(ctx context.Context, user beacon.UserID, month beacon.Month) ([]HotspotMonth, error)
	// Totals returns the settled totals of a user's hotspots, by hotspot.
	Totals(ctx context.Context, user beacon.UserID) ([]HotspotTotal, error)
}

// RowReader reads rows.
type RowReader interface {
	// Again returns a user's corrections of a month, and the rows of days that were
	// closed before.
	Again(ctx context.Context, user beacon.UserID, month beacon.Month) ([]Row, error)
	// Rows calls fn for each row of a user's day, by hotspot, as the day was first
	// closed: the rows may be void.
	Rows(ctx context.Context, user beacon.UserID, day beacon.Day, fn func(Row) error) error
	// Row returns the row of a hotspot on a day that holds.
	Row(ctx context.Context, day beacon.Day, of beacon.Owned) (r Row, found bool, err error)
}

// Holds are holds and the rows under them.
type Holds interface {
	// HeldDays calls fn for each held row of a user, by day and hotspot, but for void ones.
	HeldDays(ctx context.Context, user beacon.UserID, fn func(HeldDay) error) error
	// HeldDay returns the held row of a hotspot on a day, unless it is void.
	HeldDay(ctx context.Context, day beacon.Day, of beacon.Owned) (d HeldDay, found bool, err error)
	// Ended returns the held rows of which a user's statement of a month says what became
	// of them, by day and hotspot.
	Ended(ctx context.Context, user beacon.UserID, month beacon.Month) ([]HeldDay, error)
	// Hold returns a hold.
	Hold(ctx context.Context, id beacon.HoldID) (h beacon.Hold, found bool, err error)
	// HoldsOf returns all holds of a user, by number.
	HoldsOf(ctx context.Context, user beacon.UserID) ([]beacon.Hold, error)
}
