package earnings

import (
	"context"
	"sort"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// historyMonths is the default number of months in a history.
const historyMonths = 12

// History lists a user's months, newest first: those that the queried days touch,
// from the first in which the user earned something up to now. A month without
// earnings in between is listed with zeros (decision N19).
func (r *Earnings) History(ctx context.Context, p beacon.Principal, q HistoryQuery) (beacon.Listed[MonthSum], error) {
	list := beacon.Listed[MonthSum]{Page: q.Page}
	user, err := p.Resolve(q.User)
	if err != nil || !rewards.ValidUser(user) {
		return list, err
	}
	from, to := r.asked(q)
	months, err := r.months(ctx, user, from, to)
	if err != nil {
		return list, err
	}
	list.Total = len(months)
	start := min(q.Page.Offset(), len(months))
	if q.Page.After != "" {
		after, err := beacon.ParseMonth(q.Page.After)
		if err != nil {
			return list, err
		}
		start = sort.Search(len(months), func(i int) bool { return months[i].Month < after })
	}
	list.Items = months[start:min(start+q.Page.Size, len(months))]
	return list, nil
}

// asked returns the first and the last month that a query asks for. Future months are
// excluded.
func (r *Earnings) asked(q HistoryQuery) (from, to beacon.Month) {
	to = beacon.MonthOf(r.Clock.Now())
	if q.To != nil {
		to = min(to, q.To.Month())
	}
	from = to - (historyMonths - 1)
	if q.From != nil {
		from = q.From.Month()
	}
	return max(from, 0), to
}

// months returns the months in a range, newest first.
func (r *Earnings) months(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]MonthSum, error) {
	var h *history
	v, err := r.View(ctx, func(v rewards.View, b ledger.Books) (err error) {
		h, err = r.readHistory(ctx, user, from, to, v, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	days := r.openDays(v)
	for _, day := range r.OpenDays(v, rewards.AnyMonth) {
		if err := days.addToHistory(ctx, h, day); err != nil {
			return nil, err
		}
	}
	var list []MonthSum
	for month := to; h.found && month >= max(from, h.first); month-- {
		sum := MonthSum{Month: month}
		if known := h.sums[month]; known != nil {
			sum = *known
		}
		list = append(list, sum)
	}
	return list, nil
}

// history adds up a user's months.
type history struct {
	first beacon.Month // the first with earnings
	found bool
	sums  map[beacon.Month]*MonthSum
	user  beacon.UserID
	names []beacon.OwnedName
	open  map[beacon.Month]*accrual // the closed part of months that have open days
}

func (r *Earnings) readHistory(ctx context.Context, user beacon.UserID, from, to beacon.Month, v rewards.View, b ledger.Books) (*history, error) {
	h := &history{user: user, sums: map[beacon.Month]*MonthSum{}, open: map[beacon.Month]*accrual{}}
	account, found, err := b.Account(ctx, user)
	if err != nil {
		return nil, err
	}
	if h.found = found; found {
		h.first = account.FirstDay.Month()
		months, err := b.UserMonths(ctx, user, max(from, h.first), to)
		if err != nil {
			return nil, err
		}
		if err := r.checkMonths(ctx, user, max(from, h.first), to, months, b); err != nil {
			return nil, err
		}
		held, err := readHeld(ctx, b, user)
		if err != nil {
			return nil, err
		}
		for _, m := range months {
			sum := &MonthSum{Month: m.Month, Hotspots: m.Hotspots, Sum: m.Sum}
			if h.sums[m.Month] = sum; m.Month <= account.Settled {
				sum.Settled = m.Total()
			}
			if err := held.check(user, m.Month, months); err != nil {
				return nil, err
			}
		}
		for key, sum := range held {
			if m := h.sums[key.month]; m != nil {
				m.Payment = m.plus(sum.of(key.month <= account.Settled))
			}
		}
	}
	if h.names, err = b.Names(ctx, user, v.First.Time()); err != nil {
		return nil, err
	}
	for _, day := range r.OpenDays(v, rewards.AnyMonth) {
		if h.open[day.Month()] != nil {
			continue
		}
		months, err := b.HotspotMonths(ctx, user, day.Month())
		if err != nil {
			return nil, err
		}
		a := newAccrual(h.user, h.names)
		a.addMonths(months, nil)
		h.open[day.Month()] = a
	}
	return h, nil
}

// addToHistory adds a day that is not closed to its month. The month may be
// outside the queried range and still be the first with earnings.
func (o *openDays) addToHistory(ctx context.Context, h *history, day beacon.Day) error {
	month := day.Month()
	a := h.open[month]
	if a == nil { // midnight has just passed
		a = newAccrual(h.user, h.names)
		h.open[month] = a
	}
	return o.each(ctx, a, day, func(id beacon.HotspotID, tier beacon.Tier, earned ledger.Sum) {
		if !h.found {
			h.first, h.found = month, true
		}
		sum := h.sums[month]
		if sum == nil {
			sum = &MonthSum{Month: month}
			h.sums[month] = sum
		}
		if a.sums[id] == nil {
			sum.Hotspots++
		}
		a.add(id, tier, earned)
		sum.Sum = sum.Plus(earned)
	})
}
