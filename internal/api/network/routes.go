// Package network serves what staff look after: how the network is, its settings, the queue of
// hotspots to review, the audit log, operators and reserved MAC addresses; and events.
package network

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/oversight"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// Rewards is what these endpoints need to know of earnings.
type Rewards interface {
	Standings(ctx context.Context, ids []beacon.HotspotID) (earnings.Standings, error)
	Switch() rewards.Switch
}

// Config holds the dependencies of these endpoints.
type Config struct {
	Registry  *registry.Registry
	Review    *review.Review
	Rewards   Rewards
	Events    *events.Hub
	Oversight *oversight.Oversight
	Desk      *oversight.Desk
}

// API serves these endpoints.
type API struct {
	*edge.Edge
	registry  *registry.Registry
	review    *review.Review
	rewards   Rewards
	hub       *events.Hub
	oversight *oversight.Oversight
	desk      *oversight.Desk
	Listeners *edge.ConcurrencyLimit

	Pulse time.Duration // see the constant; tests use a shorter one
}

// New returns the API of these endpoints.
func New(e *edge.Edge, cfg Config) *API {
	return &API{
		Edge: e, registry: cfg.Registry, review: cfg.Review, rewards: cfg.Rewards, hub: cfg.Events, oversight: cfg.Oversight, desk: cfg.Desk,
		Listeners: newListeners(), Pulse: pulse,
	}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/hotspots/{id}/neighbours", beacon.RecordVisits, edge.Serve(a.Edge, 200, edge.PathID, a.around, edge.EncodeShown)),
		edge.On("GET /v1/events", beacon.Read, a.events),
		edge.On("GET /v1/overview", beacon.SeeOverview, edge.Serve(a.Edge, 200, edge.DecodeNothing, a.desk.Overview, encodeDesk)),
		edge.On("GET /v1/settings", beacon.Read, edge.Serve(a.Edge, 200, edge.DecodeNothing, a.oversight.Settings, a.encodeSettings)),
		edge.On("PATCH /v1/settings", beacon.ChangeSettings, edge.Serve(a.Edge, 200, edge.FromBody(decodeSettings), a.oversight.ChangeSettings, a.encodeSettings)),
		edge.On("GET /v1/review", beacon.JudgeFlags, edge.Serve(a.Edge, 200, edge.FromList(decodeQueue), a.review.Queue, encodeQueue)),
		edge.On("DELETE /v1/review/{id}/{kind}", beacon.JudgeFlags, edge.Serve(a.Edge, 204, decodeDismissal, a.review.Dismiss, edge.EncodeNothing)),
		edge.On("GET /v1/audit", beacon.ReadAudit, a.audit),
		edge.On("GET /v1/operators", beacon.ListOperators, edge.Serve(a.Edge, 200, edge.FromList(decodeOperators), a.oversight.Operators, encodeOperators)),
		edge.On("POST /v1/macs/releases", beacon.ManageAccounts, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeRelease), a.oversight.ReleaseMAC, encodeReleased, edge.ByUser)),
	}
}
