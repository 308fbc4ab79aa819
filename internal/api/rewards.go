package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// Rewards is what was earned and what would have been. Each method with a principal
// returns Forbidden for the data of another user.
type Rewards interface {
	Summary(ctx context.Context, p beacon.Principal, q rewards.SummaryQuery) (rewards.Summary, error)
	History(ctx context.Context, p beacon.Principal, q rewards.HistoryQuery) (beacon.Listed[rewards.MonthSum], error)
	// Days calls q.Charge before it reads many rows.
	Days(ctx context.Context, p beacon.Principal, q rewards.DaysQuery) (rewards.Days, error)
	// Explain returns NotFound if there never was such a hotspot.
	Explain(ctx context.Context, p beacon.Principal, q rewards.ExplainQuery) (rewards.Explanation, error)
	// Statement returns NotFound for a month that is not settled.
	Statement(ctx context.Context, p beacon.Principal, q rewards.StatementQuery) (rewards.Statement, error)
	// Replay computes closed days again, and calls progress as it goes on.
	Replay(ctx context.Context, q rewards.ReplayQuery, progress func(rewards.ReplayedDay) error) (*rewards.Replay, error)
	// Rows calls fn for each row of a user, with the hash of its month's chain.
	Rows(ctx context.Context, p beacon.Principal, user beacon.UserID, fn func(ledger.Row, ledger.Hash) error) error
}

func (a *API) summary(ctx context.Context, p beacon.Principal, q rewards.SummaryQuery) (rewards.Summary, error) {
	s, err := a.rewards.Summary(ctx, p, q)
	return s, cmp.Or(err, nobody(q.User))
}

func (a *API) months(ctx context.Context, p beacon.Principal, q rewards.HistoryQuery) (beacon.Listed[rewards.MonthSum], error) {
	list, err := a.rewards.History(ctx, p, q)
	return list, cmp.Or(err, nobody(q.User))
}

func (a *API) holds(ctx context.Context, p beacon.Principal, q rewards.HoldsQuery) (beacon.Listed[beacon.Hold], error) {
	list, err := a.books.Holds(ctx, p, q)
	if q.User == "" {
		return list, err
	}
	return list, cmp.Or(err, nobody(q.User))
}

// nobody returns NotFound for a text that cannot be a user id. Call it after the use
// case: a caller without permission must get Forbidden, whatever the text
// (decision N6).
func nobody(user beacon.UserID) error {
	if user == beacon.Me || id.Valid(beacon.UserPrefix, string(user)) {
		return nil
	}
	return errNoUser
}

func (a *API) explain(ctx context.Context, p beacon.Principal, q rewards.ExplainQuery) (rewards.Explanation, error) {
	return a.rewards.Explain(ctx, p, q)
}

func decodeSummary(r *http.Request, q *query) rewards.SummaryQuery {
	period := q.oneOf("period", string(rewards.Current), string(rewards.Last), string(rewards.All))
	return rewards.SummaryQuery{User: beacon.UserID(r.PathValue("id")), Period: cmp.Or(rewards.Period(period), rewards.Current)}
}

// encodeSummary is written by hand: a user can have ten thousand hotspots.
func encodeSummary(_ http.Header, s rewards.Summary) payload {
	const perHotspot = 220
	out := make([]byte, 0, 512+perHotspot*len(s.Hotspots))
	out = append(out, `{"user_id":"`...)
	out = append(out, s.User...)
	out = append(out, `","unit":"`+beacon.RewardUnit+`","period":{"start":"`...)
	out = stamp(s.Start).append(out)
	out = append(out, `","end":"`...)
	out = stamp(s.End).append(out)
	out = append(out, `","status":"`...)
	out = append(out, s.Status...)
	out = append(out, `"},"summary":{"total_earned":`...)
	out = s.Total.Total().Append(out)
	out = appendPayment(out, s.Pending(), s.Payment)
	out = append(out, `},"breakdown":`...)
	out = appendBreakdown(out, s.Total.Earned)
	out = append(out, `,"hotspots":[`...)
	for i := range s.Hotspots {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendHotspotSum(out, &s.Hotspots[i])
	}
	return payload{Data: encoded(append(out, `]}`...))}
}

