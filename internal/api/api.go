package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Base is the path that every endpoint stands under.
const Base = "/v1"

// Config is what the interface is made of.
type Config struct {
	Keys      *access.Keys
	Registry  *registry.Registry
	Fleet     *fleet.Fleet
	Telemetry Telemetry
	Rewards   Rewards
	Events    *events.Hub
	Limits    Limits
	Now       func() time.Time
	Log       *slog.Logger
}

// Telemetry is what the interface needs of heartbeats.
type Telemetry interface {
	// Take returns once the beat is durable, or with an error. It gives up by
	// itself: requests that beat have no deadline of their own.
	Take(ctx context.Context, spot *fleet.Spot, beat beacon.Heartbeat) (beacon.Status, error)
	// History answers NotFound when there is no live hotspot.
	History(ctx context.Context, p beacon.Principal, q telemetry.HistoryQuery) (telemetry.History, error)
}

// API serves the interface.
type API struct {
	keys      *access.Keys
	registry  *registry.Registry
	fleet     *fleet.Fleet
	telemetry Telemetry
	rewards   Rewards
	hub       *events.Hub
	limits    *limiters
	now       func() time.Time
	log       *slog.Logger

	mux        http.Handler
	plain      map[string]*plainPath // paths without a parameter
	answers    answerPool
	sheets     sheetPool
	tiles      tilePool
	beats      beatPool
	complains  throttle // about heartbeats that could not be taken
	listeners  *crowd
	statements *crowd // who reads one

	stopping context.Context // ends when Stop is called
	stop     context.CancelFunc

	pulse, readerTime, grace time.Duration // see the constants; tests are less patient
	namesARequest            int           // see the constant; tests have fewer
}

// New makes the interface.
func New(cfg Config) *API {
	a := &API{
		keys: cfg.Keys, registry: cfg.Registry, fleet: cfg.Fleet, telemetry: cfg.Telemetry, rewards: cfg.Rewards, hub: cfg.Events,
		limits: newLimiters(cfg.Limits), now: cfg.Now, log: cfg.Log,
		plain: map[string]*plainPath{}, answers: newAnswerPool(), sheets: newSheetPool(), tiles: newTilePool(), beats: newBeatPool(),
		listeners: newListeners(), statements: newReaders(), pulse: pulse, readerTime: readerTime, grace: patience, namesARequest: namesARequest,
	}
	a.stopping, a.stop = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	for _, rt := range a.routes() {
		a.register(mux, rt.pattern, a.guard(rt))
	}
	for _, rt := range a.openRoutes() {
		a.register(mux, rt.pattern, rt.handler)
	}
	a.mux = httpserver.Routes(mux, a.Refuse)
	return a
}

// Stop lets answers that take long come to their end, and ends them when they do
// not: the server is about to stop.
func (a *API) Stop() { a.stop() }

// route is an endpoint that needs a key.
type route struct {
	pattern string
	scope   beacon.Scope // what the key must permit; empty: any valid key will do (decision N6)
	run     endpoint
}

