// Package agentsite serves at /agent what an access point needs to join the network: the
// agent, its packages, and a script that installs them and links the device. The files are
// those of package agent; what they do there is not this package's business. Its one
// invariant: a URL in what devices run is the configured one, as text that no shell
// interprets, and never what a request says.
package agentsite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// Config is what the site needs to know.
type Config struct {
	PublicURL string        // where devices reach the server
	Tokens    []byte        // of the console, so that the page looks like it: CSS variables
	Name      func() string // of the network as of now; nil: it has none of its own
}

// The routes, as named in logs and metrics.
const (
	routePage    = "GET /agent"
	routeFile    = "GET /agent/{name}"
	routeCommand = "POST /agent/command"
)

const base = "/agent"

// Site serves the files.
type Site struct {
	url   string
	name  func() string
	view  view
	text  *static.File
	files map[string]*static.File // by path

	mu    sync.Mutex
	page  *static.File
	named string // whom the page is of
}

// New makes the files.
func New(cfg Config) (*Site, error) {
	d, err := newDownloads(agent.Files, cfg.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("agentsite: %w", err)
	}
	s := &Site{url: cfg.PublicURL, name: cfg.Name, files: map[string]*static.File{}}
	if s.name == nil {
		s.name = func() string { return beacon.DefaultNetworkName }
	}
	for _, f := range d.files {
		s.files[base+"/"+f.Name] = static.New(routeFile, f.kind, f.body, static.AlwaysAsk)
	}
	css, _ := static.TypeOf("page.css")
	s.files[base+"/page.css"] = static.New(routeFile, css, slices.Concat(cfg.Tokens, pageCSS), static.AlwaysAsk)
	var text bytes.Buffer
	s.view = view{Version: d.version, URL: cfg.PublicURL, OpenWrt: command(cfg.PublicURL, "sh", ""), Linux: command(cfg.PublicURL, "sudo sh", ""), Files: d.files}
	s.view.text(&text)
	s.text = static.New(routePage, plain, text.Bytes(), static.AlwaysAsk)
	if _, err := s.pageOf(beacon.DefaultNetworkName); err != nil { // the name is known once requests come
		return nil, fmt.Errorf("agentsite: %w", err)
	}
	return s, nil
}

// pageOf returns the page of a network with this name.
func (s *Site) pageOf(name string) (*static.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page != nil && s.named == name {
		return s.page, nil
	}
	var body bytes.Buffer
	shown := s.view
	shown.Name = name
	if err := pageHTML.Execute(&body, shown); err != nil {
		return nil, err
	}
	s.page, s.named = static.New(routePage, static.Page, body.Bytes(), static.AlwaysAsk), name
	return s.page, nil
}

// Routes returns the patterns, sorted.
func (s *Site) Routes() []string { return []string{routePage, routeFile, routeCommand} }

// Handles reports whether a request is for the site. Other paths and methods are handled
// elsewhere.
func (s *Site) Handles(r *http.Request) bool {
	at := r.URL.EscapedPath()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return at == base || at == base+"/" || s.files[at] != nil
	case http.MethodPost:
		return at == commandPath
	}
	return false
}

// The page loads its style, and nothing else.
var guard = static.NewGuard("geolocation=(), camera=(), microphone=(), payment=(), usb=()", "style-src 'self'", "img-src 'self'")

// ServeHTTP serves a request that the site handles.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard.Set(w.Header())
	if r.Method == http.MethodPost {
		s.serveCommand(w, r)
		return
	}
	if f := s.files[r.URL.EscapedPath()]; f != nil {
		f.Write(w, r)
		return
	}
	// Browsers ask for HTML, and curl for anything.
	w.Header().Set("Vary", "Accept")
	if strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html") {
		page, err := s.pageOf(s.name())
		if err != nil { // it was made of another name
			http.Error(w, "the page cannot be written", http.StatusInternalServerError)
			return
		}
		page.Write(w, r)
		return
	}
	s.text.Write(w, r)
}

// download is a file that devices and people fetch.
type download struct {
	Name string
	What string // for people
	Sum  string // SHA-256
	kind string
	body []byte
}

type downloads struct {
	version string
	files   []download
}

