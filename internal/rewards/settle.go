package rewards

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Grace is how long a month stays open after its end, for corrections (decision N17).
const Grace = 72 * time.Hour

// unsettled returns how many months from one on are over, with their grace period, at a
// moment.
func unsettled(first beacon.Month, at time.Time) int {
	return max(int(beacon.MonthOf(at.Add(-Grace))-first), 0)
}

// SettleReport is the outcome of a settlement.
type SettleReport struct {
	Month      beacon.Month
	Statements int           // of the month
	Written    int           // of them, by this call
	Total      beacon.Amount // of all of them
	Already    bool          // the month was settled for everyone before
}

// Settle writes every user's statement of a month exactly once, however many
// processes settle at the same time and wherever one is killed: each statement is
// written whole, and an existing one is left as it is. Force settles a month whose
// grace period is not over. Progress receives how many sums and statements are done,
// and of how many.
func (r *Rewards) Settle(
	ctx context.Context, by beacon.Actor, month beacon.Month, force bool, progress func(done, total int),
) (SettleReport, error) {
	if err := r.Reload(ctx); err != nil {
		return SettleReport{}, err
	}
	s := &settlement{Rewards: r, by: by, report: SettleReport{Month: month}, policies: r.policySet().LinesIn(month), progress: progress}
	if err := s.survey(ctx, force); err != nil || s.report.Already {
		return s.report, err
	}
	for _, do := range []func(context.Context) error{s.releaseDue, s.addTotals, s.writeStatements, s.writeRest} {
		if err := do(ctx); err != nil {
			return s.report, err
		}
	}
	return s.report, r.Store.FinishMonth(ctx, month, s.revision, by, r.Now())
}

// settlement is the state of one call of Settle.
type settlement struct {
	*Rewards
	by       beacon.Actor
	report   SettleReport
	revision int64 // of the ledger
	hotspots int   // with a sum
	policies []string
	progress func(done, total int)
	done     int // sums and statements
}

// survey checks that the month can be settled, and counts what there is to do.
func (s *settlement) survey(ctx context.Context, force bool) error {
	v, err := s.view(ctx, nil)
	if err != nil {
		return err
	}
	s.revision = v.revision()
	if s.report.Already = v.settled && s.report.Month < v.month; !s.report.Already {
		if err := s.ripe(ctx, v, s.report.Month, force); err != nil {
			return err
		}
	}
	for after := beacon.UserID(""); ; { // in pages: a statement about everyone may take longer than the database allows
		users, err := s.Store.UserPage(ctx, s.report.Month, after, s.pageSize)
		if err != nil || len(users) == 0 {
			return err
		}
		for _, u := range users {
			s.report.Statements++
			s.hotspots += u.Hotspots
			s.report.Total += u.Total()
		}
		after = users[len(users)-1].User
	}
}

// ripe returns an error for a month that is not over, not closed, or not next in
// order: each statement names the one before it. Whether it is over does not depend on
// the clock of this process alone.
func (r *Rewards) ripe(ctx context.Context, v view, month beacon.Month, force bool) error {
	end := (month + 1).Start()
	certain, by, err := r.certainly(ctx)
	if err != nil {
		return err
	}
	due := end
	if !force {
		due = end.Add(Grace)
	}
	switch {
	case !v.begun, month < v.month:
		return refuse("there is nothing to settle in %s", month)
	case month > v.month:
		return refuse("%s is not settled yet: settle it first", v.month)
	case r.Now().Before(end):
		return refuse("%s is not over yet", month)
	case v.first <= month.Last():
		return refuse("%s cannot be settled before all its days are closed, and %s is still open: a running server closes each day a few minutes after it ends",
			month, v.first)
	case r.Now().Before(due):
		return refuse("%s can be settled from %s on; before that, ask for it to be settled early (\"early\", or --force)", month, beacon.FormatTime(due))
	case certain.Before(due):
		return refuse("%s can be settled from %s on, and by %s it is only %s: see beacon rewards clock",
			month, beacon.FormatTime(due), by, beacon.FormatTime(certain))
	}
	return nil
}

