package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

//go:embed dist
var dist embed.FS

// Tokens has the colours and sizes of the pages, as CSS variables, and Icon their icon:
// other pages of the server look the same.
var (
	//go:embed src/styles/tokens.css
	Tokens []byte
	//go:embed src/icon.svg
	Icon []byte
)

// Config is what the pages need to know.
type Config struct {
	DemoKey string   // a key of the preview, for people without a key of the network
	Public  bool     // anyone may see the live map, without a key
	Demo    bool     // the history of the network may still be written
	Basemap *Basemap // what the map shows below the hotspots; nil: outlines
}

// Basemap is what the pages need to know to draw streets: a file of this server, or a
// style of another one.
type Basemap struct {
	File        string     `json:"file,omitempty"` // the path of a PMTiles file
	Schema      string     `json:"schema,omitempty"`
	MinZoom     int        `json:"minzoom,omitempty"`
	MaxZoom     int        `json:"maxzoom,omitempty"`
	Bounds      [4]float64 `json:"bounds,omitzero"`       // west, south, east, north
	Attribution string     `json:"attribution,omitempty"` // HTML of text and links
	Style       string     `json:"style,omitempty"`       // the URL of a style
}

// Console serves the pages.
type Console struct {
	files map[string]*static.File // by path
	guard static.Guard
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
	drawn, elsewhere, err := cfg.Basemap.describe()
	if err != nil {
		return nil, err
	}
	yes := map[bool]string{true: "yes"}
	page = []byte(strings.NewReplacer("{{basemap}}", html.EscapeString(drawn), "{{public}}", yes[cfg.Public], "{{demo}}", yes[cfg.Demo]).Replace(string(page)))
	c := &Console{guard: newGuard(elsewhere), files: map[string]*static.File{
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
	c.guard.Set(w.Header())
	f.Write(w, r)
}

// describe returns the basemap as the pages read it, and the origin of its style if that
// is not this server.
func (b *Basemap) describe() (text, origin string, err error) {
	if b == nil {
		return "", "", nil
	}
	body, err := json.Marshal(b)
	if err != nil || b.Style == "" {
		return string(body), "", err
	}
	at, err := url.Parse(b.Style)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.ContainsAny(at.Host, ";, '*") {
		return "", "", fmt.Errorf("the style %q has no address such as https://tiles.example.org/style.json", b.Style)
	}
	return string(body), " " + at.Scheme + "://" + at.Host, nil
}

// newGuard guards the pages against scripts in names of hotspots, which strangers write.
// elsewhere is the origin of a foreign style, with its tiles, glyphs and images, or empty.
func newGuard(elsewhere string) static.Guard {
	return static.NewGuard("geolocation=(self), camera=(), microphone=(), payment=(), usb=()",
		"script-src 'self'",
		"worker-src 'self'",
		"style-src 'self'",
		"img-src 'self' data:"+elsewhere, // the map's style sheet has its buttons as images
		"connect-src 'self'"+elsewhere,
	)
}
