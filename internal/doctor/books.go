package doctor

import (
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
)

// ledgerCheck checks the ledger of a month, one user at a time. It keeps in memory only
// one user's hotspots and a page of each day.
type ledgerCheck struct {
	*checkRun
	s     store.Snapshot
	rules policy.Set
	month beacon.Month

	reopened ledger.Reopenings

	days     []*cursor[ledger.Row]
	hotspots *cursor[ledger.HotspotMonth]
	users    *cursor[ledger.UserMonth]
	accounts *cursor[ledger.Account]

	totals map[beacon.Day]*ledger.Closing // the sums of each day's rows
	holds  bool                           // there are held days
}

// books recomputes what every row earned, the sums of the rows, and the hash chains.
func books(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		rules, err := run.policies(s)
		if err != nil {
			return err
		}
		days, err := s.Days(run.ctx)
		if err != nil {
			return err
		}
		months, err := allMonths(run, s, days)
		if err != nil {
			return err
		}
		totals := map[beacon.Day]*ledger.Closing{}
		for _, day := range days {
			totals[day] = &ledger.Closing{Day: day}
		}
		reopened, err := s.Reopenings(run.ctx)
		if err != nil {
			return err
		}
		holds, err := s.AnyHeldDay(run.ctx)
		if err != nil {
			return err
		}
		for _, month := range months {
			b := &ledgerCheck{checkRun: run, s: s, rules: rules, month: month, totals: totals, reopened: reopened, holds: holds}
			if err := b.walk(); err != nil {
				return err
			}
		}
		run.lookedAt("%d rows of %d days in %d months, with their sums and chains", run.rows.Load(), len(days), len(months))
		return run.closings(s, totals, reopened)
	})
}