func appendHotspotSum(out []byte, h *rewards.HotspotSum) []byte {
	out = append(out, `{"hotspot_id":"`...)
	out = append(out, h.ID...)
	out = append(out, `","name":`...)
	out = appendText(out, h.Name)
	out = append(out, `,"earned":`...)
	out = h.Total().Append(out)
	out = appendPayment(out, h.Pending(), h.Payment)
	out = append(out, `,"availability_score":`...)
	out = appendMillionths(out, scoreOf(h.Served, h.Expected))
	out = append(out, `,"performance_tier":"`...)
	out = append(out, h.Tier.String()...)
	out = append(out, `","breakdown":`...)
	return append(appendBreakdown(out, h.Earned), '}')
}

// appendPayment writes what became of what was earned, as members of an object.
func appendPayment(out []byte, pending beacon.Amount, p rewards.Payment) []byte {
	out = pending.Append(append(out, `,"pending":`...))
	out = p.Settled.Append(append(out, `,"settled":`...))
	out = p.Held.Append(append(out, `,"held":`...))
	return p.Voided.Append(append(out, `,"voided":`...))
}

func appendBreakdown(out []byte, e beacon.Earned) []byte {
	out = append(out, `{"availability":`...)
	out = e.Availability.Append(out)
	out = append(out, `,"performance":`...)
	out = e.Performance.Append(out)
	out = append(out, `,"utilization":`...)
	out = e.Utilization.Append(out)
	return append(out, '}')
}

func tabulateSummary(q rewards.SummaryQuery, s rewards.Summary) *table {
	t := newTable("rewards-"+string(q.Period)+".csv",
		"hotspot_id", "name", "earned", "availability_score", "performance_tier", "availability", "performance", "utilization", "unit",
		"pending", "settled", "held", "voided")
	for i := range s.Hotspots {
		h := &s.Hotspots[i]
		t.line(string(h.ID), quotedCell(h.Name), h.Total().String(), scoreOf(h.Served, h.Expected).String(), h.Tier.String(),
			h.Availability.String(), h.Performance.String(), h.Utilization.String(), beacon.RewardUnit,
			h.Pending().String(), h.Settled.String(), h.Held.String(), h.Voided.String())
	}
	return t
}

func (a *API) decodeMonths(r *http.Request, q *query) rewards.HistoryQuery {
	in := rewards.HistoryQuery{User: beacon.UserID(r.PathValue("id")), From: q.day("start_date"), To: q.day("end_date"), Page: q.page(monthsList)}
	last, named := beacon.DayOf(a.now()), "today"
	if in.To != nil {
		last, named = *in.To, "end_date"
	}
	if in.From != nil && *in.From > last && !q.faults.Any() {
		q.faults.Add("start_date", "must not be after "+named)
	}
	return in
}

// day reads a day, or returns nil if it is absent.
func (q *query) day(name string) *beacon.Day {
	text, ok := q.get(name)
	if !ok {
		return nil
	}
	t, err := time.Parse(time.DateOnly, text) // before 1970, too
	if err != nil {
		q.faults.Add(name, "must be a day such as 2026-11-30")
	}
	return new(beacon.DayOf(t))
}

// monthSum is a month of a history. The first four fields are those of the document.
type monthSum struct {
	Period          beacon.Month  `json:"period"`
	TotalEarned     beacon.Amount `json:"total_earned"`
	HotspotCount    int           `json:"hotspot_count"`
	AvgAvailability millionths    `json:"avg_availability"`
	Unit            string        `json:"unit"`
	Pending         beacon.Amount `json:"pending"`
	Settled         beacon.Amount `json:"settled"`
	Held            beacon.Amount `json:"held"`
	Voided          beacon.Amount `json:"voided"`
}

