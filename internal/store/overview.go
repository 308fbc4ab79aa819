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
