package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// Summary returns what a user earned in a period: closed days from the ledger, and
// open days computed with the same function (decision N17).
func (r *Earnings) Summary(ctx context.Context, p beacon.Principal, q SummaryQuery) (Summary, error) {
	user, err := p.Resolve(q.User)
	if err != nil {
		return Summary{}, err
	}
	month := beacon.MonthOf(r.Clock.Now())
	if q.Period == Last {
		month--
	}
	s := Summary{User: user, Start: month.Start(), End: (month + 1).Start(), Status: rewards.InProgress}
	if q.Period == All {
		s.Start, s.End = r.Clock.Now(), r.Clock.Now()
		return r.summarize(ctx, s, rewards.AnyMonth)
	}
	return r.summarize(ctx, s, month)
}

// summarize fills in a summary of one month, or of all.
func (r *Earnings) summarize(ctx context.Context, s Summary, month beacon.Month) (Summary, error) {
	var a *accrual
	settled := false
	v, err := r.View(ctx, func(v rewards.View, b ledger.Books) (err error) {
		settled = false
		if !rewards.ValidUser(s.User) {
			a = newAccrual(s.User, nil)
			return nil
		}
		names, err := b.Names(ctx, s.User, v.First.Time())
		if err != nil {
			return err
		}
		a = newAccrual(s.User, names)
		if month == rewards.AnyMonth {
			err = r.readAll(ctx, &s, v, b, a)
		} else {
			settled, err = r.readMonth(ctx, &s, month, b, a)
		}
		if err != nil {
			return err
		}
		return a.nameRest(ctx, b)
	})
	if err != nil {
		return Summary{}, err
	}
	if month != rewards.AnyMonth {
		s.Status = r.StatusOf(v, month, settled)
	}
	days := r.openDays(v)
	for _, day := range r.OpenDays(v, month) {
		if err := days.each(ctx, a, day, a.add); err != nil {
			return Summary{}, err
		}
		if month == rewards.AnyMonth && len(a.sums) > 0 && day.Time().Before(s.Start) {
			s.Start = day.Time()
		}
	}
	if month == rewards.AnyMonth || month == r.Today().Month() {
		a.addInService(r.Today(), r.InService)
	}
	s.Hotspots = a.list()
	s.Total, s.Payment = a.total()
	if len(s.Hotspots) != len(a.sums) {
		return Summary{}, rewards.Mismatch(s.User, "the list of hotspots")
	}
	return s, nil
}

// readMonth reads the closed part of a month, and whether it is settled.
func (r *Earnings) readMonth(ctx context.Context, s *Summary, month beacon.Month, b ledger.Books, a *accrual) (settled bool, err error) {
	statement, settled, err := b.Statement(ctx, s.User, month)
	if err != nil {
		return false, err
	}
	months, users, err := readSums(ctx, b, s.User, month)
	if err != nil {
		return false, err
	}
	held, err := readHeld(ctx, b, s.User)
	if err != nil {
		return false, err
	}
	if err := held.check(s.User, month, users); err != nil {
		return false, err
	}
	a.addMonths(months, nil)
	through := ledger.NoMonth
	if settled {
		through = month
		for i := range months {
			a.addPaid(months[i].Hotspot, Payment{Settled: months[i].Total()})
		}
		if len(users) == 0 || users[0] != statement.UserMonth {
			return false, rewards.Mismatch(s.User, month.String())
		}
		if err := r.checkHash(ctx, &statement); err != nil {
			return false, err
		}
	}
	return settled, a.pay(s.User, held, month, through)
}

// readAll reads everything that is closed: the totals, which hold what is settled,
// and the months since. A settlement under way adds its month to the totals one
// hotspot at a time.
func (r *Earnings) readAll(ctx context.Context, s *Summary, v rewards.View, b ledger.Books, a *accrual) error {
	account, found, err := b.Account(ctx, s.User)
	if err != nil {
		return err
	}
	last := v.Closing.Day.Month()
	if !found {
		months, err := b.UserMonths(ctx, s.User, max(last-historyMonths, 0), last)
		if err == nil && len(months) > 0 {
			err = rewards.Mismatch(s.User, "the account")
		}
		return err
	}
	s.Start = account.FirstDay.Time()
	totals, err := b.Totals(ctx, s.User)
	if err != nil {
		return err
	}
	through := make(map[beacon.HotspotID]beacon.Month, len(totals))
	for _, t := range totals {
		through[t.Hotspot] = t.Through
		a.add(t.Hotspot, t.Tier, t.Sum)
		a.addPaid(t.Hotspot, Payment{Settled: t.Total()})
	}
	since := max(account.Settled+1, account.FirstDay.Month())
	for month := since; month <= last; month++ {
		months, err := b.HotspotMonths(ctx, s.User, month)
		if err != nil {
			return err
		}
		a.addMonths(months, through)
		for i := range months {
			if m := &months[i]; through[m.Hotspot] >= month { // being settled, and not yet paid
				a.addPaid(m.Hotspot, Payment{Settled: -m.Total()})
			}
		}
	}
	users, err := b.UserMonths(ctx, s.User, since, last)
	if err != nil {
		return err
	}
	want := account.Sum
	for i := range users {
		want = want.Plus(users[i].Sum)
	}
	if earned, paid := a.total(); earned != want || paid.Settled != account.Total() {
		return rewards.Mismatch(s.User, "the account")
	}
	held, err := readHeld(ctx, b, s.User)
	if err != nil {
		return err
	}
	for month := since; month <= last; month++ {
		if err := held.check(s.User, month, users); err != nil {
			return err
		}
	}
	return a.pay(s.User, held, rewards.AnyMonth, account.Settled)
}
