package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const accountRangeSQL = `SELECT ` + accountColumns + ` FROM accounts WHERE user_id >= $1 AND user_id <= $2 ORDER BY user_id`

// Accounts returns the accounts between two users, both included, in order.
func (db LedgerTable) Accounts(ctx context.Context, from, to beacon.UserID) ([]ledger.Account, error) {
	return list(ctx, db, accountRow, accountRangeSQL, string(from), string(to))
}

const addTotalsSQL = `INSERT INTO hotspot_totals (` + totalColumns + `) VALUES (…) ON CONFLICT (user_id, hotspot) DO UPDATE SET through = excluded.through, tier = excluded.tier,
			served = hotspot_totals.served + excluded.served, expected = hotspot_totals.expected + excluded.expected,
			availability = hotspot_totals.availability + excluded.availability,
			performance = hotspot_totals.performance + excluded.performance,
			utilization = hotspot_totals.utilization + excluded.utilization
		WHERE hotspot_totals.through < excluded.through`

// AddTotals adds the months of hotspots to their totals. Each month is added once, no
// matter how often and by how many callers, because a total stores the last month it
// includes. So the months of a hotspot must be added in order. It writes all or
// nothing. It returns Conflict if days were opened again since the given revision. Other
// writes wait for it: a thousand at a time are enough.
func (db LedgerTable) AddTotals(ctx context.Context, revision int64, sums []ledger.HotspotMonth) error {
	months := byMonth(sums, func(m *ledger.HotspotMonth) (beacon.Month, beacon.Owned) { return m.Month, m.Owned })
	return db.commit(ctx, "total", func(tx *transaction) (changes, error) {
		if err := atRevision(tx, revision); err != nil {
			return nil, err
		}
		for _, sums := range months {
			if err := putRows(tx, addTotalsSQL, sums, onlyMonthRow); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// Settle writes the statements that do not exist yet, and with each the account of its
// user and a change, all in one transaction. It returns how many it wrote. A statement
// that does not follow the last one of the user's account is skipped; so if several
// callers settle the same month at once, each statement is written once. It returns
// Conflict if days were opened again since the given revision.
//
// Ended are held days, by user, whose holds are over. Each becomes listed in the statement
// of its user, if that is written here, and the user's sum of the month becomes that of
// the statement, whose chain includes them.
//
// If the outcome is unknown, it is safe to repeat. Other writes wait for it: some
// hundreds at a time are enough.
func (db LedgerTable) Settle(ctx context.Context, by beacon.Actor, revision int64, statements []ledger.Statement, ended ...ledger.HeldDay) (written int, err error) {
	ended = slices.Clone(ended)
	months := byMonth(statements, func(s *ledger.Statement) (beacon.Month, beacon.Owned) {
		return s.Month, beacon.Owned{User: s.User}
	})
	var made changes
	// The order is after that of a lease: a page of a day locks that before the revision.
	err = db.commit(ctx, "statement", func(tx *transaction) (changes, error) {
		made = nil
		if err := atRevision(tx, revision); err != nil {
			return nil, err
		}
		for _, statements := range months {
			fresh, err := settle(tx, statements, ended)
			if err != nil {
				return nil, err
			}
			for i := range fresh {
				made = append(made, settledChange(&fresh[i], by))
			}
		}
		return made, nil
	})
	if err != nil {
		return 0, err // made may still be written
	}
	return len(made), nil
}

func settledChange(s *ledger.Statement, by beacon.Actor) *beacon.Change {
	by.Note = s.Month.String()
	return &beacon.Change{Kind: beacon.RewardsSettled, Target: string(s.User), Actor: by, At: s.SettledAt}
}

// A statement that does not follow the last one is skipped. The rows are locked in
// the order of the values.
const addToAccountsSQL = `INSERT INTO accounts (` + accountColumns + `) VALUES (…) ON CONFLICT (user_id) DO UPDATE SET settled = excluded.settled, previous = excluded.previous, hash = excluded.hash,
			served = accounts.served + excluded.served, expected = accounts.expected + excluded.expected,
			availability = accounts.availability + excluded.availability,
			performance = accounts.performance + excluded.performance,
			utilization = accounts.utilization + excluded.utilization
		WHERE accounts.settled < excluded.settled AND accounts.hash = excluded.previous RETURNING user_id`

const putStatementsSQL = `INSERT INTO statements (` + statementColumns + `) VALUES (…)`

// settle writes statements of one month, and returns those that it wrote. The account
// is updated first: it decides whether a statement follows, and later transactions wait
// for it.
func settle(tx *transaction, statements []ledger.Statement, ended []ledger.HeldDay) ([]ledger.Statement, error) {
	users, err := withAccount(tx, statements)
	if err != nil {
		return nil, err
	}
	statements = ofUsers(statements, users)
	fresh := map[beacon.UserID]bool{}
	err = inChunks(len(statements), func(from, to int) error {
		return keysIn(tx, fresh, addToAccountsSQL, valuesOf(tx, statements[from:to], settledRow)...)
	})
	if err != nil {
		return nil, err
	}
	statements = ofUsers(statements, fresh)
	if err := putRows(tx, putStatementsSQL, statements, statementRow); err != nil || len(ended) == 0 {
		return statements, err
	}
	return statements, listEnded(tx, statements, ended)
}

// listEnded writes that held days are listed in the statements of their users.
func listEnded(tx *transaction, statements []ledger.Statement, ended []ledger.HeldDay) error {
	fresh := make(map[beacon.UserID]*ledger.Statement, len(statements))
	for i := range statements {
		fresh[statements[i].User] = &statements[i]
	}
	var months []ledger.UserMonth
	var days []ledger.HeldDay
	for _, d := range ended { // by user
		s := fresh[d.User]
		if s == nil {
			continue
		}
		if n := len(months); n == 0 || months[n-1].User != d.User {
			months = append(months, s.UserMonth)
		}
		d.Listed = s.Month
		days = append(days, d)
	}
	return cmp.Or(
		putRows(tx, putUserMonthsSQL, months, userMonthRow),
		putRows(tx, putHeldDaysSQL, days, heldDayWithMonth),
	)
}

// withAccount returns the users who have an account. Every user with a row has one, and
// it is never deleted.
func withAccount(tx *transaction, statements []ledger.Statement) (map[beacon.UserID]bool, error) {
	users := mapped(statements, func(s ledger.Statement) beacon.UserID { return s.User })
	found := make(map[beacon.UserID]bool, len(users))
	for some := range slices.Chunk(users, idsPerQuery) {
		if err := keysIn(tx, found, `SELECT user_id FROM accounts WHERE user_id IN (…)`, listArgs(some)...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func ofUsers(statements []ledger.Statement, users map[beacon.UserID]bool) []ledger.Statement {
	return slices.DeleteFunc(slices.Clone(statements), func(s ledger.Statement) bool { return !users[s.User] })
}

// byMonth returns the rows of each month, copied and sorted: one statement cannot write
// a row of a hotspot or user twice.
func byMonth[T any](rows []T, of func(*T) (beacon.Month, beacon.Owned)) (months [][]T) {
	for rest := sortedByMonth(rows, of); len(rest) > 0; {
		month, _ := of(&rest[0])
		end := 1
		for ; end < len(rest); end++ {
			if other, _ := of(&rest[end]); other != month {
				break
			}
		}
		months, rest = append(months, rest[:end]), rest[end:]
	}
	return months
}

// sortedByMonth copies rows, sorted by month and then hotspot, without duplicates.
func sortedByMonth[T any](rows []T, of func(*T) (beacon.Month, beacon.Owned)) []T {
	compare := func(a, b T) int {
		monthA, ownedA := of(&a)
		monthB, ownedB := of(&b)
		return cmp.Or(cmp.Compare(monthA, monthB), ownedA.Compare(ownedB))
	}
	own := slices.Clone(rows)
	slices.SortStableFunc(own, compare)
	return slices.CompactFunc(own, func(a, b T) bool { return compare(a, b) == 0 })
}

const finishMonthSQL = `INSERT INTO reward_months (month, finished_at) VALUES ($1, $2) ON CONFLICT (month) DO NOTHING`

// FinishMonth records that a month is settled for everyone. Repeating it changes
// nothing. It returns Conflict if days were opened again since the given revision.
func (db LedgerTable) FinishMonth(ctx context.Context, month beacon.Month, revision int64, by beacon.Actor, at time.Time) error {
	change := beacon.Change{Kind: beacon.RewardsFinished, Target: month.String(), Actor: by, At: at}
	return db.commit(ctx, "month", func(tx *transaction) (changes, error) {
		if err := atRevision(tx, revision); err != nil {
			return nil, err
		}
		n, err := tx.exec(finishMonthSQL, int64(month), micros(at))
		if err != nil || n == 0 {
			return nil, err
		}
		return changes{&change}, nil
	})
}

const (
	accountEndSQL    = `SELECT user_id FROM accounts WHERE user_id > $1 ORDER BY user_id LIMIT 1 OFFSET $2`
	userMonthPageSQL = `SELECT ` + userMonthColumns + ` FROM user_months
		WHERE month = $1 AND user_id > $2 AND user_id <= $3 ORDER BY user_id LIMIT $4`
)

// UserPage returns up to limit sums of a month, of users after one, in order.
func (db LedgerTable) UserPage(ctx context.Context, month beacon.Month, after beacon.UserID, limit int) ([]ledger.UserMonth, error) {
	end := func(after beacon.Owned) (to beacon.Owned, found bool, err error) {
		to.User, found, err = first(ctx, db, label[beacon.UserID], accountEndSQL, string(after.User), int64(limit-1))
		return to, found, err
	}
	return readPage(beacon.Owned{User: after}, limit, end, func(after, to beacon.Owned, limit int64) ([]ledger.UserMonth, error) {
		return list(ctx, db, userMonthRow, userMonthPageSQL, int64(month), string(after.User), string(to.User), limit)
	})
}

const ownedEndSQL = `SELECT operator_id, id FROM hotspots
		WHERE (operator_id, id) > ($1, $2) ORDER BY operator_id, id LIMIT 1 OFFSET $3`

const hotspotMonthPageSQL = `SELECT ` + hotspotMonthColumns + ` FROM hotspot_months
		WHERE month = $1 AND (user_id, hotspot) > ($2, $3) AND (user_id, hotspot) <= ($4, $5)
		ORDER BY user_id, hotspot LIMIT $6`

// HotspotPage returns up to limit sums of a month, of hotspots after one, ordered by
// user and then hotspot.
func (db LedgerTable) HotspotPage(ctx context.Context, month beacon.Month, after beacon.Owned, limit int) ([]ledger.HotspotMonth, error) {
	end := func(after beacon.Owned) (to beacon.Owned, found bool, err error) {
		return first(ctx, db, ownedRow, ownedEndSQL, string(after.User), string(after.Hotspot), int64(limit-1))
	}
	return readPage(after, limit, end, func(after, to beacon.Owned, limit int64) ([]ledger.HotspotMonth, error) {
		return list(ctx, db, hotspotMonthRow, hotspotMonthPageSQL,
			int64(month), string(after.User), string(after.Hotspot), string(to.User), string(to.Hotspot), limit)
	})
}

// readPage reads up to limit rows of a month, from one bound to the next. The bounds
// come from a table without months. When PostgreSQL has few statistics about a table,
// it expects a month to have few rows, and would read and sort the whole rest of it for
// every page (250 ms where 85,000 were left). Between two bounds a bad plan costs
// little. No row is missed, because the bounds cover the whole key range.
func readPage[T any](
	after beacon.Owned, limit int,
	end func(after beacon.Owned) (to beacon.Owned, found bool, err error),
	read func(after, to beacon.Owned, limit int64) ([]T, error),
) (page []T, err error) {
	for more := true; more && len(page) < limit; {
		var to beacon.Owned
		if to, more, err = end(after); err != nil {
			return nil, err
		}
		if !more {
			to = beacon.Owned{User: lastKey, Hotspot: lastKey}
		}
		some, err := read(after, to, int64(limit-len(page)))
		if err != nil {
			return nil, err
		}
		page = append(page, some...)
		after = to
	}
	return page, nil
}

// KeepPolicies stores the policies whose versions are new, and returns all stored ones,
// by version. A stored policy is never overwritten.
func (db LedgerTable) KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	known, err := list(ctx, db, policyRow, policiesSQL)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(policies), func(p ledger.Policy) bool {
		return slices.ContainsFunc(known, func(k ledger.Policy) bool { return k.Version == p.Version })
	})
	if len(missing) == 0 {
		return known, nil
	}
	return db.putPolicies(ctx, missing, false)
}

// FoundPolicies stores the policies of a new network, unless there are any, and returns all
// stored ones.
func (db LedgerTable) FoundPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	return db.putPolicies(ctx, policies, true)
}

const putPolicySQL = `INSERT INTO reward_policies (version, first_day, content) VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING`

// AdoptPolicy stores a policy, with a change for the audit. It returns Conflict if there is
// one with this version.
func (db LedgerTable) AdoptPolicy(ctx context.Context, p ledger.Policy, by beacon.Actor, at time.Time) error {
	if err := storableText(p.Text); err != nil {
		return internal("adopt policy", err)
	}
	by.Note = p.Text
	change := beacon.Change{Kind: beacon.PolicyAdopted, Target: p.From.String(), Actor: by, At: at}
	op := &operation{order: "policy"}
	op.run = func(tx *transaction) (changes, error) {
		n, err := tx.exec(putPolicySQL, int64(p.Version), int64(p.From), p.Text)
		if err == nil && n == 0 {
			err = beacon.Conflicting(fmt.Errorf("policy %d exists", p.Version))
		}
		return changes{&change}, err
	}
	return db.doOnce(ctx, op, by)
}

func (db *core) putPolicies(ctx context.Context, policies []ledger.Policy, founding bool) ([]ledger.Policy, error) {
	for _, p := range policies {
		if err := storableText(p.Text); err != nil {
			return nil, internal("keep policies", err)
		}
	}
	err := db.commit(ctx, "policy", func(tx *transaction) (changes, error) {
		for i, p := range policies {
			n, err := tx.exec(putPolicySQL, int64(p.Version), int64(p.From), p.Text)
			if err != nil || founding && i == 0 && n == 0 { // another process has been faster
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	return list(ctx, db, policyRow, policiesSQL)
}
