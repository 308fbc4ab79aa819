// Package identity serves how the network presents itself: its logo and icons, its color as a
// style sheet, the manifest with which browsers install the console, and the picture that is
// shown beside a shared link.
//
// Its one invariant: what it serves can neither run nor load anything, whatever staff chose.
package identity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// Config holds what the pages need to know.
type Config struct {
	Identity func() beacon.Identity // as of now; nil: none is known
	Public   bool                   // whether pictures may say more than the name
	Icon     []byte                 // an SVG in the default color with white on it, for networks without a logo
	Dots     Dots                   // nil: none
}

// Pages serves it.
type Pages struct {
	cfg    Config
	guard  static.Guard
	routes []string // in order; the same for each identity

	mu    sync.Mutex
	shown beacon.Identity
	files map[string]*file // of what is shown, by path
	drawn drawn
}

// file is made when it is first asked for.
type file struct {
	pattern string
	get     func() *static.File
}

// The paths.
const (
	Logo     = "/logo"
	Style    = "/brand.css"
	Manifest = "/manifest.webmanifest"
	icon     = "/icon-%d.png"
	Card     = "/card.png"
)

// iconSides are the sizes that browsers and telephones ask for, in pixels.
var iconSides = []int{192, 512}

// AppleIcon is the icon for telephones that read no manifest.
var AppleIcon = fmt.Sprintf(icon, iconSides[0])

// New returns the pages of a network.
func New(cfg Config) *Pages {
	if cfg.Identity == nil {
		cfg.Identity = func() beacon.Identity { return beacon.Identity{} }
	}
	p := &Pages{cfg: cfg, guard: static.NewGuard("geolocation=(), camera=(), microphone=(), payment=(), usb=()", "style-src 'unsafe-inline'")}
	p.files = p.make(p.shown)
	p.routes = []string{"GET " + Card}
	for path := range p.files {
		p.routes = append(p.routes, "GET "+path)
	}
	slices.Sort(p.routes)
	return p
}

// Routes lists the routes.
func (p *Pages) Routes() []string { return p.routes }

// Handles reports whether a request is for one of the pages.
func (p *Pages) Handles(r *http.Request) bool {
	_, found := slices.BinarySearch(p.routes, "GET "+r.URL.EscapedPath())
	return found && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// ServeHTTP serves a request that Handles accepts.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	p.guard.Set(w.Header())
	if path == Card {
		w.Header()["Cross-Origin-Resource-Policy"] = []string{"cross-origin"} // other sites show it beside links
		p.card().Write(w, r)
		return
	}
	now := p.cfg.Identity()
	p.mu.Lock()
	if now != p.shown {
		p.shown, p.files = now, p.make(now)
	}
	f := p.files[path]
	p.mu.Unlock()
	f.get().Write(w, r)
}

// make returns the files of an identity.
func (p *Pages) make(i beacon.Identity) map[string]*file {
	files := map[string]*file{}
	add := func(path, kind string, body func() []byte) {
		files[path] = &file{"GET " + path, sync.OnceValue(func() *static.File {
			return static.New("GET "+path, kind, body(), static.AlwaysAsk)
		})}
	}
	add(Style, "text/css; charset=utf-8", func() []byte { return []byte(style(i)) })
	add(Manifest, "application/manifest+json", func() []byte { return manifest(i) })
	if i.Logo.Data != "" {
		add(Logo, i.Logo.Type, func() []byte { return []byte(i.Logo.Data) })
	} else {
		add(Logo, beacon.SVG, func() []byte { return p.defaultLogo(i) })
	}
	for _, side := range iconSides {
		add(fmt.Sprintf(icon, side), beacon.PNG, func() []byte { return drawIcon(i, side) })
	}
	return files
}

// defaultLogo is the icon in the color of the network.
func (p *Pages) defaultLogo(i beacon.Identity) []byte {
	c := colorOf(i)
	if c == beacon.DefaultColor {
		return p.cfg.Icon
	}
	return []byte(strings.NewReplacer(string(beacon.DefaultColor), string(c), "#fff", string(c.On())).Replace(string(p.cfg.Icon)))
}

func colorOf(i beacon.Identity) beacon.Color { return cmp.Or(i.Color, beacon.DefaultColor) }

// NameOf returns the name of the network.
func NameOf(i beacon.Identity) string { return cmp.Or(i.Name, beacon.DefaultNetworkName) }

// style has the color for the variables of all pages: in the light, in the dark, and for those
// who chose the one or the other. It is empty where no color is set.
func style(i beacon.Identity) string {
	if i.Color == "" {
		return ""
	}
	light, dark := i.Color.Shades()
	inDark := fmt.Sprintf("{--accent:%[1]s;--link:%[1]s;--on-accent:#0a1725}", dark)
	return fmt.Sprintf(":root{--accent:%[1]s;--link:%[1]s;--on-accent:#ffffff}\n", light) +
		`@media (prefers-color-scheme:dark){:root:not([data-theme="light"])` + inDark + "}\n" +
		`:root[data-theme="dark"]` + inDark + "\n"
}

// shortName is how many characters fit below an icon.
const shortName = 12

func manifest(i beacon.Identity) []byte {
	type image struct {
		Source string `json:"src"`
		Sizes  string `json:"sizes"`
		Type   string `json:"type"`
	}
	var images []image
	if i.Logo.Type == beacon.SVG {
		images = append(images, image{Logo, "any", beacon.SVG})
	}
	for _, side := range iconSides {
		images = append(images, image{fmt.Sprintf(icon, side), fmt.Sprintf("%dx%d", side, side), beacon.PNG})
	}
	name := NameOf(i)
	short := name
	if letters := []rune(name); len(letters) > shortName {
		short, _, _ = strings.Cut(name, " ")
		if letters = []rune(short); len(letters) > shortName {
			short = string(letters[:shortName])
		}
	}
	body, err := json.Marshal(map[string]any{
		"name": name, "short_name": short, "description": i.Description, "id": "/", "start_url": "/", "scope": "/", "display": "standalone",
		"theme_color": colorOf(i), "background_color": "#f3f5f8", "icons": images,
	})
	if err != nil {
		panic(err) // it has texts alone
	}
	return body
}