const (
	plain  = "text/plain; charset=utf-8"
	octets = "application/octet-stream"
	deb    = "application/vnd.debian.binary-package"
)

// newDownloads returns the files, sorted by name: with the script that checks the others,
// and a list of all sums.
func newDownloads(source fs.FS, url string) (d downloads, err error) {
	d.version = agent.Version()
	for _, f := range []struct{ name, what string }{
		{"beacon-agent", "the agent, a shell program"},
		{"linux/agent.conf", "its settings on Linux"},
		{"linux/beacon-agent.service", "its service for systemd"},
		{"openwrt/beacon-agent/files/beacon-agent.init", "its service for OpenWrt"},
		{"openwrt/beacon-agent/files/beacon-agent.keep", "what a firmware upgrade of OpenWrt keeps"},
		{"openwrt/beacon-agent/files/beacon.config", "its settings on OpenWrt"},
	} {
		body, err := fs.ReadFile(source, f.name)
		if err != nil {
			return d, err
		}
		d.add(path.Base(f.name), f.what, plain, body)
	}
	body, err := debian(source, d.version)
	if err != nil {
		return d, err
	}
	d.add("beacon-agent_"+d.version+"_all.deb", "package for Debian, Ubuntu and Raspberry Pi OS", deb, body)
	for _, p := range packages {
		if body, _, err = p.build(source, d.version); err != nil {
			return d, err
		}
		d.add(p.file(d.version), p.what, octets, body)
	}
	if body, err = installer(source, url, d.sums()); err != nil {
		return d, err
	}
	d.add("install", "the script of the command above", plain, body)
	d.add("SHA256SUMS", "the sums of all of them", plain, []byte(d.sums()))
	return d, nil
}

func (d *downloads) add(name, what, kind string, body []byte) {
	sum := sha256.Sum256(body)
	d.files = append(d.files, download{name, what, hex.EncodeToString(sum[:]), kind, body})
	slices.SortFunc(d.files, func(a, b download) int { return cmp.Compare(a.Name, b.Name) })
}

// sums returns the sums as sha256sum prints them.
func (d *downloads) sums() string {
	var all strings.Builder
	for _, f := range d.files {
		fmt.Fprintf(&all, "%s  %s\n", f.Sum, f.Name)
	}
	return all.String()
}

// installer returns the script with the URL of the server and the sums in it.
func installer(source fs.FS, url, sums string) ([]byte, error) {
	script, err := fs.ReadFile(source, "install")
	if err != nil {
		return nil, err
	}
	for _, c := range [][2]string{{"URL=''\n", "URL=" + quote(url) + "\n"}, {"SUMS=''\n", "SUMS=" + quote(strings.TrimSuffix(sums, "\n")) + "\n"}} {
		from := []byte("\n" + c[0])
		if bytes.Count(script, from) != 1 {
			return nil, fmt.Errorf("the script has no line %q", c[0])
		}
		script = bytes.Replace(script, from, []byte("\n"+c[1]), 1)
	}
	return script, nil
}

// quote returns text as a single word of a shell, unchanged by it.
func quote(text string) string { return `'` + strings.ReplaceAll(text, `'`, `'\''`) + `'` }

// view is what the page shows.
type view struct {
	Name           string // of the network
	Version, URL   string
	OpenWrt, Linux string // the commands, without a code
	Files          []download
}

var (
	//go:embed page.css
	pageCSS []byte
	//go:embed page.html
	pageSource string
	pageHTML   = template.Must(template.New("").Parse(pageSource))
)

// text writes the page for a terminal.
func (v view) text(w *bytes.Buffer) {
	fmt.Fprintf(w, `beacon-agent %s keeps a hotspot online. It runs on the access point.

Get a code from the hotspot's page in the console, and put it in place of CODE.
The command installs the agent, or upgrades it, and links the device.

On OpenWrt, as root:

  %s

On Debian, Ubuntu and Raspberry Pi OS:

  %s

Guide: %s/docs/agent

Files, with their sums in %s/agent/SHA256SUMS:

`, v.Version, v.OpenWrt, v.Linux, v.URL, v.URL)
	for _, f := range v.Files {
		fmt.Fprintf(w, "  %-32s %s\n", f.Name, f.What)
	}
}
