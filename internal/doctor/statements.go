package doctor

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/internal/store"
)

func accountCursor(run *checkRun, s store.Snapshot) *cursor[ledger.Account] {
	return newCursor(run, func(a *ledger.Account) string { return string(a.User) }, func(after ledger.Account) ([]ledger.Account, error) {
		return s.AccountsAfter(run.ctx, after.User)
	})
}

func userMonthCursor(run *checkRun, s store.Snapshot, month beacon.Month) *cursor[ledger.UserMonth] {
	return newCursor(run, func(m *ledger.UserMonth) string { return string(m.User) }, func(after ledger.UserMonth) ([]ledger.UserMonth, error) {
		return s.UserMonthsAfter(run.ctx, month, after.User)
	})
}

func hotspotMonthCursor(run *checkRun, s store.Snapshot, month beacon.Month) *cursor[ledger.HotspotMonth] {
	return newCursor(run, func(m *ledger.HotspotMonth) string { return ownedKey(m.Owned) }, func(after ledger.HotspotMonth) ([]ledger.HotspotMonth, error) {
		return s.HotspotMonthsAfter(run.ctx, month, after.Owned)
	})
}

func statementCursor(run *checkRun, s store.Snapshot) *cursor[ledger.Statement] {
	key := func(s *ledger.Statement) string { return fmt.Sprintf("%s %020d", s.User, s.Month) }
	return newCursor(run, key, func(after ledger.Statement) ([]ledger.Statement, error) {
		return s.StatementsAfter(run.ctx, after.User, after.Month)
	})
}

// auditor checks what is settled, one user at a time.
type auditor struct {
	*checkRun
	rules    policy.Set
	finished []beacon.Month // settled for everyone

	accounts   *cursor[ledger.Account]
	statements *cursor[ledger.Statement]
	totals     *cursor[ledger.HotspotTotal]
	months     []*cursor[ledger.UserMonth] // one per month
	hotspots   []*cursor[ledger.HotspotMonth]

	told int // number of statements checked
}

// statements recomputes every statement's hash, follows the chain of each user's
// statements, and adds up accounts and totals.
func statements(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		a, err := newAuditor(run, s)
		if err != nil {
			return err
		}
		for account := a.accounts.head(); account != nil && run.failed == nil; account = a.accounts.head() {
			run.row()
			a.account(account)
			a.accounts.pass()
		}
		run.lookedAt("%d statements of %d accounts, and the totals of their hotspots", a.told, run.rows.Load())
		if run.failed != nil {
			return run.failed
		}
		for i := 1; i < len(a.finished); i++ {
			if a.finished[i] != a.finished[i-1]+1 {
				run.wrong(a.finished[i].String(), "is settled, but the month before it is not")
			}
		}
		return nil
	})
}

func newAuditor(run *checkRun, s store.Snapshot) (*auditor, error) {
	a := &auditor{checkRun: run, accounts: accountCursor(run, s), statements: statementCursor(run, s)}
	var err error
	if a.rules, err = run.policies(s); err != nil {
		return nil, err
	}
	months, err := allMonths(run, s, nil)
	if err != nil {
		return nil, err
	}
	for _, month := range months {
		a.months = append(a.months, userMonthCursor(run, s, month))
		a.hotspots = append(a.hotspots, hotspotMonthCursor(run, s, month))
	}
	a.totals = newCursor(run, func(t *ledger.HotspotTotal) string { return ownedKey(t.Owned) }, func(after ledger.HotspotTotal) ([]ledger.HotspotTotal, error) {
		return s.TotalsAfter(run.ctx, after.Owned)
	})
	a.finished, err = s.FinishedMonths(run.ctx)
	return a, err
}

// account checks everything that is settled for one user.
func (a *auditor) account(account *ledger.Account) {
	months := a.monthsOf(account.User)
	var sum ledger.Sum
	last := ledger.Statement{}
	last.Month = ledger.NoMonth
	for s := a.statements.head(); s != nil && s.User <= account.User; s = a.statements.head() {
		if s.User == account.User { // a statement without an account is reported by another check
			a.statement(s, &last, months[s.Month])
			sum, last = sum.Plus(s.Sum), *s
			delete(months, s.Month)
		}
		a.statements.pass()
	}
	settled := account.Settled
	if n := len(a.finished); n > 0 {
		settled = max(settled, a.finished[n-1])
	}
	for month, m := range months {
		if month <= settled {
			a.wrong(string(account.User), "has no statement for %s, which is settled, over %s", month, m.Total())
		}
	}
	user := string(account.User)
	switch {
	case account.Settled != last.Month || account.Hash != last.Hash:
		a.wrong(user, "the account is settled through %s with hash %.12s…, but the last statement is for %s with %.12s…",
			monthName(account.Settled), account.Hash, monthName(last.Month), last.Hash)
	case account.Sum != sum:
		a.wrong(user, "the account is %s, but the statements add up to %s", parts(account.Earned), parts(sum.Earned))
	}
	a.totalsOf(account)
}

