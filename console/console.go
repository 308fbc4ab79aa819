package console

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var dist embed.FS

// Config is what the pages must be told.
type Config struct {
	DemoKey string // opens the preview, for those who have no key of the network
}

// Console serves the pages.
type Console struct {
	files map[string]*file // by path
}

// The routes, as logs and metrics name them.
const (
	routePage  = "GET /"
	routeAsset = "GET /assets/{name}"
)

// New reads the embedded files.
func New(cfg Config) (*Console, error) {
	page, err := dist.ReadFile("dist/index.html")
	if err != nil {
		return nil, err
	}
	page = []byte(strings.ReplaceAll(string(page), "{{demo-key}}", html.EscapeString(cfg.DemoKey)))
	c := &Console{files: map[string]*file{
		"/": newFile(routePage, pageType, page, alwaysAsk),
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
		kind, known := types[path.Ext(entry.Name())]
		if !known {
			return nil, fmt.Errorf("console: %s is of no known type", entry.Name())
		}
		c.files["/assets/"+entry.Name()] = newFile(routeAsset, kind, body, keepForever)
	}
	return c, nil
}

// Handles reports whether a request is for a file of the console. Everything
// else, and other methods, are someone else's to answer.
func (c *Console) Handles(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && c.find(r) != nil
}

// find looks the path up as it was sent: one with escapes in it is not ours.
func (c *Console) find(r *http.Request) *file { return c.files[r.URL.EscapedPath()] }

// ServeHTTP answers a request that the console handles.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := c.find(r)
	if f == nil {
		http.NotFound(w, r)
		return
	}
	r.Pattern = f.route
	setSecurityHeaders(w.Header())
	f.write(w, r)
}

// setSecurityHeaders shuts out what the pages do not need. Names of hotspots
// are written by strangers: should one ever get into a page as markup, it could
// still run nothing, load nothing and send nothing anywhere.
func setSecurityHeaders(h http.Header) {
	h["Content-Security-Policy"] = contentPolicy
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = deny
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Opener-Policy"] = sameOrigin
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Permissions-Policy"] = permissions
}

// Header values are shared between answers: net/http only reads them.
var (
	contentPolicy = []string{strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"worker-src 'self'",
		"style-src 'self'",
		"img-src 'self' data:", // the map's buttons are pictures in its style sheet
		"connect-src 'self'",
		"object-src 'none'",
		"base-uri 'none'",
		"form-action 'none'", // forms are sent by scripts
		"frame-ancestors 'none'",
	}, "; ")}
	noSniff     = []string{"nosniff"}
	deny        = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	sameOrigin  = []string{"same-origin"}
	permissions = []string{"geolocation=(self), camera=(), microphone=(), payment=(), usb=()"}
)
