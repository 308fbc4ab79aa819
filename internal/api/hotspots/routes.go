// Package hotspots serves what people and devices do with hotspots: register, read, change,
// delete, verify and link them, find those nearby, list them, send heartbeats and
// check-ins. It makes no decision about hotspots.
package hotspots

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
	"github.com/beacon-wifi/beacon/internal/devices"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Telemetry is what is done with heartbeats.
type Telemetry interface {
	devices.Beats
	// History returns NotFound when there is no live hotspot.
	History(ctx context.Context, q telemetry.HistoryQuery) (telemetry.History, error)
}

// API serves the endpoints of hotspots.
type API struct {
	*edge.Edge
	registry  *registry.Registry
	checkins  *checkins.CheckIns
	devices   *devices.Devices
	fleet     *fleet.Fleet
	telemetry Telemetry

	searches sync.Pool // of *search
	beats    beatPool

	fieldsIgnored atomic.Int64
	complains     throttle // limits log lines about refused heartbeats

	NamesARequest int // see the constant; tests use a smaller one
}

// New returns the API of hotspots.
func New(e *edge.Edge, r *registry.Registry, c *checkins.CheckIns, f *fleet.Fleet, t Telemetry) *API {
	return &API{
		Edge: e, registry: r, checkins: c, devices: devices.New(t, c, r), fleet: f, telemetry: t,
		searches: sync.Pool{New: newSearch}, beats: newBeatPool(), NamesARequest: namesARequest,
	}
}

// OpenRoutes lists the endpoints of devices, which have no API key.
func (a *API) OpenRoutes() []edge.OpenRoute {
	return []edge.OpenRoute{
		edge.Open(edge.HeartbeatPattern, a.heartbeat),
		edge.Open("POST /v1/devices/link", a.link),
	}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/hotspots/nearby", beacon.Read, a.nearby),
		edge.On("GET /v1/hotspots", beacon.ListAll, a.list),
		edge.On("GET /v1/hotspots/inventory", beacon.ListAll, a.inventory),
		edge.On("POST /v1/hotspots", beacon.EditHotspots, edge.ServeOnce(a.Edge, 201, edge.FromBody(DecodeRegistration), a.registry.Register, encodeRegistered, edge.ByUser, a.earlierRegistration)),
		edge.On("POST /v1/hotspots/batch", beacon.EditHotspots, a.registerBatch),
		edge.On("GET /v1/hotspots/{id}", beacon.Read, edge.Serve(a.Edge, 200, edge.PathID, a.registry.Get, encodeHotspot)),
		edge.On("PATCH /v1/hotspots/{id}", beacon.EditHotspots, edge.Serve(a.Edge, 200, edge.FromBody(DecodeChange, "application/merge-patch+json"), a.registry.Change, encodeChanged)),
		edge.On("DELETE /v1/hotspots/{id}", beacon.EditHotspots, edge.Serve(a.Edge, 204, decodeDeletion, a.registry.Delete, edge.EncodeNothing)),
		edge.On("POST /v1/hotspots/{id}/restoration", beacon.EditHotspots, edge.ServeOnce(a.Edge, 200, edge.PathID, a.registry.Restore, encodeChanged, edge.ByUser)),
		edge.On("POST /v1/hotspots/{id}/offer", beacon.HandOver, edge.ServeOnce(a.Edge, 201, edge.FromBody(decodeOffering), a.registry.Offer, encodeOffer, edge.ByUser)),
		edge.On("GET /v1/hotspots/{id}/offer", beacon.Read, edge.Serve(a.Edge, 200, edge.PathID, a.registry.GetOffer, encodeOffer)),
		edge.On("DELETE /v1/hotspots/{id}/offer", beacon.EditHotspots, edge.Serve(a.Edge, 204, edge.PathID, a.registry.EndOffer, edge.EncodeNothing)),
		edge.On("POST /v1/hotspots/{id}/offer/acceptance", beacon.EditHotspots, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeAcceptance), a.registry.Accept, encodeChanged, edge.ByUser)),
		edge.On("POST /v1/hotspots/{id}/claim", beacon.RecordVisits, edge.ServeOnce(a.Edge, 201, edge.FromBody(decodeClaim), a.registry.Claim, encodeOffer, edge.ByUser)),
		edge.On("POST /v1/hotspots/{id}/verification", beacon.RecordVisits, edge.ServeOnce(a.Edge, 200, edge.FromBody(DecodeVerification), a.registry.Verify, encodeHotspot, edge.ByUser)),
		edge.On("DELETE /v1/hotspots/{id}/verification", beacon.RecordVisits, edge.Serve(a.Edge, 204, edge.FromQuery(decodeWithdrawal), a.registry.Unverify, edge.EncodeNothing)),
		edge.On("POST /v1/hotspots/{id}/link-code", beacon.LinkDevices, edge.ServeOnce(a.Edge, 200, edge.PathID, a.registry.NewLinkCode, encodeLinkCode, edge.ByUser)),
		edge.On("DELETE /v1/hotspots/{id}/device", beacon.LinkDevices, edge.Serve(a.Edge, 204, edge.PathID, a.registry.Unlink, edge.EncodeNothing)),
		edge.On(edge.EnrolPattern, beacon.EnrolDevices, a.enrol),
		edge.On("POST /v1/hotspots/{id}/checkins", beacon.SendCheckIns, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeCheckIn), a.checkins.CheckIn, encodeCheckIn, edge.ByUser)),
		edge.On("GET /v1/hotspots/{id}/history", beacon.Read, edge.Serve(a.Edge, 200, edge.FromQuery(a.DecodeHistory), a.history, encodeHistory)),
		edge.On("GET /v1/users/{id}/hotspots", beacon.Read, a.owned),
		edge.On("GET /v1/users/{id}/hotspots/deleted", beacon.Read, edge.Serve(a.Edge, 200, edge.PathID, a.registry.Deleted, encodeDeleted)),
		edge.On("GET /v1/users/{id}/offers", beacon.Read, edge.Serve(a.Edge, 200, edge.PathID, a.registry.OffersOf, encodeOffers)),
	}
}