// policies returns the stored policies, or those built into the program if none of them
// is usable.
func (run *checkRun) policies(s store.Snapshot) (rules policy.Set, err error) {
	written, err := s.Policies(run.ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range written {
		p, err := policy.ParseLine(w.Text)
		if err != nil || p.Version != w.Version || p.From != w.From || w.Version != len(rules)+1 {
			run.wrong(fmt.Sprint("policy ", w.Version), "cannot be used: %v", err)
			continue
		}
		rules = append(rules, p)
	}
	if len(rules) == 0 {
		rules = policy.Devices()
	}
	return rules, nil
}

// allMonths returns the months that have any data.
func allMonths(run *checkRun, s store.Snapshot, days []beacon.Day) ([]beacon.Month, error) {
	months, ofUsers, err := s.Months(run.ctx)
	if err != nil {
		return nil, err
	}
	months = append(months, ofUsers...)
	for _, day := range days {
		months = append(months, day.Month())
	}
	slices.Sort(months)
	return slices.Compact(months), nil
}

// walk checks a month.
func (b *ledgerCheck) walk() error {
	for day := b.month.First(); day <= b.month.Last(); day++ {
		if b.totals[day] == nil {
			continue
		}
		b.days = append(b.days, newCursor(b.checkRun, func(r *ledger.Row) string { return ownedKey(r.Owned) }, func(after ledger.Row) ([]ledger.Row, error) {
			return b.s.LedgerAfter(b.ctx, day, after.Owned)
		}))
	}
	b.hotspots, b.users = hotspotMonthCursor(b.checkRun, b.s, b.month), userMonthCursor(b.checkRun, b.s, b.month)
	b.accounts = accountCursor(b.checkRun, b.s)
	for user, more := b.next(); more; user, more = b.next() {
		b.user(user)
	}
	return b.failed
}

func ownedKey(o beacon.Owned) string { return string(o.User) + " " + string(o.Hotspot) }

// next returns the first user not yet checked.
func (b *ledgerCheck) next() (user beacon.UserID, found bool) {
	see := func(u beacon.UserID) {
		if !found || u < user {
			user, found = u, true
		}
	}
	for _, day := range b.days {
		if r := day.head(); r != nil {
			see(r.User)
		}
	}
	if m := b.hotspots.head(); m != nil {
		see(m.User)
	}
	if m := b.users.head(); m != nil {
		see(m.User)
	}
	return user, found && b.failed == nil
}

// user adds up one user's rows in the order of their chain.
func (b *ledgerCheck) user(user beacon.UserID) {
	m := statement.NewMonth(user, b.month, b.rules)
	sums := map[beacon.HotspotID]*ledger.HotspotMonth{}
	firstDay := beacon.Day(-1)
	var held []ledger.HeldDay
	err := b.each(user, func(r *ledger.Row) {
		b.row()
		if err := m.Add(r); err != nil {
			b.wrong(nameOf(r), "%v", err)
		}
		if r.Kind != ledger.Earning {
			return
		}
		if firstDay < 0 || r.Day < firstDay {
			firstDay = r.Day
		}
		if b.reopened.Valid(r) {
			held = appendHeld(held, r, m.Sum.Chain)
			b.add(r, sums)
		}
	})
	if err != nil {
		b.wrong(fmt.Sprintf("%s in %s", user, b.month), "its rows cannot be read: %v", err)
	}
	b.held(&m.Sum, held)
	b.hotspotSums(user, sums)
	b.userSum(&m.Sum)
	b.firstDay(user, firstDay)
}

// each calls fn for a user's rows in the order of their chain. In a month of which days were
// opened again they are read once more, one by one.
func (b *ledgerCheck) each(user beacon.UserID, fn func(*ledger.Row)) error {
	walk := b.reopened.Touch(b.month)
	for _, day := range b.days {
		for r := day.head(); r != nil && r.User == user; r = day.head() {
			if !walk {
				fn(r)
			}
			day.pass()
		}
	}
	if walk {
		return ledger.Walk(b.ctx, func(read func(ledger.Books) error) error { return read(b.s.Books()) }, user, b.month, func(r ledger.Row, _ ledger.Hash) error {
			fn(&r)
			return nil
		})
	}
	if !b.holds {
		return nil
	}
	ended, err := b.s.Ended(b.ctx, user, b.month)
	for i := range ended {
		row := ended[i].Ending()
		fn(&row)
	}
	return err
}

// nameOf names a row.
func nameOf(r *ledger.Row) string {
	switch r.Kind {
	case ledger.Correction:
		return fmt.Sprintf("correction of %s on %s", r.User, r.Day)
	case ledger.Ending:
		return fmt.Sprintf("ending of %s on %s", r.User, r.Day)
	default:
		return fmt.Sprintf("%s on %s", r.Hotspot, r.Day)
	}
}

// add adds a valid row to the sums of its hotspot and of its day.
func (b *ledgerCheck) add(r *ledger.Row, sums map[beacon.HotspotID]*ledger.HotspotMonth) {
	m := sums[r.Hotspot]
	if m == nil {
		m = &ledger.HotspotMonth{Month: b.month, Owned: r.Owned}
		sums[r.Hotspot] = m
	}
	m.Through, m.Tier, m.Sum = r.Day, r.Tier, m.Plus(r.Sum())
	total := b.totals[r.Day]
	if total == nil { // of a day that has only rows that were closed again
		total = &ledger.Closing{Day: r.Day}
		b.totals[r.Day] = total
	}
	total.Hotspots, total.Earned = total.Hotspots+1, total.Earned.Plus(r.Earned)
}

func parts(e beacon.Earned) string {
	return fmt.Sprintf("%s (%s + %s + %s)", e.Total(), e.Availability, e.Performance, e.Utilization)
}

// hotspotSums compares the sums of a user's hotspots with their rows.
func (b *ledgerCheck) hotspotSums(user beacon.UserID, sums map[beacon.HotspotID]*ledger.HotspotMonth) {
	for m := b.hotspots.head(); m != nil && m.User == user; m = b.hotspots.head() {
		id := fmt.Sprintf("%s in %s", m.Hotspot, b.month)
		switch is := sums[m.Hotspot]; {
		case is == nil:
			b.wrong(id, "has a sum of %s but no row", m.Total())
		case *is != *m:
			b.wrong(id, "its sum is %s through %s, but its rows add up to %s through %s", parts(m.Earned), m.Through, parts(is.Earned), is.Through)
		}
		delete(sums, m.Hotspot)
		b.hotspots.pass()
	}
	for hotspot := range sums {
		b.wrong(fmt.Sprintf("%s in %s", hotspot, b.month), "has rows but no sum")
	}
}

// userSum compares a user's sum and chain with the rows.
func (b *ledgerCheck) userSum(is *ledger.UserMonth) {
	id := fmt.Sprintf("%s in %s", is.User, b.month)
	m := b.users.head()
	if m == nil || m.User != is.User {
		b.wrong(id, "has %d rows but no sum", is.Rows)
		return
	}
	switch {
	case m.Sum != is.Sum || m.Rows != is.Rows || m.Hotspots != is.Hotspots:
		b.wrong(id, "the sum of %d rows of %d hotspots is %s, but there are %d of %d that add up to %s",
			m.Rows, m.Hotspots, parts(m.Earned), is.Rows, is.Hotspots, parts(is.Earned))
	case m.Held != is.Held:
		b.wrong(id, "the sum of held rows is %s, but they add up to %s", m.Held, is.Held)
	case m.Chain != is.Chain:
		b.wrong(id, "the chain of hashes ends in %.12s…, but the rows give %.12s…", m.Chain, is.Chain)
	}
	b.users.pass()
}

// firstDay checks that the account's first day is that of the user's first row.
func (b *ledgerCheck) firstDay(user beacon.UserID, day beacon.Day) {
	a := b.accounts.head()
	for ; a != nil && a.User < user; a = b.accounts.head() {
		b.accounts.pass()
	}
	if a == nil || a.User != user || day < 0 {
		return // a missing account is reported by another check
	}
	if day < a.FirstDay || a.FirstDay.Month() == b.month && a.FirstDay != day {
		b.wrong(string(user), "first earned on %s, but the account says %s", day, a.FirstDay)
	}
}

// closings compares what was recorded when days were closed with their rows, and the
// revision of the ledger with what was opened again.
func (run *checkRun) closings(s store.Snapshot, totals map[beacon.Day]*ledger.Closing, reopened ledger.Reopenings) error {
	days, err := s.Closings(run.ctx)
	if err != nil {
		return err
	}
	for i, d := range days {
		is := totals[d.Day]
		if is == nil {
			is = &ledger.Closing{}
		}
		delete(totals, d.Day)
		if d.Hotspots != is.Hotspots || d.Earned != is.Earned {
			run.wrong(d.Day.String(), "was closed with %s for %d hotspots, but its rows add up to %s for %d",
				parts(d.Earned), d.Hotspots, parts(is.Earned), is.Hotspots)
		}
		if i > 0 && (days[i-1].Day != d.Day-1 || days[i-1].ClosedAt.IsZero()) {
			run.wrong(d.Day.String(), "was begun before the previous day was closed")
		}
	}
	for day, is := range totals {
		if is.Hotspots == 0 && reopened.Again(day) {
			continue // it was opened again, and its rows are void
		}
		run.wrong(day.String(), "has rows but was never closed")
	}
	revision, err := s.Revision(run.ctx)
	if is := int64(len(reopened)); err == nil && revision != is {
		run.wrong("", "the revision of the ledger is %d, but days were opened again %d times, so no day can be closed and no month settled; "+
			"to set it right: UPDATE reward_revision SET revision = %d", revision, is, is)
	}
	return err
}
