package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Base is the path prefix of every endpoint.
const Base = "/v1"

// Config holds the dependencies of the API.
type Config struct {
	Keys      *access.Keys
	Registry  *registry.Registry
	CheckIns  *checkins.CheckIns
	Fleet     *fleet.Fleet
	Telemetry Telemetry
	Rewards   Rewards          // what was earned
	Books     *rewards.Rewards // the same, for what staff do: holds, months, policies
	Review    *review.Review
	Erasures  *erasure.Erasures
	Events    *events.Hub
	Limits    Limits
	Store     Store
	Origins   []string // whose pages may use the API; see ParseOrigins
	Now       func() time.Time
	Log       *slog.Logger
}

// Telemetry is what the API needs from heartbeats.
type Telemetry interface {
	// Take returns once the heartbeat is durable, or with an error. It must give up
	// by itself: heartbeat requests have no deadline of their own.
	Take(ctx context.Context, hotspot *fleet.Hotspot, beat beacon.Heartbeat) (beacon.Taken, error)
	// History returns NotFound when there is no live hotspot.
	History(ctx context.Context, q telemetry.HistoryQuery) (telemetry.History, error)
}

// Store is what the API itself keeps in the database and reads from it.
type Store interface {
	// Quota returns what staff allow a user, or else what everyone may have.
	Quota(ctx context.Context, user beacon.UserID) (beacon.Quota, error)
	SetQuota(ctx context.Context, user beacon.UserID, q beacon.Quota, by beacon.Actor, now time.Time) error

	Blur(ctx context.Context) (beacon.Blur, error)
	SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error
	MapSettings(ctx context.Context) (beacon.MapSettings, error)
	SetStartView(ctx context.Context, v *beacon.StartView, by beacon.Actor, now time.Time) error
	SetLanguage(ctx context.Context, code string, by beacon.Actor, now time.Time) error

	// Once returns an earlier request with an Idempotency-Key, or nil if none is remembered.
	Once(ctx context.Context, owner, key string, now time.Time) (*beacon.Once, error)
	// Heads returns the number of each node's newest change.
	Heads(ctx context.Context) (map[string]int64, error)
	// Changes returns up to limit changes of a node after a number, in order.
	Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error)
	// Audit returns up to limit changes of all nodes before one, newest first.
	Audit(ctx context.Context, before beacon.Change, limit int) ([]beacon.Change, error)
	// Operators returns up to limit users with hotspots after one, by id, with what they
	// earned on the closed days of a month.
	Operators(ctx context.Context, after beacon.UserID, month beacon.Month, now time.Time, limit int) ([]beacon.Operator, error)
	// ReleaseMAC returns for whom the address was reserved, or NotFound.
	ReleaseMAC(ctx context.Context, mac beacon.MAC, reason string, by beacon.Actor, now time.Time) (beacon.UserID, error)
}

// API serves the HTTP API.
type API struct {
	keys      *access.Keys
	registry  *registry.Registry
	checkins  *checkins.CheckIns
	fleet     *fleet.Fleet
	telemetry Telemetry
	rewards   Rewards
	books     *rewards.Rewards
	review    *review.Review
	erasures  *erasure.Erasures
	hub       *events.Hub
	limits    *limiters
	store     Store
	now       func() time.Time
	log       *slog.Logger

	cors                   *cors
	varyEncoding, varyForm []string // values of Vary: of GET, and of GET and errors in more than one form

	mux      http.Handler
	plain    map[string]*plainPath // by path, for paths without a parameter
	searches sync.Pool             // of *search
	sheets   sync.Pool             // of *sheet
	tiles    sync.Pool             // of *tileRoom
	beats    beatPool

	fieldsIgnored atomic.Int64

	complains  throttle // limits log lines about refused heartbeats
	listeners  *concurrencyLimit
	statements *concurrencyLimit // readers of statements
	exports    *concurrencyLimit
	replays    *concurrencyLimit

	stopping context.Context // canceled by Stop
	stop     context.CancelFunc

	pulse, readerTime, grace time.Duration // see the constants; tests use shorter ones
	namesARequest            int           // see the constant; tests use a smaller one
}

