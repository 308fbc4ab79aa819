//go:build linux

package torture_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// whose draws whose rewards are asked for: the path, and the user or what the
// answer must be. What is wrong with the rest of the request comes before it.
func (m *modelMachine) whose(t *rapid.T, k *apiKey, wrong bool) (path, user string, e *want) {
	who := rapid.SampledFrom([]string{"me", "me", "{" + m.keys[1].user + "}", "{" + m.keys[2].user + "}", "usr_00000000000000000000000000", "ME"}).Draw(t, "user")
	user = strings.Trim(who, "{}")
	e = m.enter(k, "rewards:read")
	switch {
	case e != nil:
	case wrong:
		e = refused(400, "invalid_request")
	case who == "me":
		user = k.user
	case user != k.user && !k.has("admin"):
		e = &errForbidden
	case user == "ME":
		e = &errNotFound // decision D56
	}
	return "/v1/users/" + who + "/rewards", user, e
}

// micro is an amount in millionths; amounts have at most six decimals.
func micro(got any) int64 {
	value, is := got.(float64)
	if whole := math.Round(value * 1e6); is && value >= 0 && math.Abs(value*1e6-whole) < 1e-3 {
		return int64(whole)
	}
	return math.MinInt64 / 1024
}

func (m *modelMachine) doRewards(t *rapid.T) {
	k := m.someKey(t)
	period := rapid.SampledFrom([]string{"", "current", "last", "all", "CURRENT", "2026-11"}).Draw(t, "period")
	path, user, e := m.whose(t, k, period == "CURRENT" || period == "2026-11")
	if e == nil {
		e = &want{status: 200, loose: true, apart: m.served(user), data: rule(func(w *world, at span, got any) string { return m.judgeRewards(w, at, user, period, got) })}
	}
	r := request{method: http.MethodGet, path: path + query("period", period), key: k}
	if e.code == "" && seldom(t, "csv", 4) {
		r.header = map[string]string{"Accept": "text/csv, application/json;q=0.9"}
		e = &want{status: 200, apart: true, whole: func(w *world, _ span, got any) string { return m.judgeTable(w, user, string(got.([]byte))) }}
	}
	m.step(t, r, e)
}

const rewardsColumns = "hotspot_id,name,earned,availability_score,performance_tier,availability,performance,utilization,unit,pending,settled,held,voided\r\n"

// judgeTable wants the columns of the document, and lines about the user's own
// hotspots.
func (m *modelMachine) judgeTable(w *world, user, text string) string {
	lines, ok := strings.CutPrefix(text, rewardsColumns)
	if !ok {
		return fmt.Sprintf("%.200q has other columns", text)
	}
	for line := range strings.Lines(lines) {
		id, _, _ := strings.Cut(line, ",")
		if s := m.byID(w, id); user != m.keys[0].user && (s == nil || s.owner != user || !s.inService) || !strings.Contains(line, ",credit,") {
			return fmt.Sprintf("%q is not about a hotspot of the user", line)
		}
	}
	return ""
}

// served reports whether a user has, or may have, earned anything.
func (m *modelMachine) served(user string) bool {
	return user == m.keys[0].user || slices.ContainsFunc(m.hotspots, func(s *modelHotspot) bool { return s.owner == user && s.inService })
}

var periodOf = map[string]fields{
	"": {"start": "2026-11-01T00:00:00.000Z", "end": "2026-12-01T00:00:00.000Z", "status": "in_progress"}, "current": {"start": "2026-11-01T00:00:00.000Z", "end": "2026-12-01T00:00:00.000Z", "status": "in_progress"},
	"last": {"start": "2026-10-01T00:00:00.000Z", "end": "2026-11-01T00:00:00.000Z", "status": "settled"},
	"all":  {"start": rule(func(*world, span, any) string { return "" }), "end": rule(func(_ *world, at span, got any) string { return within(got, at) }), "status": "in_progress"},
}

// judgeRewards holds a summary to decision N17: it adds up, to the micro-credit,
// and is about the user's own hotspots, and is nothing for who did nothing.
func (m *modelMachine) judgeRewards(w *world, at span, user, period string, got any) string {
	all, _ := got.(fields)
	var summary, breakdown, listed int64
	sum := func(into *int64, names ...string) rule {
		return func(_ *world, _ span, got any) string {
			for _, name := range names {
				*into += micro(got.(fields)[name])
			}
			return ""
		}
	}
	total := micro(all["summary"].(fields)["total_earned"])
	problem := w.match("", fields{
		"user_id": userID(user), "unit": "credit", "period": periodOf[period],
		"summary": sum(&summary, "pending", "settled", "held", "voided"), "breakdown": sum(&breakdown, "availability", "performance", "utilization"),
		"hotspots": rule(func(w *world, _ span, got any) string {
			last := ""
			for _, item := range got.([]any) {
				one := item.(fields)
				listed += micro(one["earned"])
				id, _ := one["hotspot_id"].(string)
				s := m.byID(w, id)
				if id <= last || user != m.keys[0].user && (s == nil || s.owner != user || !s.inService || one["name"] != s.title) {
					return fmt.Sprintf("not in order, or not the user's: %v", item)
				}
				last = id
			}
			return ""
		}),
	}, got, at)
	if problem == "" && (total != summary || total != breakdown || total != listed || total > 0 && (!m.served(user) || period == "last")) {
		return fmt.Sprintf("%v does not add up", got)
	}
	return problem
}

