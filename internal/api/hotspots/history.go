package hotspots

import (
	"context"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// The bounds of a history (decision X4).
const (
	defaultHistory   = 24 * time.Hour
	MaxHistory       = 400 * 24 * time.Hour
	maxHistoryPoints = 1000
)

// steps are the allowed steps of a history, by name.
var steps = []struct {
	name string
	span time.Duration
}{
	{"1h", time.Hour},
	{"6h", 6 * time.Hour},
	{"1d", 24 * time.Hour},
}

// historyOf is a history, and what of it the reader may see.
type historyOf struct {
	telemetry.History
	showsClients, showsTraffic bool
}

func (a *API) history(ctx context.Context, p beacon.Principal, q telemetry.HistoryQuery) (historyOf, error) {
	hotspot, err := a.registry.Get(ctx, p, q.Hotspot)
	if err != nil {
		return historyOf{}, err
	}
	if hotspot.Approximate && !wholeDays(&q, a.Now()) {
		return historyOf{History: telemetry.History{HistoryQuery: q}}, nil
	}
	h, err := a.telemetry.History(ctx, q)
	if err != nil {
		return historyOf{}, err
	}
	p = p.At(q.Hotspot)
	return historyOf{
		History:      h,
		showsClients: p.Sees(beacon.HistoryClients, hotspot.Operator),
		showsTraffic: p.Sees(beacon.HistoryTraffic, hotspot.Operator),
	}, nil
}

// wholeDays reduces a query to UTC days that are over, and reports whether there are any:
// what a home did hour by hour tells when someone is there.
func wholeDays(q *telemetry.HistoryQuery, now time.Time) bool {
	const day = 24 * time.Hour
	q.Step = day
	q.From, q.To = q.From.Truncate(day), q.To.Add(day-1).Truncate(day)
	if today := now.UTC().Truncate(day); q.To.After(today) {
		q.To = today
	}
	if q.To.Before(q.From) {
		q.To = q.From
	}
	return q.From.Before(q.To)
}

func (a *API) DecodeHistory(r *http.Request, q *edge.Query) telemetry.HistoryQuery {
	now := a.Now()
	in := telemetry.HistoryQuery{Hotspot: beacon.HotspotID(r.PathValue("id")), Step: readStep(q, "step")}
	in.To = q.Time("to", now)
	if in.To.After(now) {
		in.To = now // the future is unknown
	}
	in.From = q.Time("from", in.To.Add(-defaultHistory))
	if q.Faults.Any() {
		return in
	}
	// Steps begin at whole hours and days of UTC, and are returned whole.
	from, to := in.From.Truncate(in.Step), in.To.Add(in.Step-1).Truncate(in.Step)
	switch {
	case !in.From.Before(in.To):
		q.Faults.Add("from", "must be before to, and in the past")
	case in.From.Before(now.Add(-MaxHistory)):
		q.Faults.Add("from", "must be at most 400 days ago")
	case to.Sub(from) > maxHistoryPoints*in.Step:
		q.Faults.Add("step", "must be larger: this would be more than 1000 points")
	}
	in.From, in.To = from, to
	return in
}

func encodeHistory(_ http.Header, h historyOf) edge.Payload {
	out := client.History{HotspotID: string(h.Hotspot), From: h.From, To: h.To, Points: make([]client.HistoryPoint, len(h.Points))}
	for _, s := range steps {
		if s.span == h.Step {
			out.Step = s.name
		}
	}
	for i, p := range h.Points {
		out.Points[i] = client.HistoryPoint{At: p.At, PerformanceTier: p.Tier.String()}
		if h.showsClients {
			out.Points[i].Clients = &p.Clients
		}
		if h.showsTraffic {
			out.Points[i].TrafficGB = new(client.Gigabytes(p.Bytes))
		}
		if p.Expected > 0 {
			out.Points[i].Uptime = new(edge.Fraction(edge.ShareOf(p.Served, p.Expected)))
		}
	}
	return edge.Payload{Data: out}
}

// step reads the length of a step.
func readStep(q *edge.Query, name string) time.Duration {
	text := q.OneOf(name, "1h", "6h", "1d")
	for _, s := range steps {
		if s.name == text {
			return s.span
		}
	}
	return steps[0].span
}
