// Package maps serves coverage, what hotspots would add to it, and vector tiles.
package maps

import (
	"sync"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
)

// API serves the endpoints of maps.
type API struct {
	*edge.Edge
	fleet  *fleet.Fleet
	sheets sync.Pool // of *sheet
	tiles  sync.Pool // of *tileBuffer
}

// New returns the API of maps.
func New(e *edge.Edge, f *fleet.Fleet) *API {
	return &API{Edge: e, fleet: f, sheets: sync.Pool{New: newSheet}, tiles: sync.Pool{New: newTileBuffer}}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/coverage", beacon.Read, a.coverage),
		edge.On("POST /v1/coverage/simulate", beacon.Read, a.whatIf),
		edge.On(edge.TilePattern, beacon.Read, a.tile),
	}
}
