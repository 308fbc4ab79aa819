package api

import (
	"context"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

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
