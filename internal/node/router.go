package node

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

// router routes a request to its interface.
type router struct {
	pages
	health  *httpserver.Site
	network *api.API
	openInterfaces
	loaded  atomic.Bool           // until then the network interface has no data
	history func() (days, of int) // nil: this is no demo

	pressure httpserver.Overload
}

// openInterfaces are for anyone, without a key. They are nil where the server is not public.
type openInterfaces struct {
	feeds    *openfeeds.Feeds
	hotspots *openfeeds.Pages
}

func newRouter(health *httpserver.Health, network *api.API, open openInterfaces, pages pages) *router {
	return &router{pages: pages, health: health.Handler(pages.preview.Refuse), network: network, openInterfaces: open}
}

// ServeHTTP serves a request. Health checks, the console, the documentation and the agent's
// files are served under any load. The preview also gets what belongs to no interface: see its ServeHTTP.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case (path == "/healthz" || path == "/readyz") && r.Method != http.MethodOptions:
		rt.health.ServeHTTP(w, r)
	case rt.console.Handles(r):
		rt.console.ServeHTTP(w, r)
	case rt.history != nil && path == historyPath && r.Method == http.MethodGet:
		rt.serveHistory(w)
	case rt.self.Handles(r):
		rt.self.ServeHTTP(w, r)
	case rt.docs.Handles(r):
		rt.docs.ServeHTTP(w, r)
	case rt.agent.Handles(r):
		rt.agent.ServeHTTP(w, r)
	case rt.pressure.Level() > 0 && !edge.IsHeartbeat(r) && rt.pressure.Sheds(r):
		// Shed other requests first: a device without heartbeats counts as offline,
		// while an app can retry.
		rt.refuse(w, r, http.StatusServiceUnavailable)
	case rt.basemap.Handles(r):
		rt.basemap.ServeHTTP(w, r)
	case !rt.isNetwork(path):
		rt.preview.ServeHTTP(w, r)
	case !rt.loaded.Load():
		rt.network.Refuse(w, r, http.StatusServiceUnavailable)
	case rt.isPage(path):
		rt.hotspots.ServeHTTP(w, r)
	case rt.isFeed(path):
		rt.feeds.ServeHTTP(w, r)
	default:
		rt.network.ServeHTTP(w, r)
	}
}

// historyPath is where the console of a demo asks how far its history is written.
const historyPath = "/history.json"

func (rt *router) serveHistory(w http.ResponseWriter) {
	days, of := rt.history()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, `{"days":%d,"of":%d}`+"\n", days, of)
}

// refuse sends an error in the format of the interface that a request was for.
func (rt *router) refuse(w http.ResponseWriter, r *http.Request, status int) {
	if rt.isNetwork(r.URL.Path) {
		rt.network.Refuse(w, r, status)
		return
	}
	rt.preview.Refuse(w, r, status)
}

// isNetwork reports whether a path shows the live network.
func (rt *router) isNetwork(path string) bool {
	return api.Handles(path) || rt.isFeed(path) || rt.isPage(path)
}

// isPage reports whether a path is of a page about a hotspot.
func (rt *router) isPage(path string) bool {
	return rt.hotspots != nil && strings.HasPrefix(path, openfeeds.PageBase)
}

// isFeed reports whether a path belongs to the open feeds. Where there are none, it is as
// unknown as any other.
func (rt *router) isFeed(path string) bool { return rt.feeds != nil && openfeeds.Handles(path) }
