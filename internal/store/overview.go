package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const operatorsSQL = `SELECT o.operator_id, o.hotspots, o.waiting,
			(SELECT count(*) FROM api_keys WHERE user_id = o.operator_id AND revoked_at = 0 AND (expires_at = 0 OR expires_at > $3)),
			coalesce((SELECT availability + performance + utilization FROM user_months WHERE month = $4 AND user_id = o.operator_id), 0)
		FROM (SELECT operator_id, count(*) AS hotspots, CAST(sum(CASE WHEN verified_at = 0 THEN 1 ELSE 0 END) AS bigint) AS waiting
			FROM hotspots WHERE deleted_at = 0 AND operator_id > $1 GROUP BY operator_id ORDER BY operator_id LIMIT $2) AS o
		ORDER BY o.operator_id`

// Operators returns up to limit users with hotspots after one, by id, with what they earned
// on the closed days of a month.
func (db UserTable) Operators(ctx context.Context, after beacon.UserID, month beacon.Month, now time.Time, limit int) ([]beacon.Operator, error) {
	return list(ctx, db, func(o *beacon.Operator) []any {
		return []any{(*string)(&o.User), &o.Hotspots, &o.Waiting, &o.Keys, (*int64)(&o.Earned)}
	}, operatorsSQL, string(after), int64(limit), micros(now), int64(month))
}

const monthTotalsSQL = `SELECT count(*), count(s.user_id), CAST(coalesce(sum(u.availability + u.performance + u.utilization), 0) AS bigint)
		FROM user_months AS u LEFT JOIN statements AS s ON s.user_id = u.user_id AND s.month = u.month WHERE u.month = $1`

// MonthTotals returns what the closed days of a month add up to, and how many users have
// their statement.
func (db LedgerTable) MonthTotals(ctx context.Context, month beacon.Month) (t ledger.MonthTotals, err error) {
	_, err = readRow(ctx, db, []any{&t.Users, &t.Statements, (*int64)(&t.Earned)}, monthTotalsSQL, int64(month))
	return t, err
}

const (
	dayUptimeSQL      = `SELECT CAST(coalesce(sum(served), 0) AS bigint), CAST(coalesce(sum(expected), 0) AS bigint) FROM ledger WHERE day = $1 AND revision >= $2`
	dayUptimeAgainSQL = `SELECT CAST(coalesce(sum(served), 0) AS bigint), CAST(coalesce(sum(expected), 0) AS bigint) FROM ledger_again WHERE day = $1 AND revision >= $2`
)

// DayUptime returns how many minutes all hotspots together served and should have served on a
// closed day. It reads each row of the day that no correction made void. Reopened has all
// reopenings.
func (db LedgerTable) DayUptime(ctx context.Context, day beacon.Day, reopened ledger.Reopenings) (served, expected int64, err error) {
	args := []any{int64(day), reopened.ValidFrom(day)}
	if _, err = readRow(ctx, db, []any{&served, &expected}, dayUptimeSQL, args...); err != nil || !reopened.Again(day) {
		return served, expected, err
	}
	var more ledger.Sum
	_, err = readRow(ctx, db, []any{&more.Served, &more.Expected}, dayUptimeAgainSQL, args...)
	return served + more.Served, expected + more.Expected, err
}

const earnedSQL = `SELECT user_id, CAST(sum(availability + performance + utilization) AS bigint) FROM user_months
		WHERE month BETWEEN $1 AND $2 AND user_id IN (…) GROUP BY user_id`

// Earned returns what users earned on the closed days of some months, both included.
func (db LedgerTable) Earned(ctx context.Context, users []beacon.UserID, from, to beacon.Month) (map[beacon.UserID]beacon.Amount, error) {
	type sum struct {
		user   beacon.UserID
		earned beacon.Amount
	}
	sums, err := listByID(ctx, db, func(s *sum) []any { return []any{(*string)(&s.user), (*int64)(&s.earned)} }, earnedSQL, users, int64(from), int64(to))
	earned := make(map[beacon.UserID]beacon.Amount, len(sums))
	for _, s := range sums {
		earned[s.user] = s.earned
	}
	return earned, err
}

// Carried calls each with the bytes that each hotspot carried on a day, by the rows with
// which it was closed first, and reports whether it is closed for everyone.
func (db LedgerTable) Carried(ctx context.Context, day beacon.Day, each func(beacon.HotspotID, uint64)) (closed bool, err error) {
	newest, found, err := first(ctx, db, closingRow, newestClosingSQL)
	if err != nil || !found || newest.Through() < day {
		return false, err
	}
	for after, more := (beacon.Owned{}), true; more; {
		page, err := list(ctx, db, ledgerRow, allLedgerPageSQL, int64(day), string(after.User), string(after.Hotspot), int64(pageSize))
		if err != nil {
			return false, err
		}
		for i := range page {
			each(page[i].Hotspot, page[i].Bytes)
			after = page[i].Owned
		}
		more = len(page) == pageSize
	}
	return true, nil
}