// New returns an API with all its routes registered.
func New(cfg Config) *API {
	a := &API{
		keys: cfg.Keys, registry: cfg.Registry, checkins: cfg.CheckIns, fleet: cfg.Fleet, telemetry: cfg.Telemetry, rewards: cfg.Rewards, books: cfg.Books, review: cfg.Review, erasures: cfg.Erasures, hub: cfg.Events,
		limits: newLimiters(cfg.Limits), store: cfg.Store, now: cfg.Now, log: cfg.Log, cors: newCORS(cfg.Origins),
		plain: map[string]*plainPath{}, beats: newBeatPool(),
		searches: sync.Pool{New: newSearch}, sheets: sync.Pool{New: newSheet}, tiles: sync.Pool{New: newTileRoom},
		listeners: newListeners(), statements: newReaders(), exports: newExports(), replays: newReplays(), pulse: pulse, readerTime: readerTime, grace: patience, namesARequest: namesARequest,
	}
	a.varyEncoding, a.varyForm = a.cors.varies("Accept-Encoding"), a.cors.varies("Accept, Accept-Encoding")
	a.stopping, a.stop = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	for _, rt := range a.routes() {
		a.register(mux, rt.pattern, a.guard(rt))
	}
	for _, rt := range append(a.openRoutes(), a.consoleRoutes()...) {
		a.register(mux, rt.pattern, rt.handler)
	}
	a.mux = httpserver.Routes(mux, a.Refuse)
	return a
}

// Stop lets long responses finish for a while, then ends them. Call it when the server
// is about to stop.
func (a *API) Stop() { a.stop() }

// route is an endpoint that requires an API key.
type route struct {
	pattern string
	scope   beacon.Scope // the key must have it; empty: any valid key will do (decision N6)
	run     endpoint
}

