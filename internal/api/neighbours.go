package api

import (
	"context"
	"math"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// neighbourhood is what stands around a hotspot, with the days that it served.
type neighbourhood struct {
	registry.Neighbours
	days map[beacon.HotspotID]int // nil if they are not counted
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

func (a *API) around(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (neighbourhood, error) {
	found, err := a.registry.Neighbours(ctx, p, hotspot)
	if err != nil {
		return neighbourhood{}, err
	}
	ids := make([]beacon.HotspotID, len(found.Nearest))
	for i := range found.Nearest {
		ids[i] = found.Nearest[i].ID
	}
	days, err := a.books.DaysServed(ctx, ids)
	return neighbourhood{found, days}, err
}

func encodeNeighbours(_ http.Header, in neighbourhood) payload {
	out := neighboursShown{Total: in.Total, Neighbours: make([]neighbour, len(in.Nearest))}
	for i := range in.Nearest {
		n := &in.Nearest[i]
		out.Neighbours[i] = neighbour{
			ID: n.ID, Name: n.Name, Type: n.Type, Status: n.Status, Verified: !n.Location.VerifiedAt.IsZero(),
			OperatorID: n.Operator, SameOperator: n.SameOperator, DistanceM: math.Round(n.DistanceM*10) / 10,
		}
		if days, any := in.days[n.ID]; any {
			out.Neighbours[i].DaysServed = &days
		}
	}
	return payload{Data: out}
}