// routes is the interface. What each answers is in openapi.yaml.
func (a *API) routes() []route {
	return []route{
		{"GET /v1/hotspots/nearby", "", a.nearby},
		{"GET /v1/hotspots", beacon.HotspotsVerify, a.list},
		{"POST /v1/hotspots", beacon.HotspotsWrite, serve(a, 201, decodeRegistration, a.registry.Register, encodeRegistered)},
		{"GET /v1/hotspots/{id}", "", serve(a, 200, decodeHotspotID, a.registry.Get, encodeHotspot)},
		{"PATCH /v1/hotspots/{id}", beacon.HotspotsWrite, serve(a, 200, decodeChange, a.registry.Change, encodeChanged)},
		{"DELETE /v1/hotspots/{id}", beacon.HotspotsWrite, serve(a, 204, decodeDeletion, a.registry.Delete, encodeNothing)},
		{"POST /v1/hotspots/{id}/verification", beacon.HotspotsVerify, serve(a, 200, decodeVerification, a.registry.Verify, encodeHotspot)},
		{"POST /v1/hotspots/{id}/link-code", beacon.HotspotsWrite, serve(a, 200, decodeLinkCode, a.registry.NewLinkCode, encodeLinkCode)},
		{"DELETE /v1/hotspots/{id}/device", beacon.HotspotsWrite, serve(a, 204, decodeHotspotID, a.registry.Unlink, encodeNothing)},
		{"GET /v1/hotspots/{id}/history", "", serve(a, 200, a.decodeHistory, a.history, encodeHistory)},
		{"GET /v1/hotspots/{id}/rewards/explain", beacon.RewardsRead, serveForms(a, decodeExplain, a.explain, encodeExplanation, tabulateExplanation)},
		{"GET /v1/coverage", "", a.coverage},
		{"POST /v1/coverage/simulate", "", a.whatIf},
		{tilePattern, "", a.tile},
		{"GET /v1/events", "", a.events},
		{"GET /v1/users/{id}/hotspots", "", a.owned},
		{"GET /v1/users/{id}/rewards", beacon.RewardsRead, serveForms(a, decodeSummary, a.summary, encodeSummary, tabulateSummary)},
		{"GET /v1/users/{id}/rewards/history", beacon.RewardsRead, serveForms(a, a.decodeMonths, a.months, encodeMonths, tabulateMonths)},
		{"GET /v1/users/{id}/rewards/statements/{month}", beacon.RewardsRead, a.statement},
		{"POST /v1/keys", beacon.KeysManage, serve(a, 200, a.decodeCreation, a.keys.Create, encodeCreated)},
		{"GET /v1/keys", beacon.KeysManage, serve(a, 200, decodeListing, a.keys.List, encodeKeys)},
		{"DELETE /v1/keys/{id}", beacon.KeysManage, serve(a, 204, decodeKeyID, a.keys.Revoke, encodeNothing)},
		{"GET /v1/keys/self", "", serve(a, 200, decodeNothing, a.keys.Self, encodeKey)},
	}
}

// openRoute is an endpoint that looks after itself.
type openRoute struct {
	pattern string
	handler http.Handler
}

// openRoutes take other keys than API keys, or none: a device that is not yet
// linked has none, and the rest only describes the interface.
func (a *API) openRoutes() []openRoute {
	return []openRoute{
		{heartbeatPattern, http.HandlerFunc(a.heartbeat)},
		{"POST /v1/devices/link", http.HandlerFunc(a.link)},
		{"GET /v1/openapi.yaml", a.document("application/yaml; charset=utf-8", openapiYAML)},
		{"GET /v1/openapi.json", a.document("application/json; charset=utf-8", openapiJSON)},
	}
}

// Routes lists what the API serves, as its OpenAPI document must.
func (a *API) Routes() []string {
	var list []string
	for _, rt := range a.routes() {
		list = append(list, strings.Replace(rt.pattern, "{tile}", "{y}.mvt", 1))
	}
	for _, rt := range a.openRoutes() {
		list = append(list, rt.pattern)
	}
	slices.Sort(list)
	return list
}

// plainPath is a path that has no parameter: what it takes is known without a look
// at the others.
type plainPath struct {
	methods []string
	pattern string // of GET, where it takes that
	get     http.Handler
}

// register has a handler answer a pattern.
func (a *API) register(mux *http.ServeMux, pattern string, handler http.Handler) {
	mux.Handle(pattern, handler)
	method, path, _ := strings.Cut(pattern, " ")
	if strings.Contains(path, "{") {
		return
	}
	if a.plain[path] == nil {
		a.plain[path] = &plainPath{}
	}
	at := a.plain[path]
	at.methods = append(at.methods, method)
	if method == http.MethodGet {
		at.methods = append(at.methods, http.MethodHead)
		at.pattern, at.get = pattern, handler
	}
	slices.Sort(at.methods)
}

// ServeHTTP answers a request under Base. The mux takes two looks at a path to
// tell a miss from a match; what devices and apps ask most needs neither. Nor is it
// asked what else a plain path takes: to it, DELETE /hotspots/nearby deletes the
// hotspot "nearby".
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpserver.MarkAsData(w.Header())
	if id, ok := heartbeatPath(r); ok {
		r.Pattern = heartbeatPattern
		a.beat(w, r, id)
		return
	}
	// A path that is spelled with escapes is left to the mux: %2F is no slash.
	if at, ok := a.plain[r.URL.Path]; ok && r.URL.RawPath == "" {
		switch {
		case r.Method == http.MethodGet && at.get != nil:
			r.Pattern = at.pattern
			at.get.ServeHTTP(w, r)
			return
		case !slices.Contains(at.methods, r.Method):
			w.Header().Set("Allow", strings.Join(at.methods, ", "))
			a.Refuse(w, r, http.StatusMethodNotAllowed)
			return
		}
	}
	a.mux.ServeHTTP(w, r)
}
