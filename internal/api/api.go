package api

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/accounts"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/api/maps"
	"github.com/beacon-wifi/beacon/internal/api/network"
	"github.com/beacon-wifi/beacon/internal/api/payments"
	peopleapi "github.com/beacon-wifi/beacon/internal/api/people"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/checkins"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/oversight"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
)

// Config holds the dependencies of the API.
type Config struct {
	Keys      *access.Keys
	People    *people.People
	Sessions  *people.Sessions
	LinkBase  string                 // what links for people begin with; may be empty
	Identity  func() beacon.Identity // of the network
	Doors     *doors.Doors           // by which people sign in
	Registry  *registry.Registry
	CheckIns  *checkins.CheckIns
	Fleet     *fleet.Fleet
	Telemetry hotspots.Telemetry
	Rewards   payments.Rewards // what was earned
	Closing   payments.Closing // what staff do with days, months and policies
	Holds     *holds.Holds
	Review    *review.Review
	Erasures  *erasure.Erasures
	Events    *events.Hub
	Limits    edge.Limits
	Requests  edge.Store
	Users     *access.Users
	Oversight *oversight.Oversight
	Desk      *oversight.Desk
	Origins   []string // whose pages may use the API; see edge.ParseOrigins
	Now       func() time.Time
	Log       *slog.Logger
}

// API serves the HTTP API.
type API struct {
	*edge.Edge
	Hotspots *hotspots.API
	Maps     *maps.API
	Payments *payments.API
	Accounts *accounts.API
	Network  *network.API
	People   *peopleapi.API

	mux   http.Handler
	plain map[string]*plainPath // by path, for paths without a parameter
}

// New returns an API with all its routes registered.
func New(cfg Config) *API {
	e := edge.New(edge.Config{
		Keys: cfg.Keys, People: cfg.Sessions, Fleet: cfg.Fleet, Store: cfg.Requests, Limits: cfg.Limits, Origins: cfg.Origins, Public: cfg.LinkBase, Now: cfg.Now, Log: cfg.Log,
	})
	a := &API{
		Edge:     e,
		Hotspots: hotspots.New(e, cfg.Registry, cfg.CheckIns, cfg.Fleet, cfg.Telemetry),
		Maps:     maps.New(e, cfg.Fleet),
		Payments: payments.New(e, cfg.Rewards, cfg.Closing, cfg.Holds),
		Accounts: accounts.New(e, accounts.Config{
			Keys: cfg.Keys, SignOut: cfg.People.SignOut, Erasures: cfg.Erasures, Users: cfg.Users,
			Registry: cfg.Registry, Telemetry: cfg.Telemetry, Rewards: cfg.Rewards, Holds: cfg.Holds,
		}),
		Network: network.New(e, network.Config{
			Registry: cfg.Registry, Review: cfg.Review, Rewards: cfg.Rewards, Events: cfg.Events, Oversight: cfg.Oversight, Desk: cfg.Desk,
		}),
		People: peopleapi.New(e, cfg.People, peopleapi.Config{LinkBase: cfg.LinkBase, Identity: cfg.Identity, Doors: cfg.Doors}),
		plain:  map[string]*plainPath{},
	}
	mux := http.NewServeMux()
	for _, rt := range a.routes() {
		a.register(mux, rt.Pattern, e.Guard(rt))
	}
	for _, rt := range slices.Concat(a.openRoutes(), a.Accounts.ConsoleRoutes(), a.People.ConsoleRoutes()) {
		a.register(mux, rt.Pattern, rt.Handler)
	}
	a.mux = httpserver.Routes(mux, a.Refuse)
	return a
}

// routes lists the endpoints that require an API key.
func (a *API) routes() []edge.Route {
	return slices.Concat(a.Hotspots.Routes(), a.Maps.Routes(), a.Payments.Routes(), a.Accounts.Routes(), a.People.Routes(), a.Network.Routes())
}

// openRoutes lists the endpoints that take other keys than API keys, or none: a device
// that is not linked yet has no key, and the rest only describe the API.
func (a *API) openRoutes() []edge.OpenRoute {
	return append(a.Hotspots.OpenRoutes(),
		a.document("GET /v1/openapi.yaml", "application/yaml; charset=utf-8", openapiYAML),
		a.document("GET /v1/openapi.json", "application/json", openapiJSON))
}

// Routes returns all patterns, spelled as in the OpenAPI document.
func (a *API) Routes() []string {
	var list []string
	for _, rt := range a.routes() {
		list = append(list, strings.Replace(rt.Pattern, "{tile}", "{y}.mvt", 1))
	}
	for _, rt := range a.openRoutes() {
		list = append(list, rt.Pattern)
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
	return path == edge.Base || strings.HasPrefix(path, edge.Base+"/") || accounts.IsConsole(path)
}

// ServeHTTP serves a request that Handles. The mux matches a path twice to distinguish a
// miss from a match, so the most frequent requests of devices and apps bypass it. Nor
// does the mux decide which methods a plain path allows: to it, DELETE
// /hotspots/nearby deletes the hotspot "nearby".
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpserver.MarkAsData(w.Header())
	if !accounts.IsConsole(r.URL.Path) && a.Preflight(w, r) {
		return
	}
	if id, ok := edge.HeartbeatPath(r); ok {
		r.Pattern = edge.HeartbeatPattern
		a.Hotspots.Beat(w, r, id)
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