// certainly returns the latest moment that has certainly come, and who says so. It is the
// earliest of three times: our own clock, what servers have written to disk as certain by
// all of their clocks, and the database's clock. It is for a process that may not have
// asked them before.
func (r *Rewards) certainly(ctx context.Context) (at time.Time, by string, err error) {
	state, err := r.Store.ClockState(ctx)
	if err != nil {
		return at, "", err
	}
	at, by = r.Now(), here
	if !state.Certain.IsZero() && state.Certain.Before(at) {
		at, by = state.Certain, onDisk
	}
	if r.RealTime && !state.Database.IsZero() && state.Database.Before(at) {
		at, by = state.Database, database
	}
	return at, by, nil
}

func (s *settlement) step(n int) {
	s.done += n
	s.progress(s.done, s.hotspots+s.report.Statements)
}

// addTotals adds the month to the totals of all hotspots. That alone settles nothing:
// readers check the month that each total reaches to, until the user has a statement.
func (s *settlement) addTotals(ctx context.Context) error {
	for after := (beacon.Owned{}); ; {
		sums, err := s.Store.HotspotPage(ctx, s.report.Month, after, s.pageSize)
		if err != nil || len(sums) == 0 {
			return err
		}
		if err := s.Store.AddTotals(ctx, s.revision, sums); err != nil {
			return err
		}
		s.step(len(sums))
		after = sums[len(sums)-1].Owned
	}
}

// writeStatements writes a statement of the month for every user who has none.
func (s *settlement) writeStatements(ctx context.Context) error {
	for after := beacon.UserID(""); ; {
		users, err := s.Store.UserPage(ctx, s.report.Month, after, s.pageSize)
		if err != nil || len(users) == 0 {
			return err
		}
		if err := s.writePage(ctx, users); err != nil {
			return err
		}
		after = users[len(users)-1].User
	}
}

// writeRest writes a statement for every user who earned nothing in the month but has held
// days that it must list.
func (s *settlement) writeRest(ctx context.Context) error {
	for after := beacon.UserID(""); ; {
		users, err := s.Store.UsersToEnd(ctx, s.report.Month, after, s.pageSize)
		if err != nil || len(users) == 0 {
			return err
		}
		months := make([]ledger.UserMonth, len(users))
		for i, user := range users {
			months[i] = ledger.UserMonth{Month: s.report.Month, User: user, Chain: ledger.Seed(user, s.report.Month)}
		}
		s.report.Statements += len(users)
		if err := s.writePage(ctx, months); err != nil {
			return err
		}
		after = users[len(users)-1]
	}
}

func (s *settlement) writePage(ctx context.Context, users []ledger.UserMonth) error {
	first, last := users[0].User, users[len(users)-1].User
	accounts, err := s.Store.Accounts(ctx, first, last)
	if err != nil {
		return err
	}
	ended, err := s.Store.ToEnd(ctx, s.report.Month, first, last)
	if err != nil {
		return err
	}
	written, err := s.Store.Settle(ctx, s.by, s.revision, s.statements(users, accounts, ended), ended...)
	if err != nil {
		return err
	}
	s.report.Written += written
	s.step(len(users))
	return s.check(ctx, users)
}

// check verifies that every user has a statement, whichever process wrote it, before
// the month is finished for good.
func (s *settlement) check(ctx context.Context, users []ledger.UserMonth) error {
	accounts, err := s.Store.Accounts(ctx, users[0].User, users[len(users)-1].User)
	if err != nil {
		return err
	}
	settled := make(map[beacon.UserID]bool, len(accounts))
	for i := range accounts {
		settled[accounts[i].User] = accounts[i].Settled >= s.report.Month
	}
	for i := range users {
		if !settled[users[i].User] {
			return fmt.Errorf("%s has no statement for %s: its account changed in the meantime; try again", users[i].User, s.report.Month)
		}
	}
	return nil
}

