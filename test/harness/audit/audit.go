//go:build linux

package audit

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// books are the lines of each table that follows from the rows of the ledger: what an
// auditor finds in a database, or what should be in it because of the rows alone.
type books map[string][]string

// Audit compares everything in the books with what the rows of the ledger
// lead to: sums, chains, statements, accounts, and the changes that tell of
// them. Nothing of it is computed by code of the server. It returns how many
// rows and statements there were.
func Audit(t testing.TB, db *sql.DB) (rows, statements int) {
	t.Helper()
	ledger := readLedger(t, db)
	for i := range ledger {
		r := &ledger[i]
		minutes := r.facts.Expected + r.facts.Closed + r.facts.Excused + r.facts.Outside
		if r.Parts != r.facts.Reward() || r.policy != 1 || r.facts.Served > r.facts.Expected || minutes != 24*60 {
			t.Errorf("row %s: its facts are worth %v", r.line(), r.facts.Reward())
		}
		if i > 0 && r.day == ledger[i-1].day && r.user == ledger[i-1].user && r.hotspot == ledger[i-1].hotspot {
			t.Errorf("there are two rows of %s", r.line())
		}
	}
	got, want := readBooks(t, db), deriveBooks(t, db, ledger)
	for table := range got {
		if diff := cmp.Diff(want[table], got[table]); diff != "" {
			t.Errorf("%s (-by the rows +in the books): %.3000s", table, diff)
		}
	}
	return len(ledger), len(got["statements"])
}

const bookSums = `served, expected, availability, performance, utilization`

func readBooks(t testing.TB, db *sql.DB) books {
	t.Helper()
	read := func(query string) []string { return Sorted(Lines(t, db, query)) }
	return books{
		"reward_days":    read(`SELECT day, hotspots, availability, performance, utilization FROM reward_days`),
		"hotspot_months": read(`SELECT month, user_id, hotspot, through, tier, ` + bookSums + ` FROM hotspot_months`),
		"user_months":    read(`SELECT month, user_id, hotspots, row_count, chain, ` + bookSums + ` FROM user_months`),
		"hotspot_totals": read(`SELECT user_id, hotspot, through, tier, ` + bookSums + ` FROM hotspot_totals`),
		"statements":     read(`SELECT user_id, month, hotspots, row_count, chain, ` + bookSums + `, previous, hash FROM statements`),
		"accounts":       read(`SELECT user_id, first_day, settled, hash, ` + bookSums + ` FROM accounts`),
		"changes":        read(`SELECT kind, target, note FROM changes WHERE kind LIKE 'rewards.%'`),
	}
}

// deriveBooks computes the books from the rows, and from which months are
// finished: of those, and of no others, everyone has a statement.
func deriveBooks(t testing.TB, db *sql.DB, rows []bookRow) books {
	t.Helper()
	finished := map[Month]bool{}
	each(t, db, func(scan func(...any) error, _ int) error {
		var m Month
		err := scan(&m)
		finished[m] = true
		return err
	}, `SELECT month FROM reward_months`)
	d := &derivation{
		days: map[Day]*tally{}, months: map[hotspotMonth]*tally{}, users: map[userMonth]*tally{}, finished: finished,
		policy: strings.Join(Lines(t, db, `SELECT content FROM reward_policies ORDER BY version`), ""),
	}
	d.held = map[heldKey]heldRow{}
	for i := range rows {
		d.add(&rows[i])
	}
	d.end(t, db)
	each(t, db, func(scan func(...any) error, _ int) error { // a day without any row is closed as well
		var day Day
		err := scan(&day)
		if d.days[day] == nil {
			d.days[day] = &tally{}
		}
		return err
	}, `SELECT day FROM reward_days`)
	return d.books()
}

type (
	hotspotMonth struct {
		month         Month
		user, hotspot string
	}
	userMonth struct {
		month Month
		user  string
	}
)

// tally is what some rows add up to.
type tally struct {
	bookSum
	rows, hotspots int
	first, last    Day
	tier           int64
	chain          string
}

func (s *tally) add(r *bookRow) {
	if s.rows == 0 {
		s.first = r.day
	}
	s.bookSum = s.plus(bookSum{r.facts.Served, r.facts.Expected, r.Parts})
	s.last, s.tier = r.day, r.tier
	s.rows++
}

// derivation is on the way from rows to books. Rows come in the order of days,
// users and hotspots.
type derivation struct {
	days     map[Day]*tally
	months   map[hotspotMonth]*tally
	users    map[userMonth]*tally
	finished map[Month]bool
	policy   string
	held     map[heldKey]heldRow
}

func (d *derivation) add(r *bookRow) {
	day := entry(d.days, r.day)
	day.add(r)
	hotspot := entry(d.months, hotspotMonth{r.day.Month(), r.user, r.hotspot})
	user := entry(d.users, userMonth{r.day.Month(), r.user})
	if hotspot.rows == 0 {
		user.hotspots++
	}
	if user.rows == 0 {
		user.chain = hashOf(fmt.Sprintf("beacon rewards\n%s\n%s\n", r.user, r.day.Month()))
	}
	user.chain = hashOf(user.chain + "\n" + r.line() + "\n")
	if r.hold != "" {
		d.held[heldKey{r.user, r.day, r.hotspot}] = heldRow{r.hold, user.chain, r.Sum()}
	}
	hotspot.add(r)
	user.add(r)
}

func entry[K comparable](m map[K]*tally, key K) *tally {
	if m[key] == nil {
		m[key] = &tally{}
	}
	return m[key]
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
