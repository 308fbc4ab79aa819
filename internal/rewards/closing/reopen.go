package closing

import (
	"context"
	"errors"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
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
func (r *Closer) Reopen(
	ctx context.Context, by beacon.Actor, from beacon.Day, through *beacon.Day, confirmed bool,
) (ReopenReport, error) {
	var report ReopenReport
	var reopening ledger.Reopening
	_, err := r.View(ctx, func(v rewards.View, b ledger.Books) error {
		if err := mayReopen(v, from, through); err != nil {
			return err
		}
		reopening = ledger.Reopening{
			Revision: v.Revision() + 1, From: from, Through: v.Closing.Day, At: r.Clock.Now(), Closing: v.Closing,
		}
		report = ReopenReport{From: from, Through: v.Closing.Day, index: map[beacon.UserID]int{}}
		for month := from.Month(); month <= v.Closing.Day.Month(); month++ {
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
	err = r.Days.Reopen(ctx, reopening, by)
	if errors.Is(err, ledger.ErrSettled) {
		err = rewards.Refuse("%s or a later month is settled, or is being settled", from.Month())
	}
	return report, beacon.Word(err, beacon.Conflict, "days were closed or opened again meanwhile: try again")
}

// mayReopen returns an error for days that are not closed, or are settled.
func mayReopen(v rewards.View, from beacon.Day, through *beacon.Day) error {
	switch {
	case !v.Begun:
		return rewards.Refuse("no day is closed")
	case from > v.Closing.Day:
		return rewards.Refuse("%s is not closed: the last closed day is %s", from, v.Closing.Through())
	case from.Month() < v.Month && v.Settled:
		return rewards.Refuse("%s is settled, which is final: %s is the first day that can be opened again", from.Month(), v.Month.First())
	case through != nil && *through != v.Closing.Day:
		return rewards.Refuse("the last closed day is %s, not %s: days are closed in order, so open all of them from %s on", v.Closing.Day, *through, from)
	}
	return nil
}

// reopenMonth computes what is void in a month, for each user.
func (r *Closer) reopenMonth(
	ctx context.Context, v rewards.View, b ledger.Books, month beacon.Month, reopening *ledger.Reopening, report *ReopenReport,
) error {
	for after := beacon.UserID(""); ; {
		users, err := r.Days.UserPage(ctx, month, after, r.PageSize)
		if err != nil || len(users) == 0 {
			return err
		}
		for i := range users {
			of, err := b.UserMonths(ctx, users[i].User, month, month) // as of the snapshot
			if err != nil {
				return err
			}
			for i := range of {
				if err := reopenUser(ctx, v.Reopened, b, &of[i], reopening, report); err != nil {
					return err
				}
			}
		}
		after = users[len(users)-1].User
	}
}

// reopenUser computes what is void of a user's month, and the sums of what is still valid. It
// recomputes both from the rows, so that a damaged sum is found and not passed on.
func reopenUser(
	ctx context.Context, reopened ledger.Reopenings, b ledger.Books, user *ledger.UserMonth, to *ledger.Reopening, report *ReopenReport,
) error {
	valid := map[beacon.HotspotID]*ledger.HotspotMonth{}
	void := ledger.Row{
		Kind: ledger.Correction, Day: max(to.From, user.Month.First()), Owned: beacon.Owned{User: user.User}, Revision: to.Revision,
		Corrects: ledger.Seed(user.User, user.Month),
	}
	var sum ledger.Sum
	var held beacon.Amount
	last, rows := void.Corrects, 0
	read := func(some func(ledger.Books) error) error { return some(b) }
	err := ledger.Walk(ctx, read, user.User, user.Month, func(row ledger.Row, chain ledger.Hash) error {
		last = chain
		if row.Kind != ledger.Earning || !reopened.Valid(&row) {
			return nil
		}
		m := valid[row.Hotspot]
		if m == nil {
			m = &ledger.HotspotMonth{Month: user.Month, Owned: row.Owned, Through: -1}
			valid[row.Hotspot] = m
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
	for _, m := range valid {
		if left = left.Plus(m.Sum); m.Through < 0 {
			to.Gone = append(to.Gone, *m)
			continue
		}
		next.Hotspots++
		to.Hotspots = append(to.Hotspots, *m)
	}
	if last != user.Chain || left.Plus(sum) != user.Sum {
		return rewards.Mismatch(user.User, user.Month.String())
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
