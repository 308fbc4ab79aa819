// Package openfeeds serves the network as open data, to anyone and without a key, where
// the server was started with --public: GeoJSON, vector tiles with their TileJSON, OGC API
// Features, the files that Freifunk maps read, and tags for OpenStreetMap.
//
// Every feed shows the same edition of the network, which is made at most once a minute and
// on demand. So feeds agree with each other, and any cache may keep them for a minute.
//
// Its one invariant: a feed shows nothing but what choose and publish return, and these ask
// the table of audiences in package beacon.
package openfeeds

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/maps"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// Base is the path of the landing page, and the prefix of every other path.
const Base = "/open"

// Config holds the dependencies of the feeds.
type Config struct {
	API       *api.API // for limits, errors and tiles
	Fleet     *fleet.Fleet
	PublicURL string // base of links: where clients reach the server
	Now       func() time.Time
	Uptime    Uptime // for pages
	Traffic   Traffic
	Plan      Plan
	Identity  func() beacon.Identity // how the network presents itself; nil: not at all
	Rewards   func() bool            // whether they are on; nil: they are
}

// Feeds serves the open feeds.
type Feeds struct {
	api      *api.API
	editions editions
	traffic  traffic
	identity func() beacon.Identity
	plan     Plan
	rewards  func() bool
	showsUp  bool   // the table of audiences makes uptime public
	public   string // the URL of the server
	root     string // the URL of Base
	site     *httpserver.Site
	readers  readers

	stopping context.Context // canceled by Stop
	stop     context.CancelFunc
}

// New returns the feeds of a network.
func New(cfg Config) *Feeds {
	f := &Feeds{
		api: cfg.API, public: cfg.PublicURL, root: cfg.PublicURL + Base,
		editions: editions{fleet: cfg.Fleet, view: newView(beacon.Detail.Audience), now: cfg.Now, tiles: fleet.NewMap()},
		traffic:  traffic{read: cfg.Traffic}, identity: cfg.Identity, plan: cfg.Plan, rewards: cfg.Rewards, showsUp: beacon.ShownUptime.Audience() == beacon.Everyone,
		readers: readers{byAddr: map[netip.Prefix]int{}},
	}
	f.editions.shows = func() bool { return f.who().ShowClients }
	f.stopping, f.stop = context.WithCancel(context.Background())
	table := map[string]http.Handler{}
	for path, run := range f.routes() {
		table["GET "+Base+path] = f.guard(1, run)
	}
	table[withSlash] = table["GET "+Base] // people type both
	f.site = httpserver.NewSite(table, f.api.Refuse)
	return f
}

// Stop lets downloads finish for a while, then ends them. Call it when the server is about
// to stop.
func (f *Feeds) Stop() { f.stop() }

// Box returns the box around the hotspots of the network, or false if there are none.
func (f *Feeds) Box() (geo.Box, bool) {
	if f.editions.fleet.Len() == 0 { // the first hotspot need not wait for the next edition
		return geo.Box{}, false
	}
	e := f.editions.latest.Load() // pages need not wait for the next: the map on them asks for it
	if e == nil {
		e = f.editions.current()
	}
	return e.box, len(e.items) > 0
}

// Dots yields where the hotspots are in a square around all of them, as maps project the Earth.
func (f *Feeds) Dots(size float64, yield func(x, y float64)) {
	box, found := f.Box()
	if !found {
		return
	}
	project := func(p geo.Point) (x, y float64) {
		x = p.Lng - box.West
		if x < 0 {
			x += 360
		}
		lat := max(-85, min(85, p.Lat)) * math.Pi / 180
		return x * math.Pi / 180, -math.Asinh(math.Tan(lat))
	}
	right, bottom := project(geo.Point{Lat: box.South, Lng: box.East})
	_, top := project(geo.Point{Lat: box.North, Lng: box.West})
	side := max(right, bottom-top, 1e-6)
	f.editions.latest.Load().places(func(p geo.Point) bool {
		x, y := project(p)
		yield((x+(side-right)/2)/side*size, (y-top+(side-(bottom-top))/2)/side*size)
		return true
	})
}

// who returns how the network presents itself.
func (f *Feeds) who() (i beacon.Identity) {
	if f.identity != nil {
		i = f.identity()
	}
	return i
}

// noRewards reports whether rewards are off.
func (f *Feeds) noRewards() bool { return f.rewards != nil && !f.rewards() }

