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

// Config is what the pages must be told.
type Config struct {
	PublicURL string // where clients reach the server, for lines to copy
	Guides    fs.FS  // Markdown: README.md and what it leads to
	APIs      []API
	Files     []File
}

// API is an interface with an OpenAPI document.
type API struct {
	Name     string // as in /docs/api/{name}
	Folder   string // of the repository, which has its openapi.yaml: guides link to it there
	Document []byte // JSON
	Key      string // one that opens, for lines to copy; where it is empty, they take it from $KEY
}

// File is something to download beside the pages.
type File struct {
	Path   string // as in /docs/files/{path}
	Source string // where the repository has it: guides link to it there
	Type   string // as Content-Type has it
	Body   []byte
}

// The routes, as logs and metrics name them.
const (
	routeIndex   = "GET /docs"
	routeGuide   = "GET /docs/{page}"
	routeAPI     = "GET /docs/api/{name}"
	routeAsset   = "GET /docs/assets/{name}"
	routeFile    = "GET /docs/files/{path}"
	routeMissing = "GET /docs/{missing}"
)

const base = "/docs"

// Docs serves the pages.
type Docs struct {
	files   map[string]entry // by path
	missing func() []byte
}

// entry is something to send. A page is made when it is first asked for, and
// once: most processes are never asked, and should start at once.
type entry struct {
	route string
	file  func() *static.File
}

// New reads the documents. One that has what the pages cannot show is refused.
func New(cfg Config) (*Docs, error) {
	s, err := newSite(cfg)
	if err != nil {
		return nil, err
	}
	d := &Docs{files: map[string]entry{}}
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

// Routes lists what the documentation serves.
func (d *Docs) Routes() []string {
	served := map[string]bool{routeMissing: true}
	for _, e := range d.files {
		served[e.route] = true
	}
	return slices.Sorted(maps.Keys(served))
}

// filePath is where something to download is found.
func filePath(path string) string { return base + "/files/" + path }

// Handles reports whether a request is for the documentation. Other methods are
// someone else's to answer.
func (d *Docs) Handles(r *http.Request) bool {
	path := r.URL.Path
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (path == base || strings.HasPrefix(path, base+"/"))
}

// Pages do nothing and load next to nothing.
var guard = static.NewGuard("geolocation=(), camera=(), microphone=(), payment=(), usb=()", "style-src 'self'", "img-src 'self'")

// ServeHTTP answers a request that the documentation handles. The path counts
// as it was sent: one with escapes in it names no page.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard.Set(w.Header())
	if found, ok := d.files[r.URL.EscapedPath()]; ok {
		found.file().Write(w, r)
		return
	}
	r.Pattern = routeMissing
	h := w.Header()
	h.Set("Content-Type", static.Page)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.missing()) // a client that left is no fault of ours
	}
}
