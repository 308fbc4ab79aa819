package ledger

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ErrSettled reports days of a month that is settled, or is being settled.
var ErrSettled = beacon.Conflicting(errors.New("the month or a later one is settled"))

// Reopening opens closed days again, from one on. Rows stay as they are: for each user
// and month, a correction makes the rows of those days void, and names the last row
// that is valid.
type Reopening struct {
	Revision int64      // 1, 2, 3, …
	From     beacon.Day // the first day that is open again
	Through  beacon.Day // the newest day that was begun
	At       time.Time

	// What to write. The closing is as it was when the rest was computed.
	Closing     Closing
	Corrections []Row
	Hotspots    []HotspotMonth // the sums of valid rows
	Gone        []HotspotMonth // none of their rows is valid
	Users       []UserMonth
}

// Reopenings are all reopenings, by revision.
type Reopenings []Reopening

// Touch reports whether any day of a month was opened again: some of its rows are void, and
// others may follow them.
func (all Reopenings) Touch(month beacon.Month) bool {
	return slices.ContainsFunc(all, func(r Reopening) bool { return r.From <= month.Last() && r.Through >= month.First() })
}

// Again reports whether a day had been closed or begun when days were opened again: if it
// is closed after that, its rows are not the first of the day.
func (all Reopenings) Again(day beacon.Day) bool {
	return slices.ContainsFunc(all, func(r Reopening) bool { return r.Through >= day })
}

// Valid reports whether a row is not void.
func (all Reopenings) Valid(r *Row) bool { return r.Revision >= all.ValidFrom(r.Day) }

// ValidFrom returns the first revision whose rows of a day are not void.
func (all Reopenings) ValidFrom(day beacon.Day) (revision int64) {
	for _, o := range all {
		if o.From <= day {
			revision = max(revision, o.Revision)
		}
	}
	return revision
}

// Sum returns what a row adds to sums: a correction takes away.
func (r *Row) Sum() Sum {
	s := Sum{int64(r.Served), int64(r.Expected), r.Earned}
	if r.Kind == Correction {
		return Sum{}.Minus(s)
	}
	return s
}

// Minus returns s without other.
func (s Sum) Minus(other Sum) Sum {
	return Sum{s.Served - other.Served, s.Expected - other.Expected, beacon.Earned{
		Availability: s.Availability - other.Availability,
		Performance:  s.Performance - other.Performance,
		Utilization:  s.Utilization - other.Utilization,
	}}
}

// Walk calls fn for every row of a user's month in the order of its chain, with the
// hash of the chain up to and including the row. That is the order in which they were
// written: by day and hotspot, until a correction goes back to an earlier day, and the
// endings of held rows last. Read gives access to the ledger, perhaps as of a later
// moment each time.
func Walk(ctx context.Context, read func(func(Books) error) error, user beacon.UserID, month beacon.Month, fn func(Row, Hash) error) error {
	chain := Seed(user, month)
	each := func(rows []Row) error {
		for i := range rows {
			chain = chain.Next(&rows[i])
			if err := fn(rows[i], chain); err != nil {
				return err
			}
		}
		return nil
	}
	var again, ended []Row
	touched := false
	err := read(func(b Books) error {
		reopened, err := b.Reopenings(ctx)
		if touched = reopened.Touch(month); err == nil && touched {
			again, err = b.Again(ctx, user, month)
		}
		if err != nil {
			return err
		}
		days, err := b.Ended(ctx, user, month)
		ended = nil
		for i := range days {
			ended = append(ended, days[i].Ending())
		}
		return err
	})
	if err != nil {
		return err
	}
	var all, rows []Row
	for day := month.First(); day <= month.Last(); day++ {
		err := read(func(b Books) error {
			rows = rows[:0]
			return b.Rows(ctx, user, day, func(row Row) error {
				rows = append(rows, row)
				return nil
			})
		})
		if err == nil && !touched {
			err = each(rows)
		}
		if err != nil {
			return err
		}
		if touched {
			all = append(all, rows...)
		}
	}
	all = append(all, again...)
	slices.SortFunc(all, func(a, b Row) int {
		// A correction has no hotspot, and no row of its revision is of an earlier day.
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Hotspot, b.Hotspot))
	})
	if err := each(all); err != nil {
		return err
	}
	return each(ended)
}