// endpoint serves a request. If it returns an error, it must have written nothing.
type endpoint func(w http.ResponseWriter, r *http.Request) error

// routes lists the endpoints below Base. openapi.json describes each.
func (f *Feeds) routes() map[string]endpoint {
	return map[string]endpoint{
		"":                                 plain(f.landing),
		"/api":                             plain(f.fixed("application/vnd.oai.openapi+json;version=3.0", openapi)),
		"/conformance":                     plain(f.fixed("application/json", conformance())),
		"/collections":                     plain(f.collections),
		"/collections/hotspots":            plain(f.collection),
		"/collections/hotspots/items":      f.items,
		"/collections/hotspots/items/{id}": plain(f.item),
		estimatePath:                       f.estimate,
		"/network.json":                    plain(f.totals),
		"/nearest":                         f.nearest,
		"/tiles.json":                      plain(f.tileJSON),
		"/tiles/{z}/{x}/{tile}":            f.tile,
		"/hotspots.geojson":                f.download(hotspotsFeed),
		"/meshviewer.json":                 f.download(meshviewerFeed),
		"/nodelist.json":                   f.download(nodelistFeed),
		"/openstreetmap.geojson":           f.download(openStreetMapFeed),
	}
}

const withSlash = "GET " + Base + "/{$}"

// Routes returns all patterns, spelled as in the OpenAPI document. The landing page is there
// without a slash.
func (f *Feeds) Routes() []string {
	list := slices.DeleteFunc(f.site.Routes(), func(pattern string) bool { return pattern == withSlash })
	for i := range list {
		list[i] = strings.Replace(list[i], "{tile}", "{y}.mvt", 1)
	}
	return list
}

// Handles reports whether a path belongs to the feeds.
func Handles(path string) bool { return path == Base || strings.HasPrefix(path, Base+"/") }

// Header values are shared between responses.
var (
	anyOrigin      = []string{"*"}
	exposedHeaders = []string{"ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"}
	allowedMethods = []string{"GET, HEAD"}
	allowedHeaders = []string{"Accept, If-None-Match"}
	aDay           = []string{"86400"}
	varyEncoding   = []string{"Accept-Encoding"}
	jsonType       = []string{"application/json"}
	geoJSONType    = []string{"application/geo+json"}

	// An edition is made once a minute; shared caches may keep it as long.
	forAMinute = []string{"public, max-age=60"}
)

// ServeHTTP serves a request for a path that Handles accepts. Pages of any origin may read
// the feeds: there is nothing in them that their reader could not fetch otherwise.
func (f *Feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	httpserver.MarkAsData(h)
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposedHeaders
	if r.Method == http.MethodOptions {
		h["Access-Control-Allow-Methods"] = allowedMethods
		h["Access-Control-Allow-Headers"] = allowedHeaders
		h["Access-Control-Max-Age"] = aDay
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if license := f.who().License; license != "" {
		h["Link"] = []string{"<" + license + `>; rel="license"`}
	}
	f.site.ServeHTTP(w, r)
}

// guard wraps an endpoint in what all share: the limit, by which it counts as some number
// of requests, and the form of errors.
func (f *Feeds) guard(requests int, run endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := f.charge(w, r, requests)
		if err == nil {
			err = run(w, r)
		}
		if err != nil {
			f.api.Fail(w, r, err)
		}
	})
}

// charge counts a request as many, according to the work it causes.
func (f *Feeds) charge(w http.ResponseWriter, r *http.Request, requests int) error {
	return f.api.SpendFeed(w.Header(), r, requests, time.Now()) // real time: limits are not data
}

// fixed serves a document that never changes.
func (f *Feeds) fixed(kind string, body []byte) endpoint {
	document := static.New("", kind, body, forAMinute)
	return func(w http.ResponseWriter, r *http.Request) error {
		route := r.Pattern
		document.Write(w, r)
		r.Pattern = route
		return nil
	}
}

// write responds with a body that was made for the request.
func write(w http.ResponseWriter, r *http.Request, kind []string, body []byte) {
	w.Header()["Vary"] = varyEncoding
	maps.WriteTagged(w, r, kind, forAMinute, body, nil)
}

// writeJSON responds with v, which always can be encoded.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	write(w, r, jsonType, encode(v))
	return nil
}

// encode returns v, which always can be encoded, as JSON.
func encode(v any) []byte {
	body, err := httpserver.EncodeJSON(v)
	if err != nil {
		panic(err)
	}
	return body
}
