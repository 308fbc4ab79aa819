package closing

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

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
func (r *Closer) Settle(
	ctx context.Context, by beacon.Actor, month beacon.Month, force bool, progress func(done, total int),
) (SettleReport, error) {
	if err := r.Reload(ctx); err != nil {
		return SettleReport{}, err
	}
	s := &settlement{Closer: r, by: by, report: SettleReport{Month: month}, policies: r.Known().LinesIn(month), progress: progress}
	if err := s.begin(ctx, force); err != nil || s.report.Already {
		return s.report, err
	}
	for _, do := range []func(context.Context) error{s.holds.ReleaseDue, s.addTotals, s.writeStatements, s.writeRest} {
		if err := do(ctx); err != nil {
			return s.report, err
		}
	}
	return s.report, r.Months.FinishMonth(ctx, month, s.revision, by, r.Clock.Now())
}

// settlement is the state of one call of Settle.
type settlement struct {
	*Closer
	by       beacon.Actor
	report   SettleReport
	revision int64 // of the ledger
	hotspots int   // with a sum
	policies []string
	progress func(done, total int)
	done     int // sums and statements
}

// begin checks that the month can be settled, and counts what there is to do.
func (s *settlement) begin(ctx context.Context, force bool) error {
	v, err := s.View(ctx, nil)
	if err != nil {
		return err
	}
	s.revision = v.Revision()
	s.report.Already = v.Settled && s.report.Month < v.Month
	if !s.report.Already {
		if err := s.checkMaySettle(ctx, v, s.report.Month, force); err != nil {
			return err
		}
	}
	for after := beacon.UserID(""); ; { // in pages: a statement about everyone may take longer than the database allows
		users, err := s.Months.UserPage(ctx, s.report.Month, after, s.PageSize)
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

// checkMaySettle returns an error for a month that is not over, not closed, or not next in
// order: each statement names the one before it. Whether it is over does not depend on
// the clock of this process alone.
func (r *Closer) checkMaySettle(ctx context.Context, v rewards.View, month beacon.Month, force bool) error {
	end := (month + 1).Start()
	certain, err := r.Clock.Ask(ctx)
	if err != nil {
		return err
	}
	due := end
	if !force {
		due = end.Add(rewards.Grace)
	}
	switch {
	case !v.Begun, month < v.Month:
		return rewards.Refuse("there is nothing to settle in %s", month)
	case month > v.Month:
		return rewards.Refuse("%s is not settled yet: settle it first", v.Month)
	case r.Clock.Now().Before(end):
		return rewards.Refuse("%s is not over yet", month)
	case v.First <= month.Last():
		return rewards.Refuse("%s cannot be settled before all its days are closed, and %s is still open: a running server closes each day a few minutes after it ends",
			month, v.First)
	case r.Clock.Now().Before(due):
		return rewards.Refuse("%s can be settled from %s on; before that, ask for it to be settled early (\"early\", or --force)", month, beacon.FormatTime(due))
	case certain.Says.Before(due):
		return rewards.Refuse("%s can be settled from %s on, and by %s it is only %s: see beacon rewards clock",
			month, beacon.FormatTime(due), certain.Name, beacon.FormatTime(certain.Says))
	}
	return nil
}

func (s *settlement) step(n int) {
	s.done += n
	s.progress(s.done, s.hotspots+s.report.Statements)
}

// addTotals adds the month to the totals of all hotspots. That alone settles nothing:
// readers check the month that each total reaches to, until the user has a statement.
func (s *settlement) addTotals(ctx context.Context) error {
	for after := (beacon.Owned{}); ; {
		sums, err := s.Months.HotspotPage(ctx, s.report.Month, after, s.PageSize)
		if err != nil || len(sums) == 0 {
			return err
		}
		if err := s.Months.AddTotals(ctx, s.revision, sums); err != nil {
			return err
		}
		s.step(len(sums))
		after = sums[len(sums)-1].Owned
	}
}

// writeStatements writes a statement of the month for every user who has none.
func (s *settlement) writeStatements(ctx context.Context) error {
	for after := beacon.UserID(""); ; {
		users, err := s.Months.UserPage(ctx, s.report.Month, after, s.PageSize)
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
		users, err := s.Months.UsersToEnd(ctx, s.report.Month, after, s.PageSize)
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
	accounts, err := s.Months.Accounts(ctx, first, last)
	if err != nil {
		return err
	}
	ended, err := s.Months.ToEnd(ctx, s.report.Month, first, last)
	if err != nil {
		return err
	}
	written, err := s.Months.Settle(ctx, s.by, s.revision, s.statements(users, accounts, ended), ended...)
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
	accounts, err := s.Months.Accounts(ctx, users[0].User, users[len(users)-1].User)
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
	now := s.Clock.Now()
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
