package payments

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Rewards is what was earned and what would have been. Each method with a principal
// returns Forbidden for the data of another user.
type Rewards interface {
	Summary(ctx context.Context, p beacon.Principal, q earnings.SummaryQuery) (earnings.Summary, error)
	History(ctx context.Context, p beacon.Principal, q earnings.HistoryQuery) (beacon.Listed[earnings.MonthSum], error)
	// Days calls q.Charge before it reads many rows.
	Days(ctx context.Context, p beacon.Principal, q earnings.DaysQuery) (earnings.Days, error)
	// Explain returns NotFound if there never was such a hotspot.
	Explain(ctx context.Context, p beacon.Principal, q earnings.ExplainQuery) (earnings.Explanation, error)
	// Statement returns NotFound for a month that is not settled.
	Statement(ctx context.Context, p beacon.Principal, q earnings.StatementQuery) (earnings.Statement, error)
	// Rows calls fn for each row of a user, with the hash of its month's chain.
	Rows(ctx context.Context, p beacon.Principal, user beacon.UserID, fn func(ledger.Row, ledger.Hash) error) error

	Plan(ctx context.Context, p beacon.Principal, plan []geo.Point) ([]earnings.Estimate, error)
	Standings(ctx context.Context, ids []beacon.HotspotID) (earnings.Standings, error)
	Overview(ctx context.Context, p beacon.Principal, months int) (earnings.Overview, error)
	Switch() rewards.Switch
}

// Closing is what staff do with days, months and policies.
type Closing interface {
	Settle(ctx context.Context, by beacon.Actor, month beacon.Month, force bool, progress func(done, total int)) (closing.SettleReport, error)
	Reopen(ctx context.Context, by beacon.Actor, from beacon.Day, through *beacon.Day, confirmed bool) (closing.ReopenReport, error)
	// Replay computes closed days again, and calls progress as it goes on.
	Replay(ctx context.Context, q closing.ReplayQuery, progress func(closing.ReplayedDay) error) (*closing.Replay, error)
	Resumed(ctx context.Context) (policy.Policy, error)
	Adopt(ctx context.Context, by beacon.Actor, p policy.Policy, from beacon.Day, confirmed bool) (rewards.Adoption, error)
	ReportClock(ctx context.Context) (rewards.ClockReport, error)
	ConfirmClock(ctx context.Context, by beacon.Actor, today beacon.Day) error
}

func (a *API) summary(ctx context.Context, p beacon.Principal, q earnings.SummaryQuery) (earnings.Summary, error) {
	s, err := a.rewards.Summary(ctx, p, q)
	return s, cmp.Or(err, edge.Nobody(q.User))
}

func (a *API) months(ctx context.Context, p beacon.Principal, q earnings.HistoryQuery) (beacon.Listed[earnings.MonthSum], error) {
	list, err := a.rewards.History(ctx, p, q)
	return list, cmp.Or(err, edge.Nobody(q.User))
}

func (a *API) holds(ctx context.Context, p beacon.Principal, q holds.Query) (beacon.Listed[beacon.Hold], error) {
	list, err := a.holding.List(ctx, p, q)
	if q.User == "" {
		return list, err
	}
	return list, cmp.Or(err, edge.Nobody(q.User))
}

func (a *API) explain(ctx context.Context, p beacon.Principal, q earnings.ExplainQuery) (earnings.Explanation, error) {
	return a.rewards.Explain(ctx, p, q)
}

func DecodeSummary(r *http.Request, q *edge.Query) earnings.SummaryQuery {
	period := q.OneOf("period", string(earnings.Current), string(earnings.Last), string(earnings.All))
	return earnings.SummaryQuery{User: beacon.UserID(r.PathValue("id")), Period: cmp.Or(earnings.Period(period), earnings.Current)}
}

func encodeSummary(_ http.Header, s earnings.Summary) edge.Payload {
	out := client.Rewards{
		UserID: string(s.User), Unit: beacon.RewardUnit,
		Period: client.RewardsPeriod{Start: s.Start, End: s.End, Status: string(s.Status)},
		Summary: client.RewardsSummary{
			TotalEarned: client.Amount(s.Total.Total()), Pending: client.Amount(s.Pending()),
			Settled: client.Amount(s.Settled), Held: client.Amount(s.Held), Voided: client.Amount(s.Voided),
		},
		Breakdown: showBreakdown(s.Total.Earned), Hotspots: make([]client.HotspotRewards, len(s.Hotspots)),
	}
	for i := range s.Hotspots {
		h := &s.Hotspots[i]
		out.Hotspots[i] = client.HotspotRewards{
			HotspotID: string(h.ID), Name: h.Name, Earned: client.Amount(h.Total()), Pending: client.Amount(h.Pending()),
			Settled: client.Amount(h.Settled), Held: client.Amount(h.Held), Voided: client.Amount(h.Voided),
			AvailabilityScore: edge.ScoreOf(h.Served, h.Expected).Share(), PerformanceTier: h.Tier.String(), Breakdown: showBreakdown(h.Earned),
		}
	}
	return edge.Payload{Data: out}
}

