package rewards

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// ReopenReport is what a reopening does.
type ReopenReport struct {
	From, Through beacon.Day // the days that are open again
	Rows          int        // void rows
	beacon.Earned            // by them
	Users         []ReopenedUser
	Confirmed     bool // it was done

	index map[beacon.UserID]int // in Users
}

// ReopenedUser is what a reopening takes from a user, until the days are closed again.
type ReopenedUser struct {
	User beacon.UserID
	Rows int
	beacon.Earned
}

// Reopen opens all closed days again from one on: a clock that was wrong may have closed
// them before they were over. Their rows stay as they are, and a correction in each
// chain makes them void. Servers close the days again, each once it is over, from the
// heartbeats on record. What is settled is final. The last closed day must be through,
// unless that is nil: days are closed in order. Unless confirmed, nothing is written.
func (r *Rewards) Reopen(
	ctx context.Context, by beacon.Actor, from beacon.Day, through *beacon.Day, confirmed bool,
) (ReopenReport, error) {
	var report ReopenReport
	var reopening ledger.Reopening
	_, err := r.view(ctx, func(v view, b ledger.Books) error {
		if err := mayReopen(v, from, through); err != nil {
			return err
		}
		reopening = ledger.Reopening{
			Revision: v.revision() + 1, From: from, Through: v.closing.Day, At: r.Now(), Closing: v.closing,
		}
		report = ReopenReport{From: from, Through: v.closing.Day, index: map[beacon.UserID]int{}}
		for month := from.Month(); month <= v.closing.Day.Month(); month++ {
			if err := r.reopenMonth(ctx, v, b, month, &reopening, &report); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !confirmed {
		return report, err
	}
	report.Confirmed = true
	if err := by.Once.Keep(report); err != nil {
		return report, err
	}
	return report, r.Store.Reopen(ctx, reopening, by)
}

// mayReopen returns an error for days that are not closed, or are settled.
func mayReopen(v view, from beacon.Day, through *beacon.Day) error {
	switch {
	case !v.begun:
		return refuse("no day is closed")
	case from > v.closing.Day:
		return refuse("%s is not closed: the last closed day is %s", from, v.closing.Through())
	case from.Month() < v.month && v.settled:
		return refuse("%s is settled, which is final: %s is the first day that can be opened again", from.Month(), v.month.First())
	case through != nil && *through != v.closing.Day:
		return refuse("the last closed day is %s, not %s: days are closed in order, so open all of them from %s on", v.closing.Day, *through, from)
	}
	return nil
}

// reopenMonth computes what is void in a month, for each user.
func (r *Rewards) reopenMonth(
	ctx context.Context, v view, b ledger.Books, month beacon.Month, reopening *ledger.Reopening, report *ReopenReport,
) error {
	for after := beacon.UserID(""); ; {
		users, err := r.Store.UserPage(ctx, month, after, r.pageSize)
		if err != nil || len(users) == 0 {
			return err
		}
		for i := range users {
			of, err := b.UserMonths(ctx, users[i].User, month, month) // as of the snapshot
			if err != nil {
				return err
			}
			for i := range of {
				if err := reopenUser(ctx, v.reopened, b, &of[i], reopening, report); err != nil {
					return err
				}
			}
		}
		after = users[len(users)-1].User
	}
}

// reopenUser computes what is void of a user's month, and the sums of what holds. It
// recomputes both from the rows, so that a damaged sum is found and not passed on.
func reopenUser(
	ctx context.Context, reopened ledger.Reopenings, b ledger.Books, user *ledger.UserMonth, to *ledger.Reopening, report *ReopenReport,
) error {
	holds := map[beacon.HotspotID]*ledger.HotspotMonth{}
	void := ledger.Row{
		Day: max(to.From, user.Month.First()), Owned: beacon.Owned{User: user.User}, Revision: to.Revision,
		Corrects: ledger.Seed(user.User, user.Month),
	}
	var sum ledger.Sum
	var held beacon.Amount
	last, rows := void.Corrects, 0
	read := func(some func(ledger.Books) error) error { return some(b) }
	err := ledger.Walk(ctx, read, user.User, user.Month, func(row ledger.Row, chain ledger.Hash) error {
		last = chain
		if !row.Corrects.IsZero() || !reopened.Holds(&row) {
			return nil
		}
		m := holds[row.Hotspot]
		if m == nil {
			m = &ledger.HotspotMonth{Month: user.Month, Owned: row.Owned, Through: -1}
			holds[row.Hotspot] = m
		}
		if row.Day >= to.From {
			sum, rows = sum.Plus(row.Sum()), rows+1
			return nil
		}
		if row.IsHeld() {
			held += row.Total()
		}
		void.Corrects = chain
		m.Through, m.Tier, m.Sum = row.Day, row.Tier, m.Plus(row.Sum())
		return nil
	})
	if err != nil || rows == 0 {
		return err
	}
	var left ledger.Sum
	next := *user
	next.Hotspots = 0
	for _, m := range holds {
		if left = left.Plus(m.Sum); m.Through < 0 {
			to.Gone = append(to.Gone, *m)
			continue
		}
		next.Hotspots++
		to.Hotspots = append(to.Hotspots, *m)
	}
	if last != user.Chain || left.Plus(sum) != user.Sum {
		return errMismatch(user.User, user.Month.String())
	}
	void.Served, void.Expected, void.Earned = int(sum.Served), int(sum.Expected), sum.Earned
	next.Rows, next.Chain, next.Sum, next.Held = next.Rows+1, next.Chain.Next(&void), left, held
	to.Corrections, to.Users = append(to.Corrections, void), append(to.Users, next)
	report.Rows, report.Earned = report.Rows+rows, report.Earned.Plus(sum.Earned)
	report.user(user.User, rows, sum.Earned)
	return nil
}

// user adds what is taken from a user in a month.
func (r *ReopenReport) user(user beacon.UserID, rows int, earned beacon.Earned) {
	at, known := r.index[user]
	if !known {
		at = len(r.Users)
		r.index[user], r.Users = at, append(r.Users, ReopenedUser{User: user})
	}
	u := &r.Users[at]
	u.Rows, u.Earned = u.Rows+rows, u.Earned.Plus(earned)
}
