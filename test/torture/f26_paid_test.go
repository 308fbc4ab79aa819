//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// yearChecks is how far what was paid has been compared with what was due.
type yearChecks struct {
	day     int64             // the first day that is not compared
	month   time.Time         // the first month whose statements are not compared
	due     map[string]dueDay // by hotspot and date
	differ  []yearDifference
	settled map[*yearUser]int64 // in micro-credits
	rows    int
}

// yearDifference is a day on which a hotspot was not paid what was due.
type yearDifference struct {
	h         *yearHotspot
	day       int64
	where     string
	due, paid dueDay
}

// paidDay is a day as responses show it.
type paidDay struct {
	Date     string `json:"date"`
	Hotspot  string `json:"hotspot_id"`
	Served   int    `json:"served_minutes"`
	Expected int    `json:"expected_minutes"`
	Closed   int    `json:"closed_minutes"`
	Excused  int    `json:"excused_minutes"`
	Outside  int    `json:"outside_minutes"`
	Bytes    uint64 `json:"traffic_bytes"`
	Tier     string `json:"performance_tier"`
	Earned
}

// Earned are the amounts of a day.
type Earned struct {
	Availability json.Number `json:"availability"`
	Performance  json.Number `json:"performance"`
	Utilization  json.Number `json:"utilization"`
}

func (p paidDay) day() dueDay {
	return dueDay{
		p.Served, p.Expected, p.Closed, p.Excused, p.Outside, p.Bytes, p.Tier,
		microOf(p.Availability), microOf(p.Performance), microOf(p.Utilization),
	}
}

// microOf reads credits with at most six decimals.
func microOf(n json.Number) int64 {
	whole, fraction, _ := strings.Cut(n.String(), ".")
	amount, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil || len(fraction) > 6 {
		return -1
	}
	return amount
}

func dateOf(day int64) string { return time.Unix(day*minutesADay*60, 0).UTC().Format(time.DateOnly) }

