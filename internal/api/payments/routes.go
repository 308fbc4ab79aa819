// Package payments serves what operators earn, and what staff do about it: summaries,
// days, statements, explanations and estimates; holds, months, policies and replays.
package payments

import (
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
)

// API serves the endpoints of payments.
type API struct {
	*edge.Edge
	rewards Rewards
	closing Closing
	holding *holds.Holds

	Statements *edge.ConcurrencyLimit // readers of statements
	replays    *edge.ConcurrencyLimit
}

// New returns the API of payments.
func New(e *edge.Edge, r Rewards, c Closing, h *holds.Holds) *API {
	return &API{Edge: e, rewards: r, closing: c, holding: h, Statements: newReaders(), replays: newReplays()}
}

// Routes lists the endpoints. openapi.yaml describes each.
func (a *API) Routes() []edge.Route {
	return []edge.Route{
		edge.On("GET /v1/hotspots/{id}/rewards/explain", beacon.ReadRewards, edge.ServeForms(a.Edge, 200, edge.FromQuery(DecodeExplain), a.explain, encodeExplanation, tabulateExplanation)),
		edge.On("GET /v1/users/{id}/rewards", beacon.ReadRewards, edge.ServeForms(a.Edge, 200, edge.FromQuery(DecodeSummary), a.summary, encodeSummary, tabulateSummary)),
		edge.On("GET /v1/users/{id}/rewards/history", beacon.ReadRewards, edge.ServeForms(a.Edge, 200, edge.FromQuery(a.DecodeMonths), a.months, encodeMonths, tabulateMonths)),
		edge.On("GET /v1/users/{id}/rewards/days", beacon.ReadRewards, a.days),
		edge.On("GET /v1/users/{id}/rewards/statements/{month}", beacon.ReadRewards, a.statement),
		edge.On("POST /v1/rewards/estimate", beacon.Read, a.estimate),
		edge.On("GET /v1/users/{id}/holds", beacon.ReadRewards, edge.Serve(a.Edge, 200, edge.FromList(decodeHolds), a.holds, encodeHolds)),
		edge.On("POST /v1/holds", beacon.JudgeHolds, edge.ServeOnce(a.Edge, 201, edge.FromBody(decodeNewHold), a.holding.Place, encodeHold, edge.ByUser)),
		edge.On("GET /v1/holds", beacon.SeeHolds, edge.Serve(a.Edge, 200, edge.FromList(decodeHolds), a.holds, encodeHolds)),
		edge.On("POST /v1/holds/{id}/decisions", beacon.JudgeHolds, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeHoldDecision), a.holding.Decide, encodeHold, edge.ByUser)),
		edge.On("POST /v1/holds/{id}/answer", beacon.EditHotspots, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeHoldAnswer), a.holding.Answer, encodeHold, edge.ByUser)),
		edge.On("POST /v1/rewards/replays", beacon.TryPolicies, a.replay),
		edge.On("GET /v1/rewards/months", beacon.ReadBooks, edge.Serve(a.Edge, 200, edge.FromList(decodeOverview), a.overview, encodeOverview)),
		edge.On("POST /v1/rewards/months/{month}/settlement", beacon.KeepBooks, edge.Serve(a.Edge, 200, decodeSettlement, a.settle, encodeSettlement)),
		edge.On("GET /v1/rewards/clock", beacon.ReadBooks, edge.Serve(a.Edge, 200, edge.DecodeNothing, a.readClock, encodeClock)),
		edge.On("POST /v1/rewards/clock", beacon.KeepBooks, edge.Serve(a.Edge, 200, edge.FromBody(decodeConfirmation), a.confirmClock, encodeClock)),
		edge.On("POST /v1/rewards/reopenings", beacon.KeepBooks, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeReopening), a.reopen, encodeReopening, edge.ByUser)),
		edge.On("POST /v1/rewards/policies", beacon.SetPolicies, edge.ServeOnce(a.Edge, 200, edge.FromBody(decodeAdoption), a.adopt, encodeAdoption, edge.ByUser)),
	}
}