// userID is a user whom the model named, or one whom nobody knows.
func userID(user string) any {
	if strings.HasPrefix(user, "usr_") {
		return user
	}
	return named(user)
}

func (m *modelMachine) byID(w *world, id string) *modelHotspot {
	for _, s := range m.hotspots {
		if w.bound[s.name] == id {
			return s
		}
	}
	return nil
}

func (m *modelMachine) doRewardsByMonth(t *rapid.T) {
	k := m.someKey(t)
	text, page, perPage, bad := pageOf(t, true)
	dates := rapid.SampledFrom([][2]string{
		{"", "yes"},
		{"", "yes"},
		{"start_date=2026-11-01", "yes"},
		{"end_date=2026-10-31", "no"},
		{"start_date=2026-01-01&end_date=2026-11-01", "yes"},
		{"start_date=2026-10-05&end_date=2026-10-05", "no"},
		{"start_date=2026-02-30", "bad"},
		{"start_date=2026-2-1", "bad"},
		{"end_date=2026-02-01T00:00:00Z", "bad"},
		{"start_date=", "bad"},
		{"start_date=2026-05-01&end_date=2026-04-30", "bad"},
	}).Draw(t, "dates")
	if text == "" {
		text = "?"
	}
	path, user, e := m.whose(t, k, bad != nil || dates[1] == "bad")
	if e == nil {
		most := 0
		if dates[1] == "yes" && m.served(user) {
			most = 1
		}
		total := 0
		e = &want{
			status: 200, loose: true, apart: m.served(user),
			page: rule(func(w *world, at span, got any) string {
				n, _ := got.(fields)["total"].(float64)
				if total = int(n); total > most {
					return fmt.Sprintf("%v months; want at most %d", n, most)
				}
				return w.match("", (&pagination{page, perPage, total}).fields(), got, at)
			}),
			data: rule(func(_ *world, _ span, got any) string {
				list, _ := got.([]any)
				if len(list) > 1 || len(list) == 1 && (list[0].(fields)["period"] != "2026-11" || page != 1 || micro(list[0].(fields)["total_earned"]) < 0) {
					return fmt.Sprintf("%v; want at most this month", got)
				}
				return ""
			}),
		}
	}
	m.step(t, request{method: http.MethodGet, path: path + "/history" + text + "&" + dates[0], key: k}, e)
}

func (m *modelMachine) doStatement(t *rapid.T) {
	k := m.someKey(t)
	path, _, e := m.whose(t, k, false)
	if e == nil {
		e = &errNotFound // nothing is settled in the first days of a network
	}
	month := rapid.SampledFrom([]string{"2026-10", "2026-11", "2099-01"}).Draw(t, "month")
	m.step(t, request{method: http.MethodGet, path: path + "/statements/" + month, key: k}, e)
}

func (m *modelMachine) doExplain(t *rapid.T) {
	s, path := m.someHotspot(t)
	k := m.operatorOf(t, s)
	now := time.Now()
	date := rapid.SampledFrom([]string{"", "today", "2026-11-09", "2999-01-01", "2026-11-31", "yesterday", "2026-11-1"}).Draw(t, "date")
	e := m.enter(k, "rewards:read")
	switch {
	case e != nil:
	case date == "2999-01-01", date == "2026-11-31", date == "yesterday", date == "2026-11-1":
		e = refused(400, "invalid_request")
	case s == nil:
		e = &errNotFound
	case s.owner != k.user && !k.has("admin"):
		e = &errForbidden
	case date == "2026-11-09": // when there was no hotspot yet
		e = refused(400, "invalid_request")
	default:
		e = &want{status: 200, loose: true, apart: s.inService, data: rule(func(w *world, _ span, got any) string { return s.judgeExplanation(w, got) })}
	}
	if date == "today" {
		date = m.worlds[0].clock.between(now, now).from.Format(time.DateOnly)
		for _, w := range m.worlds {
			if at := w.clock.between(now, now); at.from.Format(time.DateOnly) != date || at.to.Format(time.DateOnly) != date {
				date = "" // it is midnight: each server explains its own today
			}
		}
	}
	m.step(t, request{method: http.MethodGet, path: path + "/rewards/explain" + query("date", date), key: k}, e)
}

// judgeExplanation holds an explanation to decision X6: what could have been
// earned is what was lost and what was earned.
func (s *modelHotspot) judgeExplanation(w *world, got any) string {
	all, _ := got.(fields)
	potential, _ := all["potential"].(fields)
	earned, _ := all["earned"].(fields)
	losses, _ := all["losses"].([]any)
	for _, part := range []string{"availability", "performance", "utilization", "total"} {
		left := micro(potential[part]) - micro(earned[part])
		for _, loss := range losses {
			left -= micro(loss.(fields)[part])
		}
		if left != 0 || micro(potential[part]) < 0 || !s.inService && micro(earned[part]) != 0 {
			return fmt.Sprintf("%s does not add up: %v", part, got)
		}
	}
	if all["hotspot_id"] != w.bound[s.name] || all["unit"] != "credit" || all["status"] != "in_progress" {
		return fmt.Sprintf("%v is not about %s", got, s.name)
	}
	return ""
}
