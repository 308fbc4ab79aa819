package console

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

//go:embed dist
var dist embed.FS

// Config is what the pages need to know.
type Config struct {
	DemoKey string // a key of the preview, for people without a key of the network
}

// Console serves the pages.
type Console struct {
	files map[string]*static.File // by path
}

// The routes, as named in logs and metrics.
const (
	routePage  = "GET /"
	routeAsset = "GET /assets/{name}"
)

// New loads the embedded files.
func New(cfg Config) (*Console, error) {
	page, err := dist.ReadFile("dist/index.html")
	if err != nil {
		return nil, err
	}
	page = []byte(strings.ReplaceAll(string(page), "{{demo-key}}", html.EscapeString(cfg.DemoKey)))
	c := &Console{files: map[string]*static.File{
		"/": static.New(routePage, static.Page, page, static.AlwaysAsk),
	}}
	assets, err := fs.ReadDir(dist, "dist/assets")
	if err != nil {
		return nil, err
	}
	for _, entry := range assets {
		body, err := dist.ReadFile("dist/assets/" + entry.Name())
		if err != nil {
			return nil, err
		}
		kind, known := static.TypeOf(entry.Name())
		if !known {
			return nil, fmt.Errorf("console: %s is of no known type", entry.Name())
		}
		c.files["/assets/"+entry.Name()] = static.New(routeAsset, kind, body, static.KeepForever)
	}
	return c, nil
}

// Routes lists the routes of the console.
func (c *Console) Routes() []string {
	served := map[string]bool{}
	for _, f := range c.files {
		served[f.Route()] = true
	}
	return slices.Sorted(maps.Keys(served))
}

// Handles reports whether a request is for a file of the console. All other requests,
// and other methods, are not the console's.
func (c *Console) Handles(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && c.find(r) != nil
}

// find looks the path up as it was sent: a path with escapes matches nothing.
func (c *Console) find(r *http.Request) *static.File { return c.files[r.URL.EscapedPath()] }

// ServeHTTP serves a request that the console handles.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := c.find(r)
	if f == nil {
		http.NotFound(w, r)
		return
	}
	guard.Set(w.Header())
	f.Write(w, r)
}

// Guard the pages against scripts in names of hotspots, which strangers write.
var guard = static.NewGuard("geolocation=(self), camera=(), microphone=(), payment=(), usb=()",
	"script-src 'self'",
	"worker-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:", // the map's style sheet has its buttons as images
	"connect-src 'self'",
)
