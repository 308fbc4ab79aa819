//go:build linux

package audit

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

type heldKey struct {
	user    string
	day     Day
	hotspot string
}

// heldRow is a row of the ledger that was closed under a hold.
type heldRow struct {
	hold, hash string
	amount     Micros
}

// end compares the list of held days with the rows, and adds to the chain of each statement
// what it says became of some.
func (d *derivation) end(t testing.TB, db *sql.DB) {
	t.Helper()
	left := len(d.held)
	each(t, db, func(scan func(...any) error, _ int) error {
		var key heldKey
		var is heldRow
		var state, by string
		var listed Month
		if err := scan(&key.user, &key.day, &key.hotspot, &is.hold, &is.hash, &is.amount, &listed, &state, &by); err != nil {
			return err
		}
		if left--; d.held[key] != is || by != key.user {
			t.Errorf("%s on %s is held as %+v, of %s; its row says %+v", key.hotspot, key.day, is, by, d.held[key])
		}
		if listed < 0 {
			return nil
		}
		if state == "active" || listed < key.day.Month() || !d.finished[listed] {
			t.Errorf("%s on %s: its hold is %s, and the statement of %s says what became of it", key.hotspot, key.day, state, listed)
		}
		user := entry(d.users, userMonth{listed, key.user})
		user.chain = hashOf(fmt.Sprintf("%s\n%s,%s,0,0,0,0,0,0,0,%s,0,0,0,%s,%d\n", user.chain, key.day, is.hash, state, is.hold, is.amount))
		user.rows++
		return nil
	}, `SELECT held_days.user_id, day, held_days.hotspot, hold, `+hexOf(t, db, "hash")+`, amount, listed, state, holds.user_id
		FROM held_days JOIN holds ON holds.id = held_days.hold ORDER BY held_days.user_id, day, held_days.hotspot`)
	if left != 0 {
		t.Errorf("%d rows are held, and are not listed as held", left)
	}
}

// hexOf spells a column of bytes in hex.
func hexOf(t testing.TB, db *sql.DB, column string) string {
	t.Helper()
	var version string
	if db.QueryRowContext(t.Context(), `SELECT sqlite_version()`).Scan(&version) == nil {
		return "lower(hex(" + column + "))"
	}
	return "encode(" + column + ", 'hex')"
}

// CompareHeld holds what a server answers about each user to the tables: earned = settled +
// pending + held + voided, each computed from rows, statements and holds alone.
func CompareHeld(t testing.TB, c *harness.Client, s *harness.Server, db *sql.DB, users ...string) {
	t.Helper()
	for _, user := range users {
		sum := func(query string) Micros { return Micros(Number(t, db, query, user)) }
		want := Payment{
			Held:   sum(`SELECT sum(amount) FROM held_days JOIN holds ON holds.id = hold WHERE held_days.user_id = $1 AND state = 'active'`),
			Voided: sum(`SELECT sum(amount) FROM held_days JOIN holds ON holds.id = hold WHERE held_days.user_id = $1 AND state = 'voided'`),
			Settled: sum(`SELECT sum(availability + performance + utilization - held) FROM statements WHERE user_id = $1`) +
				sum(`SELECT sum(amount) FROM held_days JOIN holds ON holds.id = hold WHERE held_days.user_id = $1 AND state = 'released' AND listed >= 0`),
		}
		earned := sum(`SELECT sum(availability + performance + utilization) FROM ledger WHERE user_id = $1`)
		want.Pending = earned - want.Settled - want.Held - want.Voided
		got, answer, ok := Fetch[Summary](t, c, s.URL+"/v1/users/"+user+"/rewards?period=all")
		if !ok {
			continue
		}
		if problem := got.Problem(); problem != "" {
			t.Errorf("%s: %s: %s", user, problem, answer.Data)
		}
		if got.Summary.TotalEarned != earned || got.Summary.Payment != want || want.Pending < 0 {
			t.Errorf("%s earned %d: %+v; the tables make %d: %+v", user, got.Summary.TotalEarned, got.Summary.Payment, earned, want)
		}
	}
}