// check compares the days that are closed, and the months that are settled.
func (y *year) check() {
	if !y.service.right() {
		return
	}
	c := &y.checks
	if c.due == nil {
		c.due, c.settled = map[string]dueDay{}, map[*yearUser]int64{}
		c.day = dayOf(y.first)
		first := time.Unix(int64(y.first)*60, 0).UTC()
		c.month = time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	for today := dayOf(harness.MinuteOf(y.service.truth())); c.day < today && y.isClosed(c.day); c.day++ {
		for _, h := range y.hotspots {
			if h.isThere(c.day) {
				y.checkDay(h, c.day)
			}
		}
	}
	for y.isSettled(c.month) {
		for _, u := range y.users {
			y.checkStatement(u, c.month)
		}
		c.month = c.month.AddDate(0, 1, 0)
	}
	y.tell()
}

// explain asks why a hotspot earned what it did.
func (y *year) explain(h *yearHotspot, day int64) (open bool, paid dueDay) {
	var a struct {
		Data struct {
			Open   bool
			Facts  paidDay
			Earned Earned
		}
	}
	status, text := y.call(h.user.key, http.MethodGet, h.path("/rewards/explain?date="+dateOf(day)), nil)
	if err := json.Unmarshal(text, &a); err != nil || status != http.StatusOK {
		y.t.Fatalf("explain got %d %s", status, text)
	}
	a.Data.Facts.Earned = a.Data.Earned
	return a.Data.Open, a.Data.Facts.day()
}

func (y *year) isClosed(day int64) bool {
	for _, h := range y.hotspots {
		if h.isThere(day) {
			open, _ := y.explain(h, day)
			if open {
				return false
			}
		}
	}
	return true
}

func (y *year) checkDay(h *yearHotspot, day int64) {
	_, paid := y.explain(h, day)
	due := h.due(y.service, day)
	y.checks.due[h.id+dateOf(day)] = due
	y.compare(h, day, "explain", due, paid)
}

// compare notes a difference. When a hotspot was in service and open for no minute of a
// day, or it was never heard, there may be no row, and no reason.
func (y *year) compare(h *yearHotspot, day int64, where string, due, paid dueDay) {
	if due.total() == 0 && (due.Expected+due.Excused == 0 || !h.heardBy(day)) {
		due.Expected, paid.Expected = 0, 0
		due.Tier, due.Closed, due.Excused, due.Outside = paid.Tier, paid.Closed, paid.Excused, paid.Outside
	}
	if due.Bytes == 0 || due.Expected+due.Excused == 0 {
		paid.Bytes = due.Bytes
	}
	if due != paid {
		y.checks.differ = append(y.checks.differ, yearDifference{h, day, where, due, paid})
	}
}

func (y *year) isSettled(month time.Time) bool {
	status, _ := y.statement(y.users[0], month)
	return status == http.StatusOK
}

// statementOf is a statement as far as it is compared.
type statementOf struct {
	Rows   []paidDay
	Totals struct {
		Total json.Number `json:"total_earned"`
	}
}

func (y *year) statement(u *yearUser, month time.Time) (status int, s statementOf) {
	var a struct{ Data statementOf }
	status, text := y.call(u.key, http.MethodGet, "/v1/users/me/rewards/statements/"+month.Format("2006-01"), nil)
	if err := json.Unmarshal(text, &a); err != nil {
		y.t.Fatalf("statement got %d %s: %v", status, text, err)
	}
	return status, a.Data
}

// checkStatement compares all days of a user's month: those that have a row, and those
// that should have one.
func (y *year) checkStatement(u *yearUser, month time.Time) {
	status, s := y.statement(u, month)
	if status != http.StatusOK && status != http.StatusNotFound {
		y.t.Errorf("the statement of %s got %d", month.Format("2006-01"), status)
	}
	rows, total := map[string]dueDay{}, int64(0)
	for _, row := range s.Rows {
		rows[row.Hotspot+row.Date] = row.day()
	}
	for _, h := range u.hotspots {
		for at := month; at.Month() == month.Month(); at = at.AddDate(0, 0, 1) {
			day := dayOf(harness.MinuteOf(at))
			due, compared := y.checks.due[h.id+dateOf(day)]
			if !compared {
				continue
			}
			y.compare(h, day, "statement", due, rows[h.id+dateOf(day)])
			delete(rows, h.id+dateOf(day))
			total += due.total()
			y.checks.rows++
		}
	}
	for row := range rows {
		y.t.Errorf("the statement of %s has a row of %s that nobody expects", month.Format("2006-01"), row)
	}
	if paid := microOf(s.Totals.Total); paid != total {
		y.t.Errorf("the statement of %s is over %d micro-credits; %d are due", month.Format("2006-01"), paid, total)
	}
	y.checks.settled[u] += total
}

// tell prints the differences, and what happened around those days.
func (y *year) tell() {
	if len(y.checks.differ) == 0 {
		return
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOTSPOT\tDAY\tBY\tDUE\tPAID\tMICRO-CREDITS")
	for i, d := range y.checks.differ[:min(len(y.checks.differ), 30)] {
		fmt.Fprintf(table, "%d %s\t%s\t%s\t%+v\t%+v\t%d of %d\n", i+1, d.h.name, dateOf(d.day), d.where, d.due, d.paid, d.paid.total(), d.due.total())
	}
	_ = table.Flush()
	for i, d := range y.checks.differ[:min(len(y.checks.differ), 30)] {
		fmt.Fprintf(&text, "%d %s\n", i+1, d.h.id)
		for day := d.day - 7; day <= d.day+7; day++ { // an outage may last for days, and a clock be doubted for as long
			if notes := d.h.notes[day]; len(notes) > 0 {
				fmt.Fprintf(&text, "  %s: %s\n", dateOf(day), strings.Join(notes, "; "))
			}
		}
	}
	y.t.Errorf("%d days were not paid as due:\n%s", len(y.checks.differ), text.String())
	y.checks.differ = nil
}

// conclude lets the last day be closed, and compares the sums.
func (y *year) conclude() {
	for m := y.end; m < y.end+2*minutesADay && !y.t.Failed() && y.checks.day < dayOf(y.end); m += 60 {
		y.service.until(m, 0)
		y.check()
	}
	y.end = harness.MinuteOf(y.service.truth())
	if y.t.Failed() {
		return
	}
	if y.checks.day < dayOf(y.end)-2 || len(y.checks.due) == 0 {
		y.t.Errorf("days are compared only up to %s", dateOf(y.checks.day))
	}
	var all, settled int64
	for _, u := range y.users {
		due := int64(0)
		for _, h := range u.hotspots {
			for day := dayOf(y.first); day < y.checks.day; day++ {
				due += y.checks.due[h.id+dateOf(day)].total()
			}
			for day := y.checks.day; day <= dayOf(y.end); day++ { // open
				if h.isThere(day) {
					_, paid := y.explain(h, day)
					due += paid.total()
				}
			}
		}
		y.checkSummary(u, due)
		all, settled = all+due, settled+y.checks.settled[u]
	}
	y.t.Logf("%d hotspots, %d days, %d rows of statements: %d micro-credits were due and paid, %d of them settled",
		len(y.hotspots), y.checks.day-dayOf(y.first), y.checks.rows, all, settled)
}

// checkSummary compares what a user earned in all.
func (y *year) checkSummary(u *yearUser, due int64) {
	var a struct {
		Data struct {
			Summary struct {
				Total   json.Number `json:"total_earned"`
				Settled json.Number
			}
		}
	}
	status, text := y.call(u.key, http.MethodGet, "/v1/users/me/rewards?period=all", nil)
	if err := json.Unmarshal(text, &a); err != nil || status != http.StatusOK {
		y.t.Fatalf("the summary got %d %s", status, text)
	}
	if paid, settled := microOf(a.Data.Summary.Total), microOf(a.Data.Summary.Settled); paid != due || settled != y.checks.settled[u] {
		y.t.Errorf("a summary shows %d micro-credits, %d of them settled; %d are due and %d settled", paid, settled, due, y.checks.settled[u])
	}
}
