package doctor

import (
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store"
)

// bookkeeper checks the ledger of a month, one user at a time. It keeps in memory only
// one user's hotspots and a page of each day.
type bookkeeper struct {
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
			b := &bookkeeper{checkRun: run, s: s, rules: rules, month: month, totals: totals, reopened: reopened, holds: holds}
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
func (b *bookkeeper) walk() error {
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
	check := b.user
	if b.reopened.Touch(b.month) {
		check = b.corrected
	}
	for user, more := b.next(); more; user, more = b.next() {
		check(user)
	}
	return b.failed
}

func ownedKey(o beacon.Owned) string { return string(o.User) + " " + string(o.Hotspot) }

// next returns the first user not yet checked.
func (b *bookkeeper) next() (user beacon.UserID, any bool) {
	see := func(u beacon.UserID) {
		if !any || u < user {
			user, any = u, true
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
	return user, any && b.failed == nil
}

// user adds up one user's rows in chain order: by day, then by hotspot.
func (b *bookkeeper) user(user beacon.UserID) {
	is := ledger.UserMonth{Month: b.month, User: user, Chain: ledger.Seed(user, b.month)}
	sums := map[beacon.HotspotID]*ledger.HotspotMonth{}
	firstDay := beacon.Day(-1)
	var held []ledger.HeldDay
	for _, day := range b.days {
		for r := day.head(); r != nil && r.User == user; r = day.head() {
			b.row()
			b.earned(r)
			if firstDay < 0 {
				firstDay = r.Day
			}
			is.Rows, is.Chain, is.Sum = is.Rows+1, is.Chain.Next(r), is.Plus(r.Sum())
			held = appendHeld(held, r, is.Chain)
			b.add(r, sums)
			day.pass()
		}
	}
	b.ended(&is)
	b.conclude(&is, sums, held, firstDay)
}

// conclude compares what is stored of a user's month with what its rows add up to.
func (b *bookkeeper) conclude(is *ledger.UserMonth, sums map[beacon.HotspotID]*ledger.HotspotMonth, held []ledger.HeldDay, firstDay beacon.Day) {
	is.Hotspots = len(sums)
	b.held(is, held)
	b.hotspotSums(is.User, sums)
	b.userSum(is)
	b.firstDay(is.User, firstDay)
}

// add adds a row that holds to the sums of its hotspot and of its day.
func (b *bookkeeper) add(r *ledger.Row, sums map[beacon.HotspotID]*ledger.HotspotMonth) {
	m := sums[r.Hotspot]
	if m == nil {
		m = &ledger.HotspotMonth{Month: b.month, Owned: r.Owned}
		sums[r.Hotspot] = m
	}
	m.Through, m.Tier, m.Sum = r.Day, r.Tier, m.Plus(r.Sum())
	if total := b.totals[r.Day]; total != nil { // nil if the row is stored under another day's key
		total.Hotspots, total.Earned = total.Hotspots+1, total.Earned.Plus(r.Earned)
	}
}

// earned recomputes a row.
func (b *bookkeeper) earned(r *ledger.Row) {
	id := fmt.Sprintf("%s on %s", r.Hotspot, r.Day)
	rules := b.rules.On(r.Day)
	switch {
	case rules.Version != r.Policy:
		b.wrong(id, "its reward uses policy %d, which was not in force", r.Policy)
	case r.Served < 0 || r.Served > r.Expected || r.Expected+r.Closed+r.Excused+r.Outside != beacon.MinutesADay ||
		min(r.Closed, r.Excused, r.Outside) < 0:
		b.wrong(id, "its minutes do not add up to a day")
	case rules.CheckGround(&r.Facts) != nil:
		b.wrong(id, "%v", rules.CheckGround(&r.Facts))
	case rules.Reward(r.Facts) != r.Earned:
		want := rules.Reward(r.Facts)
		b.wrong(id, "the ledger says it earned %s, the policy gives %s", parts(r.Earned), parts(want))
	}
}

func parts(e beacon.Earned) string {
	return fmt.Sprintf("%s (%s + %s + %s)", e.Total(), e.Availability, e.Performance, e.Utilization)
}

// hotspotSums compares the sums of a user's hotspots with their rows.
func (b *bookkeeper) hotspotSums(user beacon.UserID, sums map[beacon.HotspotID]*ledger.HotspotMonth) {
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
func (b *bookkeeper) userSum(is *ledger.UserMonth) {
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
func (b *bookkeeper) firstDay(user beacon.UserID, day beacon.Day) {
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