func tabulateSummary(q earnings.SummaryQuery, s earnings.Summary) *edge.Table {
	t := edge.NewTable("rewards-"+string(q.Period)+".csv",
		"hotspot_id", "name", "earned", "availability_score", "performance_tier", "availability", "performance", "utilization", "unit",
		"pending", "settled", "held", "voided")
	for i := range s.Hotspots {
		h := &s.Hotspots[i]
		t.Line(string(h.ID), edge.QuotedCell(h.Name), h.Total().String(), edge.ScoreOf(h.Served, h.Expected).String(), h.Tier.String(),
			h.Availability.String(), h.Performance.String(), h.Utilization.String(), beacon.RewardUnit,
			h.Pending().String(), h.Settled.String(), h.Held.String(), h.Voided.String())
	}
	return t
}

func (a *API) DecodeMonths(r *http.Request, q *edge.Query) earnings.HistoryQuery {
	in := earnings.HistoryQuery{User: beacon.UserID(r.PathValue("id")), From: q.Day("start_date"), To: q.Day("end_date"), Page: q.Page(edge.MonthsList)}
	last, named := beacon.DayOf(a.Now())+1, "tomorrow" // which is today east of Greenwich (decision N19)
	if in.To != nil {
		last, named = *in.To, "end_date"
	}
	if in.From != nil && *in.From > last && !q.Faults.Any() {
		q.Faults.Add("start_date", "must not be after "+named)
	}
	return in
}

func showMonth(m earnings.MonthSum) client.RewardsMonth {
	return client.RewardsMonth{
		Period: m.Month.String(), TotalEarned: client.Amount(m.Total()), HotspotCount: m.Hotspots, AvgAvailability: edge.ScoreOf(m.Served, m.Expected).Share(),
		Unit: beacon.RewardUnit, Pending: client.Amount(m.Pending()), Settled: client.Amount(m.Settled), Held: client.Amount(m.Held), Voided: client.Amount(m.Voided),
	}
}

func encodeMonths(_ http.Header, list beacon.Listed[earnings.MonthSum]) edge.Payload {
	return edge.ShowPage(list, edge.MonthsList, func(m earnings.MonthSum) string { return m.Month.String() }, showMonth)
}

func tabulateMonths(_ earnings.HistoryQuery, list beacon.Listed[earnings.MonthSum]) *edge.Table {
	t := edge.NewTable("rewards-history.csv", "period", "total_earned", "hotspot_count", "avg_availability", "unit", "pending", "settled", "held", "voided")
	for _, m := range list.Items {
		t.Line(m.Month.String(), m.Total().String(), strconv.Itoa(m.Hotspots), edge.ScoreOf(m.Served, m.Expected).String(), beacon.RewardUnit,
			m.Pending().String(), m.Settled.String(), m.Held.String(), m.Voided.String())
	}
	return t
}

// rowsARequest is how many rows of the ledger a request may read for the price of one.
const rowsARequest = 10_000

// days sends what a user earned on each day of a month (decision D200). A month of many
// hotspots counts as more than one request.
func (a *API) days(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	decode := func(w http.ResponseWriter, r *http.Request) (earnings.DaysQuery, error) {
		in, err := edge.FromQuery(decodeDays)(w, r)
		in.Charge = a.Charging(w, p, rowsARequest)
		return in, err
	}
	verb := func(ctx context.Context, p beacon.Principal, q earnings.DaysQuery) (earnings.Days, error) {
		d, err := a.rewards.Days(ctx, p, q)
		return d, cmp.Or(err, edge.Nobody(q.User))
	}
	return edge.ServeForms(a.Edge, 200, decode, verb, encodeDays, tabulateDays)(w, r, p)
}

func decodeDays(r *http.Request, q *edge.Query) earnings.DaysQuery {
	in := earnings.DaysQuery{User: beacon.UserID(r.PathValue("id"))}
	if text, ok := q.Get("month"); ok {
		month, err := beacon.ParseMonth(text)
		if err != nil {
			q.Faults.Add("month", "must be a month such as 2026-11")
		}
		in.Month = &month
	}
	return in
}

func encodeDays(_ http.Header, d earnings.Days) edge.Payload {
	shown := client.RewardsDays{UserID: string(d.User), Period: d.Month.String(), Unit: beacon.RewardUnit, Days: make([]client.RewardsDay, len(d.Days))}
	for i, day := range d.Days {
		shown.Days[i] = client.RewardsDay{
			Date: day.Day.String(), Open: day.Open, TotalEarned: client.Amount(day.Total()), HotspotCount: day.Hotspots,
			AvgAvailability: edge.ScoreOf(day.Served, day.Expected).Share(), Breakdown: showBreakdown(day.Earned),
		}
	}
	return edge.Payload{Data: shown}
}

func tabulateDays(_ earnings.DaysQuery, d earnings.Days) *edge.Table {
	t := edge.NewTable("rewards-"+d.Month.String()+".csv",
		"date", "open", "total_earned", "hotspot_count", "avg_availability", "availability", "performance", "utilization", "unit")
	for _, day := range d.Days {
		t.Line(day.Day.String(), strconv.FormatBool(day.Open), day.Total().String(), strconv.Itoa(day.Hotspots), edge.ScoreOf(day.Served, day.Expected).String(),
			day.Availability.String(), day.Performance.String(), day.Utilization.String(), beacon.RewardUnit)
	}
	return t
}
