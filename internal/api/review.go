package api

import (
	"context"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/review"
)

type queue struct {
	Total int    `json:"total"`
	Flags []flag `json:"flags"`
}

type flag struct {
	HotspotID  beacon.HotspotID `json:"hotspot_id"`
	OperatorID beacon.UserID    `json:"operator_id"`
	Kind       beacon.FlagKind  `json:"kind"`
	Weight     int              `json:"weight"`
	Facts      []fact           `json:"facts"`
	FirstDay   string           `json:"first_day"`
	LastDay    string           `json:"last_day"`
}

type fact struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// usualFlags is how many flags a response has unless the client says how many.
const usualFlags = 20

func decodeQueue(_ *http.Request, q *query) int { return q.whole("limit", 1, 100, usualFlags) }

func encodeQueue(_ http.Header, in review.Queue) payload {
	out := queue{Total: in.Total, Flags: make([]flag, len(in.Flags))}
	for i, f := range in.Flags {
		facts := make([]fact, 0, len(f.Facts))
		for _, name := range slices.Sorted(maps.Keys(f.Facts)) {
			facts = append(facts, fact{name, f.Facts[name]})
		}
		out.Flags[i] = flag{f.Hotspot, f.Operator, f.Kind, f.Weight, facts, f.First.String(), f.Last.String()}
	}
	return payload{Data: out}
}

var errNoFlag = &beacon.Error{Kind: beacon.NotFound, Message: "no such flag"}

func decodeDismissal(_ http.ResponseWriter, r *http.Request) (review.Dismissal, error) {
	in := review.Dismissal{Hotspot: beacon.HotspotID(r.PathValue("id")), Kind: beacon.FlagKind(r.PathValue("kind"))}
	q, err := newQuery(r)
	if err != nil {
		return in, err
	}
	if q.need("reason") {
		text, _ := q.get("reason")
		in.Reason, err = beacon.CleanReason(text)
		q.faults.Check("reason", err)
	}
	if err := q.faults.Err(); err != nil {
		return in, err
	}
	if !id.Valid(beacon.HotspotPrefix, string(in.Hotspot)) || !slices.Contains(beacon.FlagKinds(), in.Kind) {
		return in, errNoFlag
	}
	return in, nil
}

type neighboursShown struct {
	Total      int         `json:"total"`
	Neighbours []neighbour `json:"neighbours"`
}

type neighbour struct {
	ID           beacon.HotspotID `json:"id"`
	Name         string           `json:"name"`
	Type         beacon.Type      `json:"type"`
	Status       beacon.Status    `json:"status"`
	Verified     bool             `json:"verified"`
	OperatorID   beacon.UserID    `json:"operator_id"`
	SameOperator bool             `json:"same_operator"`
	DistanceM    float64          `json:"distance_m"`
	DaysServed   *int             `json:"days_served"`
}

// around lists what stands around a hotspot, with the days that it served if they are
// counted.
func (a *API) around(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (neighboursShown, error) {
	found, err := a.registry.Neighbours(ctx, p, hotspot)
	if err != nil {
		return neighboursShown{}, err
	}
	ids := make([]beacon.HotspotID, len(found.Nearest))
	for i := range found.Nearest {
		ids[i] = found.Nearest[i].ID
	}
	days, err := a.books.DaysServed(ctx, ids)
	out := neighboursShown{Total: found.Total, Neighbours: make([]neighbour, len(found.Nearest))}
	for i := range found.Nearest {
		n := &found.Nearest[i]
		out.Neighbours[i] = neighbour{
			ID: n.ID, Name: n.Name, Type: n.Type, Status: n.Status, Verified: !n.Location.VerifiedAt.IsZero(),
			OperatorID: n.Operator, SameOperator: n.SameOperator, DistanceM: math.Round(n.DistanceM*10) / 10,
		}
		if served, any := days[n.ID]; any {
			out.Neighbours[i].DaysServed = &served
		}
	}
	return out, err
}
