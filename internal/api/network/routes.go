// Package network serves what staff look after: settings of the network, the queue of
// hotspots to review, the audit log, operators and reserved MAC addresses; and events.
package network

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// Store is what these endpoints need from the database.
type Store interface {
	Blur(ctx context.Context) (beacon.Blur, error)
	SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error
	MapSettings(ctx context.Context) (beacon.MapSettings, error)
	SetStartView(ctx context.Context, v *beacon.StartView, by beacon.Actor, now time.Time) error
	SetLanguage(ctx context.Context, code string, by beacon.Actor, now time.Time) error

	// Audit returns up to limit changes of all nodes before one, newest first.
	Audit(ctx context.Context, before beacon.Change, limit int) ([]beacon.Change, error)
	// Operators returns up to limit users with hotspots after one, by id, with what they
	// earned on the closed days of a month.
	Operators(ctx context.Context, after beacon.UserID, month beacon.Month, now time.Time, limit int) ([]beacon.Operator, error)
	// ReleaseMAC returns for whom the address was reserved, or NotFound.
	ReleaseMAC(ctx context.Context, mac beacon.MAC, reason string, by beacon.Actor, now time.Time) (beacon.UserID, error)
}

// Rewards is what review needs to know of earnings.
type Rewards interface {
	Standings(ctx context.Context, ids []beacon.HotspotID) (earnings.Standings, error)
}

// Config holds the dependencies of these endpoints.
type Config struct {
	Registry *registry.Registry
	Review   *review.Review
	Rewards  Rewards
	Events   *events.Hub
	Store    Store
}

// API serves these endpoints.
type API struct {
	*edge.Edge
	registry  *registry.Registry
	review    *review.Review
	rewards   Rewards
	hub       *events.Hub
	store     Store
	Listeners *edge.ConcurrencyLimit

	Pulse time.Duration // see the constant; tests use a shorter one
}

// New returns the API of these endpoints.
func New(e *edge.Edge, cfg Config) *API {
	return &API{
		Edge: e, registry: cfg.Registry, review: cfg.Review, rewards: cfg.Rewards, hub: cfg.Events, store: cfg.Store,
		Listeners: newListeners(), Pulse: pulse,
	}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/hotspots/{id}/neighbours", beacon.HotspotsVerify, edge.Serve(a.Edge, 200, edge.PathID, a.around, edge.EncodeShown)),
		edge.On("GET /v1/events", "", a.events),
		edge.On("GET /v1/settings", "", edge.Serve(a.Edge, 200, edge.DecodeNothing, a.readSettings, edge.EncodeShown)),
		edge.On("PATCH /v1/settings", beacon.Admin, edge.Serve(a.Edge, 200, edge.FromBody(decodeSettings), a.changeSettings, edge.EncodeShown)),
		edge.On("GET /v1/review", beacon.HotspotsVerify, edge.Serve(a.Edge, 200, edge.FromQuery(decodeQueue), a.review.Queue, encodeQueue)),
		edge.On("DELETE /v1/review/{id}/{kind}", beacon.HotspotsVerify, edge.Serve(a.Edge, 204, decodeDismissal, a.review.Dismiss, edge.EncodeNothing)),
		edge.On("GET /v1/audit", beacon.Admin, a.audit),
		edge.On("GET /v1/operators", beacon.Admin, edge.Serve(a.Edge, 200, edge.FromQuery(decodeOperators), a.listOperators, edge.EncodeShown)),
		edge.On("POST /v1/macs/releases", beacon.Admin, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeRelease), a.releaseMAC, encodeReleased, edge.ByUser)),
	}
}