func showMonth(m rewards.MonthSum) monthSum {
	return monthSum{
		m.Month, m.Total(), m.Hotspots, scoreOf(m.Served, m.Expected), beacon.RewardUnit, m.Pending(), m.Settled, m.Held, m.Voided,
	}
}

func encodeMonths(_ http.Header, list beacon.Listed[rewards.MonthSum]) payload {
	return showPage(list, monthsList, func(m rewards.MonthSum) string { return m.Month.String() }, showMonth)
}

func tabulateMonths(_ rewards.HistoryQuery, list beacon.Listed[rewards.MonthSum]) *table {
	t := newTable("rewards-history.csv", "period", "total_earned", "hotspot_count", "avg_availability", "unit", "pending", "settled", "held", "voided")
	for _, m := range list.Items {
		t.line(m.Month.String(), m.Total().String(), strconv.Itoa(m.Hotspots), scoreOf(m.Served, m.Expected).String(), beacon.RewardUnit,
			m.Pending().String(), m.Settled.String(), m.Held.String(), m.Voided.String())
	}
	return t
}

// rowsARequest is how many rows of the ledger a request may read for the price of one.
const rowsARequest = 10_000

// days sends what a user earned on each day of a month (decision D200). A month of many
// hotspots counts as more than one request.
func (a *API) days(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	decode := func(w http.ResponseWriter, r *http.Request) (rewards.DaysQuery, error) {
		in, err := fromQuery(decodeDays)(w, r)
		in.Charge = a.charging(w, p, rowsARequest)
		return in, err
	}
	verb := func(ctx context.Context, p beacon.Principal, q rewards.DaysQuery) (rewards.Days, error) {
		d, err := a.rewards.Days(ctx, p, q)
		return d, cmp.Or(err, nobody(q.User))
	}
	return serveForms(a, 200, decode, verb, encodeDays, tabulateDays)(w, r, p)
}

func decodeDays(r *http.Request, q *query) rewards.DaysQuery {
	in := rewards.DaysQuery{User: beacon.UserID(r.PathValue("id"))}
	if text, ok := q.get("month"); ok {
		month, err := beacon.ParseMonth(text)
		if err != nil {
			q.faults.Add("month", "must be a month such as 2026-11")
		}
		in.Month = &month
	}
	return in
}

type daysShown struct {
	UserID beacon.UserID `json:"user_id"`
	Period beacon.Month  `json:"period"`
	Unit   string        `json:"unit"`
	Days   []daySum      `json:"days"`
}

type daySum struct {
	Date            beacon.Day    `json:"date"`
	Open            bool          `json:"open"`
	TotalEarned     beacon.Amount `json:"total_earned"`
	HotspotCount    int           `json:"hotspot_count"`
	AvgAvailability millionths    `json:"avg_availability"`
	Breakdown       breakdown     `json:"breakdown"`
}

func encodeDays(_ http.Header, d rewards.Days) payload {
	shown := daysShown{UserID: d.User, Period: d.Month, Unit: beacon.RewardUnit, Days: make([]daySum, len(d.Days))}
	for i, day := range d.Days {
		shown.Days[i] = daySum{day.Day, day.Open, day.Total(), day.Hotspots, scoreOf(day.Served, day.Expected), breakdown(day.Earned)}
	}
	return payload{Data: shown}
}

func tabulateDays(_ rewards.DaysQuery, d rewards.Days) *table {
	t := newTable("rewards-"+d.Month.String()+".csv",
		"date", "open", "total_earned", "hotspot_count", "avg_availability", "availability", "performance", "utilization", "unit")
	for _, day := range d.Days {
		t.line(day.Day.String(), strconv.FormatBool(day.Open), day.Total().String(), strconv.Itoa(day.Hotspots), scoreOf(day.Served, day.Expected).String(),
			day.Availability.String(), day.Performance.String(), day.Utilization.String(), beacon.RewardUnit)
	}
	return t
}