// routes lists the endpoints that require an API key. openapi.yaml describes each.
func (a *API) routes() []route {
	return []route{
		{"GET /v1/hotspots/nearby", "", a.nearby},
		{"GET /v1/hotspots", beacon.HotspotsVerify, a.list},
		{"GET /v1/hotspots/inventory", beacon.HotspotsVerify, a.inventory},
		{"POST /v1/hotspots", beacon.HotspotsWrite, serve(a, 201, decodeRegistration, a.registry.Register, encodeRegistered)},
		{"GET /v1/hotspots/{id}", "", serve(a, 200, pathID, a.registry.Get, encodeHotspot)},
		{"PATCH /v1/hotspots/{id}", beacon.HotspotsWrite, serve(a, 200, fromBody(decodeChange, "application/merge-patch+json"), a.registry.Change, encodeChanged)},
		{"DELETE /v1/hotspots/{id}", beacon.HotspotsWrite, serve(a, 204, decodeDeletion, a.registry.Delete, encodeNothing)},
		{"GET /v1/hotspots/{id}/neighbours", beacon.HotspotsVerify, serve(a, 200, pathID, a.around, encodeShown)},
		{"POST /v1/hotspots/{id}/verification", beacon.HotspotsVerify, serveOnce(a, 200, fromBody(decodeVerification), a.registry.Verify, encodeHotspot, byUser, nil)},
		{"DELETE /v1/hotspots/{id}/verification", beacon.HotspotsVerify, serve(a, 204, fromQuery(decodeWithdrawal), a.registry.Unverify, encodeNothing)},
		{"POST /v1/hotspots/{id}/link-code", beacon.HotspotsWrite, serveOnce(a, 200, pathID, a.registry.NewLinkCode, encodeLinkCode, byUser, idOfCode)},
		{"DELETE /v1/hotspots/{id}/device", beacon.HotspotsWrite, serve(a, 204, pathID, a.registry.Unlink, encodeNothing)},
		{"POST /v1/hotspots/{id}/checkins", beacon.CheckInsWrite, serveOnce(a, 200, fromBody(decodeCheckIn), a.checkins.CheckIn, encodeCheckIn, byUser, nil)},
		{"GET /v1/hotspots/{id}/history", "", serve(a, 200, fromQuery(a.decodeHistory), a.history, encodeHistory)},
		{"GET /v1/hotspots/{id}/rewards/explain", beacon.RewardsRead, serveForms(a, 200, fromQuery(decodeExplain), a.explain, encodeExplanation, tabulateExplanation)},
		{"GET /v1/coverage", "", a.coverage},
		{"POST /v1/coverage/simulate", "", a.whatIf},
		{tilePattern, "", a.tile},
		{"GET /v1/events", "", a.events},
		{"GET /v1/users/{id}/hotspots", "", a.owned},
		{"GET /v1/users/{id}/rewards", beacon.RewardsRead, serveForms(a, 200, fromQuery(decodeSummary), a.summary, encodeSummary, tabulateSummary)},
		{"GET /v1/users/{id}/rewards/history", beacon.RewardsRead, serveForms(a, 200, fromQuery(a.decodeMonths), a.months, encodeMonths, tabulateMonths)},
		{"GET /v1/users/{id}/rewards/days", beacon.RewardsRead, a.days},
		{"GET /v1/users/{id}/rewards/statements/{month}", beacon.RewardsRead, a.statement},
		{"POST /v1/rewards/estimate", "", a.estimate},
		{"GET /v1/users/{id}/holds", beacon.RewardsRead, serve(a, 200, fromQuery(decodeHolds), a.holds, encodeHolds)},
		{"POST /v1/holds", beacon.HotspotsVerify, serveOnce(a, 201, fromBody(decodeNewHold), a.books.PlaceHold, encodeHold, byUser, nil)},
		{"GET /v1/holds", beacon.HotspotsVerify, serve(a, 200, fromQuery(decodeHolds), a.holds, encodeHolds)},
		{"POST /v1/holds/{id}/decisions", beacon.HotspotsVerify, serveOnce(a, 200, fromBody(decodeHoldDecision), a.books.DecideHold, encodeHold, byUser, nil)},
		{"POST /v1/holds/{id}/answer", beacon.HotspotsWrite, serveOnce(a, 200, fromBody(decodeHoldAnswer), a.books.AnswerHold, encodeHold, byUser, nil)},
		{"GET /v1/users/{id}/export", beacon.KeysManage, a.export},
		{"POST /v1/users/{id}/erasure", beacon.KeysManage, serve(a, 200, pathID, a.erasures.Ask, encodeErasure)},
		{"GET /v1/users/{id}/erasure", beacon.KeysManage, serve(a, 200, pathID, a.erasures.Get, encodeErasure)},
		{"DELETE /v1/users/{id}/erasure", beacon.KeysManage, serve(a, 204, pathID, a.erasures.Withdraw, encodeNothing)},
		{"GET /v1/users/{id}/quota", "", serve(a, 200, pathID, a.readQuota, encodeShown)},
		{"PUT /v1/users/{id}/quota", beacon.Admin, serve(a, 200, fromBody(decodeQuota), a.setQuota, encodeShown)},
		{"GET /v1/settings", "", serve(a, 200, decodeNothing, a.readSettings, encodeShown)},
		{"PATCH /v1/settings", beacon.Admin, serve(a, 200, fromBody(decodeSettings), a.changeSettings, encodeShown)},
		{"GET /v1/review", beacon.HotspotsVerify, serve(a, 200, fromQuery(decodeQueue), a.review.Queue, encodeQueue)},
		{"DELETE /v1/review/{id}/{kind}", beacon.HotspotsVerify, serve(a, 204, decodeDismissal, a.review.Dismiss, encodeNothing)},
		{"GET /v1/audit", beacon.Admin, a.audit},
		{"GET /v1/operators", beacon.Admin, serve(a, 200, fromQuery(decodeOperators), a.listOperators, encodeShown)},
		{"POST /v1/rewards/replays", beacon.Admin, a.replay},
		{"GET /v1/rewards/months", beacon.Admin, serve(a, 200, fromQuery(decodeBookkeeping), a.books.Bookkeeping, encodeBookkeeping)},
		{"POST /v1/rewards/months/{month}/settlement", beacon.Admin, serve(a, 200, decodeSettlement, a.settle, encodeSettlement)},
		{"GET /v1/rewards/clock", beacon.Admin, serve(a, 200, decodeNothing, a.readClock, encodeClock)},
		{"POST /v1/rewards/clock", beacon.Admin, serve(a, 200, fromBody(decodeConfirmation), a.confirmClock, encodeClock)},
		{"POST /v1/rewards/reopenings", beacon.Admin, serveOnce(a, 200, fromBody(decodeReopening), a.reopen, encodeReopening, byUser, nil)},
		{"POST /v1/rewards/policies", beacon.Admin, serveOnce(a, 200, fromBody(decodeAdoption), a.adopt, encodeAdoption, byUser, nil)},
		{"POST /v1/macs/releases", beacon.Admin, serveOnce(a, 200, fromBody(decodeRelease), a.releaseMAC, encodeReleased, byUser, nil)},
		{"POST /v1/keys", beacon.KeysManage, serveOnce(a, 200, fromBody(a.decodeCreation), a.keys.Create, encodeCreated, byUser, idOfKey)},
		{"GET /v1/keys", beacon.KeysManage, serve(a, 200, fromQuery(decodeListing), a.keys.List, encodeKeys)},
		{"DELETE /v1/keys/{id}", beacon.KeysManage, serve(a, 204, pathID, a.keys.Revoke, encodeNothing)},
		{"GET /v1/keys/self", "", serve(a, 200, decodeNothing, a.keys.Self, encodeKey)},
	}
}