// statements makes the statements of the users who have none of the month, with what became
// of held days. All lists are ordered by user.
func (s *settlement) statements(users []ledger.UserMonth, accounts []ledger.Account, ended []ledger.HeldDay) []ledger.Statement {
	now := s.Now()
	var all []ledger.Statement
	for i := range users {
		for len(accounts) > 0 && accounts[0].User < users[i].User {
			accounts = accounts[1:]
		}
		if len(accounts) == 0 || accounts[0].User != users[i].User || accounts[0].Settled >= s.report.Month {
			continue
		}
		month := users[i]
		for ; len(ended) > 0 && ended[0].User <= month.User; ended = ended[1:] {
			if ended[0].User == month.User {
				row := ended[0].Ending()
				month.Rows, month.Chain = month.Rows+1, month.Chain.Next(&row)
			}
		}
		previous := accounts[0].Hash
		all = append(all, ledger.Statement{
			UserMonth: month, Previous: previous, Hash: ledger.Seal(previous, &month, s.policies), SettledAt: now,
		})
	}
	return all
}

// Statement returns a settled month with all of its rows (decision X6).
func (r *Rewards) Statement(ctx context.Context, p beacon.Principal, q StatementQuery) (Statement, error) {
	user, err := p.Resolve(q.User)
	if err != nil {
		return Statement{}, err
	}
	var s Statement
	settled := false
	v, err := r.view(ctx, func(_ view, b ledger.Books) (err error) {
		if validUser(user) {
			s.Statement, settled, err = b.Statement(ctx, user, q.Month)
		}
		if err == nil && settled {
			err = r.checkHash(ctx, &s.Statement)
		}
		return err
	})
	if err != nil {
		return Statement{}, err
	}
	if !settled {
		return Statement{}, r.noStatement(v, q.Month)
	}
	s.Policies = r.policySet().In(q.Month)
	s.Each = func(ctx context.Context, fn func(ledger.Row, ledger.Hash) error) error {
		return r.eachRow(ctx, &s.Statement, fn)
	}
	return s, nil
}

// Rows calls fn for each row of a user, month by month in the order of its chain, with
// the hash of the chain: of settled months and of the days closed since.
func (r *Rewards) Rows(ctx context.Context, p beacon.Principal, user beacon.UserID, fn func(ledger.Row, ledger.Hash) error) error {
	user, err := p.Resolve(user)
	if err != nil || !validUser(user) {
		return err
	}
	read := func(some func(ledger.Books) error) error { return r.Store.Books(ctx, some) }
	var account ledger.Account
	var closing ledger.Closing
	any := false
	err = read(func(b ledger.Books) (err error) {
		if account, any, err = b.Account(ctx, user); err == nil && any {
			closing, any, err = b.Closing(ctx)
		}
		return err
	})
	if err != nil || !any {
		return err
	}
	for month := account.FirstDay.Month(); month <= closing.Day.Month(); month++ {
		if err := ledger.Walk(ctx, read, user, month, fn); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rewards) noStatement(v view, month beacon.Month) error {
	text := "nothing was earned in " + month.String()
	if r.status(v, month, false) != Settled {
		text = fmt.Sprintf("%s is not settled yet: that happens %d hours after its end", month, int(Grace.Hours()))
	}
	return &beacon.Error{Kind: beacon.NotFound, Message: text}
}

// eachRow reads the rows of a statement day by day. Rows never change, so it needs no
// single snapshot, and a slow reader blocks nobody.
func (r *Rewards) eachRow(ctx context.Context, s *ledger.Statement, fn func(ledger.Row, ledger.Hash) error) error {
	read := func(some func(ledger.Books) error) error { return r.Store.Books(ctx, some) }
	last := ledger.Seed(s.User, s.Month)
	err := ledger.Walk(ctx, read, s.User, s.Month, func(row ledger.Row, chain ledger.Hash) error {
		last = chain
		return fn(row, chain)
	})
	if err == nil && last != s.Chain {
		err = fmt.Errorf("the rows of %s in %s do not add up to its statement: another program changed the database", s.User, s.Month)
	}
	return err
}
