// Package docsite serves the documentation at /docs: the guides, which are Markdown, and
// a reference page for each OpenAPI document. The caller passes both. Pages are rendered
// on the server, as is what a search finds. They need no external URL and no script: the
// one they have adds buttons to copy commands, and one to choose light or dark. The package
// is not an API and knows nothing of what it documents: a reference page shows only what is
// in the document. Its one invariant: a page shows text as text, and everything that a document
// contains; a document that it cannot show is refused.
//
// The reference is rendered here because the libraries that do so (Swagger UI, Scalar,
// Redoc) run in the browser: /docs would need scripts. Parsers of OpenAPI for Go skip
// what they do not know, which the invariant forbids. Pages that a build step writes would
// be 900 KB of HTML that each change of a document changes.
package docsite

import (
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// Config holds the content of the site.
type Config struct {
	PublicURL string // where clients reach the server, for commands to copy
	Guides    fs.FS  // Markdown: README.md and what it links to
	APIs      []API
	Files     []File

	Tokens, Icon []byte // of the console, so that pages look like it: CSS variables, and an SVG
}

// API is an API with an OpenAPI document.
type API struct {
	Name     string // as in /docs/api/{name}
	Folder   string // of its openapi.yaml in the repository: guides link to it there
	Document []byte // JSON
	Key      string // a working key for commands to copy; if empty, they use $KEY
}

// File is a download beside the pages.
type File struct {
	Path   string // as in /docs/files/{path}
	Source string // its path in the repository: guides link to it there
	Type   string // Content-Type
	Body   []byte
}

// The routes, as named in logs and metrics.
const (
	routeIndex   = "GET /docs"
	routeGuide   = "GET /docs/{page}"
	routeAPI     = "GET /docs/api/{name}"
	routeTag     = "GET /docs/api/{name}/{tag}"
	routeSearch  = "GET /docs/search"
	routeAsset   = "GET /docs/assets/{name}"
	routeFile    = "GET /docs/files/{path}"
	routeMissing = "GET /docs/{missing}"
)

const base = "/docs"

// Docs serves the pages.
type Docs struct {
	files   map[string]entry // by path
	missing func() []byte
	search  func(query string, alone bool) []byte
}

// entry is something to serve. A page is rendered once, on first use: most processes are
// never asked for one, and should start fast.
type entry struct {
	route string
	file  func() *static.File
}

// New reads the documents. It refuses a document that the pages cannot show.
func New(cfg Config) (*Docs, error) {
	s, err := newSite(cfg)
	if err != nil {
		return nil, err
	}
	d := &Docs{files: map[string]entry{}, search: s.renderSearch}
	for _, a := range s.assets {
		d.add(a.path, routeAsset, func() *static.File { return static.New(routeAsset, a.kind, a.body, static.KeepForever) })
	}
	for _, p := range s.pages {
		d.add(p.path, p.route, func() *static.File { return static.New(p.route, static.Page, s.render(p), static.AlwaysAsk) })
	}
	d.files[base+"/"] = d.files[base]
	for _, f := range cfg.Files {
		d.add(filePath(f.Path), routeFile, func() *static.File { return static.New(routeFile, f.Type, f.Body, static.AlwaysAsk) })
	}
	d.missing = sync.OnceValue(s.renderMissing)
	return d, nil
}

func (d *Docs) add(path, route string, file func() *static.File) {
	d.files[path] = entry{route, sync.OnceValue(file)}
}

// Routes returns the patterns, sorted.
func (d *Docs) Routes() []string {
	served := map[string]bool{routeMissing: true, routeSearch: true}
	for _, e := range d.files {
		served[e.route] = true
	}
	return slices.Sorted(maps.Keys(served))
}

// filePath returns the URL path of a download.
func filePath(path string) string { return base + "/files/" + path }

// Handles reports whether a request is for the documentation. Other methods are handled
// elsewhere.
func (d *Docs) Handles(r *http.Request) bool {
	path := r.URL.Path
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (path == base || strings.HasPrefix(path, base+"/"))
}

// Pages load almost nothing, and send what is searched for and tried to this server.
var guard = static.NewGuard("geolocation=(), camera=(), microphone=(), payment=(), usb=()", "style-src 'self'", "img-src 'self'", "script-src 'self'", "connect-src 'self'", "form-action 'self'")

// ServeHTTP serves a request that the documentation handles. The path is compared as it
// was sent: a path with escapes names no page.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard.Set(w.Header())
	if found, ok := d.files[r.URL.EscapedPath()]; ok {
		found.file().Write(w, r)
		return
	}
	if r.URL.EscapedPath() == searchPath {
		r.Pattern = routeSearch
		writePage(w, r, http.StatusOK, d.search(r.URL.Query().Get("q"), r.URL.Query().Get("only") == "hits"))
		return
	}
	r.Pattern = routeMissing
	writePage(w, r, http.StatusNotFound, d.missing())
}

// writePage writes a page that is not kept.
func writePage(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", static.Page)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have left; that is not our fault
	}
}
