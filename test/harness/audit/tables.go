//go:build linux

package audit

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
	"reopenings", "corrections", "ledger_again", "holds", "held_days",
}

// Fingerprint is a hash of all that the books say, and of what the audit says of
// them.
func Fingerprint(t testing.TB, db *sql.DB) string {
	t.Helper()
	hash := sha256.New()
	queries := []string{`SELECT kind, target, note, user_id, request_id, at FROM changes WHERE kind LIKE 'rewards.%'`}
	for _, table := range rewardTables {
		queries = append(queries, `SELECT * FROM `+table)
	}
	for _, query := range queries {
		fmt.Fprintf(hash, "%s\n%s\n", query, strings.Join(Sorted(Lines(t, db, query)), "\n"))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Lines returns the rows of a query, each as a line.
func Lines(t testing.TB, db *sql.DB, query string, args ...any) (lines []string) {
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

// Number returns the number that a query finds, or 0 if it finds none.
func Number(t testing.TB, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	var found sql.NullInt64
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&found); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return found.Int64
}

// Change runs a statement that changes a database behind the back of its servers.
func Change(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Day and Month are days and months as the books count them, from 1970 on.
type (
	Day   int64
	Month int64
)

// Time returns the midnight with which the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

func (d Day) String() string   { return d.Time().Format(time.DateOnly) }
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", 1970+m/12, 1+m%12) }

// Month returns the month that the day is in.
func (d Day) Month() Month {
	return Month((d.Time().Year()-1970)*12 + int(d.Time().Month()) - 1)
}

// Start returns the moment with which the month begins.
func (m Month) Start() time.Time {
	return time.Date(1970+int(m/12), time.Month(1+m%12), 1, 0, 0, 0, 0, time.UTC)
}

// DayOf returns the day that a time is in.
func DayOf(t time.Time) Day { return Day(t.Unix() / 86400) }

// bookRow is a row of the ledger.
type bookRow struct {
	day           Day
	user, hotspot string
	policy, tier  int64
	facts         Facts
	Parts
	hold string // under which it was closed
}

var tiers = []string{"standard", "enhanced", "premium"}

// line returns what is hashed of the row.
func (r *bookRow) line() string {
	f := r.facts
	line := fmt.Sprintf("%s,%s,%d,%d,%d,%d,%d,%d,%d,%s,%d,%d,%d", r.day, r.hotspot, r.policy, f.Served, f.Expected, f.Closed,
		f.Excused, f.Outside, f.Bytes, f.Tier, r.Availability, r.Performance, r.Utilization)
	if r.hold != "" {
		line += "," + r.hold
	}
	return line
}

// bookSum is what rows add up to.
type bookSum struct {
	served, expected int64
	Parts
}

func (s bookSum) plus(other bookSum) bookSum {
	return bookSum{s.served + other.served, s.expected + other.expected, s.Parts.Plus(other.Parts)}
}

// readLedger reads all rows, by day, user and hotspot.
func readLedger(t testing.TB, db *sql.DB) (rows []bookRow) {
	t.Helper()
	each(t, db, func(scan func(...any) error, _ int) error {
		var r bookRow
		f := &r.facts
		var bytes int64
		err := scan(&r.day, &r.user, &r.hotspot, &r.policy, &f.Served, &f.Expected, &f.Closed, &f.Excused, &f.Outside, &bytes, &r.tier,
			&r.Availability, &r.Performance, &r.Utilization, &r.hold)
		f.Bytes, f.Tier = uint64(bytes), tiers[r.tier]
		rows = append(rows, r)
		return err
	}, `SELECT day, user_id, hotspot, policy, served, expected, closed, excused, outside, bytes, tier, availability, performance, utilization, hold
		FROM ledger`)
	slices.SortFunc(rows, func(a, b bookRow) int {
		return strings.Compare(a.day.String()+a.user+a.hotspot, b.day.String()+b.user+b.hotspot)
	})
	return rows
}
