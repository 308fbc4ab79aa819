// Package accounts serves what belongs to a user: keys, sessions of the console, quotas,
// the export of what is stored, and erasure.
package accounts

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
)

// Config holds the dependencies of accounts.
type Config struct {
	Keys     *access.Keys
	Erasures *erasure.Erasures
	Users    *access.Users
	SignOut  func(ctx context.Context, session string, mayAsk func() error) error // of a person

	// What an export contains.
	Registry  *registry.Registry
	Telemetry hotspots.Telemetry
	Rewards   payments.Rewards
	Holds     *holds.Holds
}

// API serves the endpoints of accounts.
type API struct {
	*edge.Edge
	keys      *access.Keys
	erasures  *erasure.Erasures
	users     *access.Users
	signOut   func(ctx context.Context, session string, mayAsk func() error) error
	registry  *registry.Registry
	telemetry hotspots.Telemetry
	rewards   payments.Rewards
	holding   *holds.Holds
	exports   *edge.ConcurrencyLimit
}

// New returns the API of accounts.
func New(e *edge.Edge, cfg Config) *API {
	return &API{
		Edge: e, keys: cfg.Keys, erasures: cfg.Erasures, users: cfg.Users, signOut: cfg.SignOut, registry: cfg.Registry, telemetry: cfg.Telemetry,
		rewards: cfg.Rewards, holding: cfg.Holds, exports: newExports(),
	}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/users/{id}/export", beacon.LeaveNetwork, a.export),
		edge.On("POST /v1/users/{id}/erasure", beacon.LeaveNetwork, edge.Serve(a.Edge, 200, edge.PathID, a.erasures.Ask, encodeErasure)),
		edge.On("GET /v1/users/{id}/erasure", beacon.LeaveNetwork, edge.Serve(a.Edge, 200, edge.PathID, a.erasures.Get, encodeErasure)),
		edge.On("DELETE /v1/users/{id}/erasure", beacon.LeaveNetwork, edge.Serve(a.Edge, 204, edge.PathID, a.erasures.Withdraw, edge.EncodeNothing)),
		edge.On("GET /v1/users/{id}/quota", beacon.ReadQuota, edge.Serve(a.Edge, 200, edge.PathID, a.users.Quota, encodeQuota)),
		edge.On("PUT /v1/users/{id}/quota", beacon.ManageAccounts, edge.Serve(a.Edge, 200, edge.FromBody(decodeQuota), a.users.SetQuota, encodeQuota)),
		edge.On("POST /v1/keys", beacon.ManageKeys, edge.ServeOnce(a.Edge, 200, edge.FromBody(a.DecodeCreation), a.keys.Create, encodeCreated, edge.ByUser)),
		edge.On("GET /v1/keys", beacon.ManageKeys, edge.Serve(a.Edge, 200, edge.FromList(DecodeListing), a.keys.List, encodeKeys)),
		edge.On("DELETE /v1/keys/{id}", beacon.ManageKeys, edge.Serve(a.Edge, 204, edge.PathID, a.keys.Revoke, edge.EncodeNothing)),
		edge.On("GET /v1/keys/self", beacon.Read, edge.Serve(a.Edge, 200, edge.DecodeNothing, a.keys.Self, encodeKey)),
	}
}
