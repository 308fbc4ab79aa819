package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

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
