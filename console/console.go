package console

import (
	"cmp"
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
	"sync/atomic"

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
	Demo    string   // the city of a demo, whose history may still be written; "": it is none
	Basemap *Basemap // what the map shows below the hotspots; nil: outlines

	PublicURL string // where clients reach the server, for links from elsewhere

	// Start says where the map of a public network begins, and Identity how the network presents
	// itself; nil: unknown. They are called for each page that is served.
	Start    func() Start
	Identity func() Identity
}

// Identity is how the network presents itself.
type Identity struct {
	Name        string `json:"name"` // never empty
	Description string `json:"description,omitempty"`
	Contact     string `json:"contact,omitempty"` // to be read
	ContactLink string `json:"contact_link,omitempty"`
	Color       string `json:"color"`
	Logo        bool   `json:"logo,omitempty"`       // whether it has one
	NoRewards   bool   `json:"no_rewards,omitempty"` // they are off
	TimeZone    string `json:"timezone,omitempty"`
}

// Start is where a map begins. At most one of its members is set.
type Start struct {
	View *View       `json:"view,omitempty"`
	Box  *[4]float64 `json:"box,omitempty"` // west, south, east, north; east may be beyond 180°
}

// View is the middle of a map, and its zoom.
type View struct {
	Lat  float64 `json:"lat"`
	Lng  float64 `json:"lng"`
	Zoom float64 `json:"zoom"`
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

	cfg  Config
	text string               // of the page, with what may change as {{...}}
	page atomic.Pointer[page] // as it was served last
}

// page is the page of the network, with what it says of it.
type page struct {
	start    string
	identity Identity
	file     *static.File
}

// The routes, as named in logs and metrics.
const (
	routePage    = "GET /"
	routePreview = "GET /preview"
	routeAsset   = "GET /assets/{name}"
)

// New loads the embedded files.
func New(cfg Config) (*Console, error) {
	source, err := dist.ReadFile("dist/index.html")
	if err != nil {
		return nil, err
	}
	drawn, elsewhere, err := cfg.Basemap.describe()
	if err != nil {
		return nil, err
	}
	yes := map[bool]string{true: "yes"}
	text := strings.NewReplacer("{{demo-key}}", html.EscapeString(cfg.DemoKey), "{{basemap}}", html.EscapeString(drawn),
		"{{public}}", yes[cfg.Public], "{{demo}}", html.EscapeString(cfg.Demo)).Replace(string(source))
	c := &Console{guard: newGuard(elsewhere), cfg: cfg, text: strings.ReplaceAll(text, "{{preview}}", ""), files: map[string]*static.File{}}
	c.files["/preview"] = fill(routePreview, strings.ReplaceAll(text, "{{preview}}", yes[true]), cfg.PublicURL, "", nobody)
	last := c.make("", nobody)
	c.page.Store(last)
	c.files["/"] = last.file
	c.files["/oidc"] = last.file // where a provider of OpenID Connect sends people back to
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
	if f.Route() == routePage {
		f = c.home()
	}
	c.guard.Set(w.Header())
	f.Write(w, r)
}

// home returns the page of the network as of now.
func (c *Console) home() *static.File {
	start, identity := "", nobody
	if c.cfg.Start != nil {
		start = encode(c.cfg.Start())
	}
	if c.cfg.Identity != nil {
		identity = c.cfg.Identity()
	}
	if last := c.page.Load(); last != nil && last.start == start && last.identity == identity {
		return last.file
	}
	next := c.make(start, identity)
	c.page.Store(next)
	return next.file
}

// nobody is a network that nobody has named.
var nobody = Identity{Name: "Beacon", Color: "#0b62ba"}

func (c *Console) make(start string, i Identity) *page {
	return &page{start, i, fill(routePage, c.text, c.cfg.PublicURL, start, i)}
}

// fill says in a page how its network presents itself. What people wrote is put in all at once,
// so that nobody can write a word that is replaced in turn.
func fill(route, text, url, start string, i Identity) *static.File {
	description := cmp.Or(i.Description, "Map and console of a community Wi-Fi network.")
	var pairs []string
	for name, value := range map[string]string{
		"start": start, "name": i.Name, "description": description, "color": i.Color, "url": url, "network": encode(i),
	} {
		pairs = append(pairs, "{{"+name+"}}", html.EscapeString(value))
	}
	return static.New(route, static.Page, []byte(strings.NewReplacer(pairs...).Replace(text)), static.AlwaysAsk)
}

// encode returns v, which always can be encoded, as JSON.
func encode(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(body)
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
		"manifest-src 'self'",
		"img-src 'self' data:"+elsewhere, // the map's style sheet has its buttons as images
		"connect-src 'self'"+elsewhere,
	)
}