// openRoute is an endpoint that does its own authentication, if any.
type openRoute struct {
	pattern string
	handler http.Handler
}

// openRoutes lists the endpoints that take other keys than API keys, or none: a device
// that is not linked yet has no key, and the rest only describe the API.
func (a *API) openRoutes() []openRoute {
	return []openRoute{
		{heartbeatPattern, http.HandlerFunc(a.heartbeat)},
		{"POST /v1/devices/link", http.HandlerFunc(a.link)},
		a.document("GET /v1/openapi.yaml", "application/yaml; charset=utf-8", openapiYAML),
		a.document("GET /v1/openapi.json", "application/json", openapiJSON),
	}
}

// Routes returns all patterns, spelled as in the OpenAPI document.
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

// plainPath is a path without a parameter. Its methods are known without the mux.
type plainPath struct {
	methods []string
	pattern string // of GET, if allowed
	get     http.Handler
}

// register adds a handler for a pattern.
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

// Handles reports whether a path is the API's, or one of the console's own.
func Handles(path string) bool {
	return path == Base || strings.HasPrefix(path, Base+"/") || isConsole(path)
}

// ServeHTTP serves a request that Handles. The mux matches a path twice to distinguish a
// miss from a match, so the most frequent requests of devices and apps bypass it. Nor
// does the mux decide which methods a plain path allows: to it, DELETE
// /hotspots/nearby deletes the hotspot "nearby".
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpserver.MarkAsData(w.Header())
	if !isConsole(r.URL.Path) && a.cors.mark(w.Header(), r) && isPreflight(r) {
		a.limits.showFailures(w.Header(), r, time.Now())
		allowPreflight(w)
		return
	}
	if id, ok := heartbeatPath(r); ok {
		r.Pattern = heartbeatPattern
		a.beat(w, r, id)
		return
	}
	// A path with escapes is left to the mux: %2F is not a slash.
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
