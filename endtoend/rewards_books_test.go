//go:build linux

package endtoend_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// rewardTables are all that the books consist of.
var rewardTables = []string{
	"ledger", "hotspot_months", "user_months", "hotspot_totals", "statements", "accounts", "reward_days", "reward_months", "reward_policies",
}

// fingerprint is a hash of all that the books say, and of what the audit says of
// them.
func fingerprint(t testing.TB, db *sql.DB) string {
	t.Helper()
	hash := sha256.New()
	queries := []string{`SELECT kind, target, note, user_id, request_id, at FROM changes WHERE kind LIKE 'rewards.%'`}
	for _, table := range rewardTables {
		queries = append(queries, `SELECT * FROM `+table)
	}
	for _, query := range queries {
		lines := linesOf(t, db, query)
		slices.Sort(lines)
		fmt.Fprintf(hash, "%s\n%s\n", query, strings.Join(lines, "\n"))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// linesOf gives the rows of a query, each as a line.
func linesOf(t testing.TB, db *sql.DB, query string, args ...any) (lines []string) {
	t.Helper()
	each(t, db, func(scan func(...any) error, columns int) error {
		values, targets := make([]any, columns), make([]any, columns)
		for i := range values {
			targets[i] = &values[i]
		}
		if err := scan(targets...); err != nil {
			return err
		}
		line := ""
		for _, v := range values {
			if bytes, ok := v.([]byte); ok {
				v = hex.EncodeToString(bytes)
			}
			line += fmt.Sprint(v, ",")
		}
		lines = append(lines, line)
		return nil
	}, query, args...)
	return lines
}

func each(t testing.TB, db *sql.DB, fn func(scan func(...any) error, columns int) error, query string, args ...any) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		err = fn(rows.Scan, len(columns))
	}
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// number reads one, and 0 where there is none.
func number(t testing.TB, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	var found sql.NullInt64
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&found); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return found.Int64
}

// change makes one by hand, as a test of the server may need.
func change(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// bookDay and bookMonth are how the books count, from 1970 on.
type (
	bookDay   int64
	bookMonth int64
)

func (d bookDay) time() time.Time  { return time.Unix(int64(d)*86400, 0).UTC() }
func (d bookDay) String() string   { return d.time().Format(time.DateOnly) }
func (m bookMonth) String() string { return fmt.Sprintf("%04d-%02d", 1970+m/12, 1+m%12) }

func (d bookDay) month() bookMonth {
	return bookMonth((d.time().Year()-1970)*12 + int(d.time().Month()) - 1)
}

func bookDayOf(t time.Time) bookDay { return bookDay(t.Unix() / 86400) }

// bookRow is one of the ledger.
type bookRow struct {
	day           bookDay
	user, hotspot string
	policy, tier  int64
	facts         dayFacts
	parts
}

var tiers = []string{"standard", "enhanced", "premium"}

// line is what is hashed of a row.
func (r *bookRow) line() string {
	f := r.facts
	return fmt.Sprintf("%s,%s,%d,%d,%d,%d,%d,%d,%d,%s,%d,%d,%d", r.day, r.hotspot, r.policy, f.Served, f.Expected, f.Closed,
		f.Excused, f.Outside, f.Bytes, f.Tier, r.Availability, r.Performance, r.Utilization)
}

// bookSum is what rows add up to.
type bookSum struct {
	served, expected int64
	parts
}

func (s bookSum) plus(other bookSum) bookSum {
	return bookSum{s.served + other.served, s.expected + other.expected, s.parts.plus(other.parts)}
}

// readLedger reads all rows, by day, user and hotspot.
func readLedger(t testing.TB, db *sql.DB) (rows []bookRow) {
	t.Helper()
	each(t, db, func(scan func(...any) error, _ int) error {
		var r bookRow
		f := &r.facts
		var bytes int64
		err := scan(&r.day, &r.user, &r.hotspot, &r.policy, &f.Served, &f.Expected, &f.Closed, &f.Excused, &f.Outside, &bytes, &r.tier,
			&r.Availability, &r.Performance, &r.Utilization)
		f.Bytes, f.Tier = uint64(bytes), tiers[r.tier]
		rows = append(rows, r)
		return err
	}, `SELECT day, user_id, hotspot, policy, served, expected, closed, excused, outside, bytes, tier, availability, performance, utilization
		FROM ledger`)
	slices.SortFunc(rows, func(a, b bookRow) int {
		return strings.Compare(a.day.String()+a.user+a.hotspot, b.day.String()+b.user+b.hotspot)
	})
	return rows
}