func monthName(m beacon.Month) string {
	if m == ledger.NoMonth {
		return "no month"
	}
	return m.String()
}

// monthsOf returns the sums of a user's months.
func (a *auditor) monthsOf(user beacon.UserID) map[beacon.Month]*ledger.UserMonth {
	months := map[beacon.Month]*ledger.UserMonth{}
	for _, c := range a.months {
		for m := c.head(); m != nil && m.User <= user; m = c.head() {
			if m.User == user {
				found := *m
				months[m.Month] = &found
			}
			c.pass()
		}
	}
	return months
}

// statement checks that what a statement covers has not changed since.
func (a *auditor) statement(s, before *ledger.Statement, month *ledger.UserMonth) {
	a.told++
	id := fmt.Sprintf("statement of %s for %s", s.Month, s.User)
	switch {
	case s.Previous != before.Hash:
		a.wrong(id, "follows %.12s…, but the one before it is %.12s…", s.Previous, before.Hash)
	case ledger.Seal(s.Previous, &s.UserMonth, a.rules.LinesIn(s.Month)) != s.Hash:
		a.wrong(id, "its hash does not match its contents")
	case month == nil:
		a.wrong(id, "there is no sum of that month")
	case *month != s.UserMonth:
		a.wrong(id, "is for %s in %d rows, but the month now has %s in %d", parts(s.Earned), s.Rows, parts(month.Earned), month.Rows)
	case s.SettledAt.Before((s.Month + 1).Start()):
		a.wrong(id, "was settled before the month was over")
	}
}

// totalsOf compares the totals of a user's hotspots with their months.
func (a *auditor) totalsOf(account *ledger.Account) {
	user := account.User
	months := map[beacon.HotspotID][]ledger.HotspotMonth{}
	for _, c := range a.hotspots {
		for m := c.head(); m != nil && m.User <= user; m = c.head() {
			if m.User == user {
				months[m.Hotspot] = append(months[m.Hotspot], *m)
			}
			c.pass()
		}
	}
	for t := a.totals.head(); t != nil && t.User <= user; t = a.totals.head() {
		if t.User == user {
			a.total(t, months[t.Hotspot])
			months[t.Hotspot] = slices.DeleteFunc(months[t.Hotspot], func(m ledger.HotspotMonth) bool { return m.Month <= t.Through })
		} else {
			a.wrong(string(t.Hotspot), "has a total for %s, which has no account", t.User)
		}
		a.totals.pass()
	}
	for hotspot, rest := range months {
		if len(rest) > 0 && rest[0].Month <= account.Settled {
			a.wrong(string(hotspot), "%s is settled but not in its total", rest[0].Month)
		}
	}
}

func (a *auditor) total(t *ledger.HotspotTotal, months []ledger.HotspotMonth) {
	is := ledger.HotspotTotal{Owned: t.Owned, Through: ledger.NoMonth}
	for _, m := range months {
		if m.Month <= t.Through {
			is.Through, is.Tier, is.Sum = m.Month, m.Tier, is.Plus(m.Sum)
		}
	}
	if is != *t {
		a.wrong(string(t.Hotspot), "its total is %s through %s, but its months add up to %s through %s",
			parts(t.Earned), t.Through, parts(is.Earned), monthName(is.Through))
	}
}

// documents generates every statement as an operator receives it, and verifies it the
// way an operator would.
func documents(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		rules, err := run.policies(s)
		if err != nil {
			return err
		}
		all := statementCursor(run, s)
		for st := all.head(); st != nil; st = all.head() {
			run.row()
			if err := run.document(s, st, rules); err != nil {
				if run.ctx.Err() != nil {
					return err
				}
				run.wrong(fmt.Sprintf("statement of %s for %s", st.Month, st.User), "%v", err)
			}
			all.pass()
		}
		run.lookedAt("%d statements, written and verified", run.rows.Load())
		return run.failed
	})
}

func (run *checkRun) document(s store.Snapshot, st *ledger.Statement, rules policy.Set) error {
	out, in := io.Pipe()
	verdict := make(chan error, 1)
	go func() {
		report, err := statement.Verify(out, rules)
		if err == nil && (report.Hash != st.Hash || report.User != st.User) {
			err = errors.New("the document belongs to another user or month")
		}
		_, _ = io.Copy(io.Discard, out) // else the writer would block forever
		verdict <- err
	}()
	err := statement.WriteJSON(in, st, rules.In(st.Month), func(fn func(ledger.Row, ledger.Hash) error) error {
		return ledger.Walk(run.ctx, func(read func(ledger.Books) error) error { return read(s.Books()) }, st.User, st.Month, fn)
	})
	_ = in.CloseWithError(err) // nil ends the document
	if verified := <-verdict; err == nil {
		err = verified
	}
	return err
}
