//go:build linux

package audit

import (
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// Compare holds what a server answers about some users to the tables, and every
// answer to the others (I5): each sum of decision N17, the months of the history
// to the summaries of the same months and to all of them, and what is closed or
// settled to the rows of the ledger. It may be called while days
// are closed and months settled, but not while the clock is behind what is.
func Compare(t testing.TB, c *harness.Client, s *harness.Server, db *sql.DB, users ...string) {
	t.Helper()
	for _, user := range users {
		compareUser(t, c, s, db, user)
	}
}

// Users are those that have an account.
func Users(t testing.TB, db *sql.DB, limit int) (users []string) {
	t.Helper()
	for _, line := range Lines(t, db, `SELECT user_id FROM accounts ORDER BY user_id LIMIT $1`, limit) {
		users = append(users, strings.TrimSuffix(line, ","))
	}
	return users
}

// answers are all that a server tells a user.
type answers struct {
	summaries
	history map[string]HistoryMonth
}

// summaries are the three that there are.
type summaries struct{ current, last, all Summary }

// askSummaries also returns in which minutes they were answered.
func askSummaries(t testing.TB, c *harness.Client, address string) (s summaries, minutes []harness.Minute, ok bool) {
	// The last month comes before the current one: midnight may be between them.
	for i, into := range []*Summary{&s.last, &s.current, &s.all} {
		period := []string{"last", "current", "all"}[i]
		summary, a, ok := Fetch[Summary](t, c, address+"?period="+period)
		if !ok {
			return s, nil, false
		}
		if problem := summary.Problem(); problem != "" {
			t.Errorf("%s of %s: %s: %s", period, address, problem, a.Data)
		}
		*into = summary
		minutes = append(minutes, harness.MinuteOf(a.At))
	}
	s.all.Period.End = "" // it is the very moment of the answer
	return s, minutes, true
}

func compareUser(t testing.TB, c *harness.Client, s *harness.Server, db *sql.DB, user string) {
	t.Helper()
	rowsBefore := earnedInRows(t, db, user)
	var got answers
	for range 5 { // minutes pass, and days are closed: until nothing has changed meanwhile
		before, ok := askAll(t, c, s, user)
		if !ok {
			return
		}
		if got, ok = askAll(t, c, s, user); !ok {
			return
		}
		if reflect.DeepEqual(before, got) {
			got.compare(t, user)
			break
		}
	}
	got.compareWithRows(t, user, rowsBefore, earnedInRows(t, db, user))
}

func askAll(t testing.TB, c *harness.Client, s *harness.Server, user string) (a answers, ok bool) {
	t.Helper()
	address := s.URL + "/v1/users/" + user + "/rewards"
	if a.summaries, _, ok = askSummaries(t, c, address); !ok {
		return a, false
	}
	months, _, ok := Fetch[[]HistoryMonth](t, c, address+"/history?start_date=1970-01-01&per_page=100")
	a.history = map[string]HistoryMonth{}
	for _, m := range months {
		a.history[m.Period] = m
	}
	if len(a.history) != len(months) {
		t.Errorf("the history of %s has a month twice: %v", user, months)
	}
	return a, ok
}

// compare compares answers between which nothing changed.
func (a answers) compare(t testing.TB, user string) {
	t.Helper()
	for _, s := range []Summary{a.current, a.last} {
		m, listed := a.history[s.Month()]
		if m.TotalEarned != s.Summary.TotalEarned || listed && (m.HotspotCount != len(s.Hotspots) || m.Payment != s.Summary.Payment) {
			t.Errorf("%s: the history says %+v; the summary of %s says %+v of %d hotspots", user, m, s.Month(), s.Summary, len(s.Hotspots))
		}
	}
	var sum Payment
	for _, m := range a.history {
		if m.Payment.Sum() != m.TotalEarned {
			t.Errorf("%s: the history says %+v", user, m)
		}
		sum = sum.plus(m.Payment)
	}
	if a.all.Summary.Payment != sum {
		t.Errorf("%s: all is %+v; the months make %+v", user, a.all.Summary, sum)
	}
}

// earned is what the rows of the ledger add up to, by month: of all months, and
// of those with a statement.
type earned struct{ closed, settled map[string]Micros }

func earnedInRows(t testing.TB, db *sql.DB, user string) earned {
	t.Helper()
	e := earned{map[string]Micros{}, map[string]Micros{}}
	statements := strings.Join(Lines(t, db, `SELECT month FROM statements WHERE user_id = $1`, user), "")
	each(t, db, func(scan func(...any) error, _ int) error {
		var day Day
		var p Parts
		err := scan(&day, &p.Availability, &p.Performance, &p.Utilization)
		month := day.Month().String()
		e.closed[month] += p.Sum()
		if strings.Contains(","+statements, fmt.Sprintf(",%d,", day.Month())) {
			e.settled[month] += p.Sum()
		}
		return err
	}, `SELECT day, availability, performance, utilization FROM (SELECT * FROM ledger UNION ALL SELECT * FROM ledger_again) AS written
		WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM reopenings WHERE reopenings.revision > written.revision AND first_day <= written.day)`, user)
	return e
}

// compareWithRows: between what the rows made before the answers and what they
// make now, everything that is settled is answered; what is closed is a part of
// each month, and all of a settled one.
func (a answers) compareWithRows(t testing.TB, user string, before, after earned) {
	t.Helper()
	var least, most Micros
	for month, amount := range before.closed {
		got := a.history[month].TotalEarned
		settled, final := before.settled[month]
		if least += settled; got < amount || final && got != settled {
			t.Errorf("%s: %s is answered as %d; the rows make %d, settled: %v", user, month, got, amount, final)
		}
	}
	for _, amount := range after.settled {
		most += amount
	}
	if got := a.all.Summary.Settled; got < least || got > most {
		t.Errorf("%s: %d is answered as settled; the rows of settled months make %d to %d", user, got, least, most)
	}
}
