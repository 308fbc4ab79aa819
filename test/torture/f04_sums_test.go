//go:build linux

package torture_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// wrongSum is a number in the books that is not what it was, and whose answers
// would be wrong if they were given.
type wrongSum struct {
	name, sql string
	asked     []string // of the user; {month}: the last that is settled, {day}: its first day, {hotspot}: one that earned then
}

const (
	ofUser      = ` WHERE user_id = $1 AND month = (SELECT max(month) FROM reward_months)`
	ofOpen      = ` WHERE user_id = $1 AND month = (SELECT max(month) + 1 FROM reward_months)`
	summary     = "/users/{user}/rewards?period=last"
	current     = "/users/{user}/rewards?period=current"
	total       = "/users/{user}/rewards?period=all"
	historyPath = "/users/{user}/rewards/history"
	paper       = "/users/{user}/rewards/statements/{month}"
	explain     = "/hotspots/{hotspot}/rewards/explain?date={day}"
)

var wrongSums = []wrongSum{
	{"a hotspot's month", `UPDATE hotspot_months SET availability = availability + 1` + ofUser, []string{summary}},
	{"a hotspot's month that is open", `UPDATE hotspot_months SET availability = availability + 1` + ofOpen, []string{current, historyPath, total}},
	{"a hotspot's month is gone", `DELETE FROM hotspot_months` + ofUser, []string{summary}},
	{"a user's month", `UPDATE user_months SET performance = performance + 1` + ofUser, []string{summary, historyPath}},
	{"a user's month that is open", `UPDATE user_months SET utilization = utilization + 1` + ofOpen, []string{current, historyPath, total}},
	{"a statement", `UPDATE statements SET availability = availability + 1` + ofUser, []string{summary, historyPath, paper}},
	{"a statement and its month", `UPDATE statements SET previous = hash` + ofUser, []string{summary, historyPath, paper}},
	{"an account", `UPDATE accounts SET availability = availability + 1 WHERE user_id = $1`, []string{total}},
	{"an account is gone", `DELETE FROM accounts WHERE user_id = $1`, []string{total}},
	{"a total", `UPDATE hotspot_totals SET served = served + 1 WHERE user_id = $1`, []string{total}},
	{"a row", `UPDATE ledger SET availability = availability + 1 WHERE user_id = $1`, []string{paper, explain}},
	{"the minutes of a row", `UPDATE ledger SET served = served - 1 WHERE user_id = $1 AND served > 0`, []string{paper, explain}},
	{"a hotspot that earned is gone", `DELETE FROM hotspots WHERE operator_id = $1`, []string{summary, current, total}},
}

// TestF04_WrongSum changes one number in the books. An answer for which it counts
// is refused, and never given with the wrong number in it; all others are as
// they were.
func TestF04_WrongSum(t *testing.T) {
	t.Parallel()
	v := oneVictim(t)
	places := v.places(t)
	before := v.answer(t, v.copy(t), places)
	for path, status := range before {
		if status != http.StatusOK {
			t.Fatalf("a sound server answers %s with %d", path, status)
		}
	}
	for _, w := range wrongSums {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			db := v.copy(t)
			handle := harness.OpenSQL(t, db)
			result, err := handle.ExecContext(t.Context(), w.sql, v.users[0])
			if err != nil {
				t.Fatal(err)
			}
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				t.Fatalf("%d rows changed, %v", n, err)
			}
			handle.Close()
			for path, status := range v.answer(t, db, places) {
				if want := slices.Contains(w.asked, path); want != (status == http.StatusInternalServerError || status == 0) {
					t.Errorf("%s is answered with %d", path, status)
				}
			}
		})
	}
	t.Run("a day is missing", func(t *testing.T) {
		t.Parallel()
		db := v.copy(t)
		handle := harness.OpenSQL(t, db)
		if _, err := handle.ExecContext(t.Context(), `UPDATE reward_days SET day = day + 64 WHERE day = (SELECT max(day) FROM reward_days)`); err != nil {
			t.Fatal(err)
		}
		handle.Close()
		r := v.start(t, db)
		if said := r.end(t); r.url != "" || !strings.Contains(said, "run beacon doctor") {
			t.Errorf("a server started on books with a hole in them, and said %s", said)
		}
	})
}

// places are what the paths name.
func (v *victim) places(t *testing.T) *strings.Replacer {
	t.Helper()
	db := harness.OpenSQL(t, v.copy(t))
	var month, day int
	var hotspot string
	err := db.QueryRowContext(t.Context(), `SELECT max(month) FROM reward_months`).Scan(&month)
	if err == nil {
		err = db.QueryRowContext(t.Context(), `SELECT day, hotspot FROM ledger WHERE user_id = $1 AND served > 0 AND tier = 0 AND ground LIKE '%,0,0' ORDER BY day DESC, hotspot LIMIT 1`,
			v.users[0]).Scan(&day, &hotspot)
	}
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(1970, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC)
	return strings.NewReplacer("{user}", v.users[0], "{month}", first.Format("2006-01"), "{hotspot}", hotspot,
		"{day}", time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly))
}

// answer asks a server everything, and answers the status of each; 0 is a
// connection that was cut.
func (v *victim) answer(t testing.TB, db string, places *strings.Replacer) map[string]int {
	t.Helper()
	r := v.start(t, db)
	defer r.end(t)
	client := harness.NewClient(t, v.key.Key)
	answers := map[string]int{}
	for _, path := range []string{summary, current, total, historyPath, paper, explain} {
		answers[path] = client.Do(t.Context(), http.MethodGet, r.url+"/v1"+places.Replace(path), nil).Status
	}
	if r.url == "" {
		t.Errorf("the server did not start: %s", r.log)
	}
	return answers
}
