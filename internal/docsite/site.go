package docsite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/parser"

	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

var (
	//go:embed templates
	design embed.FS
	//go:embed assets/docs.css
	style []byte
	//go:embed assets/reference.css
	referenceStyle []byte
	//go:embed assets/docs.js
	script []byte
)

// site holds all pages and the menu.
type site struct {
	pages       []*page
	groups      []group
	assets      []asset
	style, icon string
	script      string
	guides      *markdown
	templates   func() *template.Template
	sections    func() []section // of all pages, for the search
	words       func() map[string]int
}

// page is a guide, or a page of the reference of an API.
type page struct {
	path, route string
	title       string
	parent      string // path of the page that the menu has it under; empty if none
	body        func() content
}

// content is the content of a page.
type content struct {
	HTML     template.HTML
	Contents []heading
	sections []section
}

// heading is a link target in a page.
type heading struct{ ID, Text string }

// group is a section of the menu.
type group struct {
	Name  string
	Pages []link
}

type link struct {
	Path, Title string
	Under       []link
}

// asset is a file that pages load. Its name changes with its content.
type asset struct {
	path, kind string
	body       []byte
}

const index = "README.md"

// menu groups and orders the guides. A guide that is not listed goes to the end of the
// third group.
var menu = []struct {
	name   string
	guides []string
}{
	{"Start", []string{index, "quickstart-apps.md", "quickstart-operators.md", "quickstart-devices.md", "agent.md", "quickstart-staff.md", "people.md"}},
	{"Run it", []string{"run-single-node.md", "run-postgresql.md", "backup.md", "upgrade.md", "monitoring.md", "sizing.md"}},
	{"Understand", []string{"rewards.md", "how-money-flows.md", "trust.md", "reliability.md", "security.md", "privacy.md", "open-data.md", "performance.md"}},
}

const others = 2

// networkURL stands in the guides for the reader's own network, and pages have the address of
// this server there. http://127.0.0.1:8080 is a server that readers start as a guide says.
const networkURL = "https://beacon.example.org"

func newSite(cfg Config) (*site, error) {
	s := &site{templates: sync.OnceValue(parseTemplates)}
	s.style = s.addAsset("docs.css", slices.Concat(cfg.Tokens, style, referenceStyle))
	s.icon = s.addAsset("icon.svg", cfg.Icon)
	s.script = s.addAsset("docs.js", script)
	if err := s.addGuides(cfg.Guides, cmp.Or(cfg.PublicURL, networkURL)); err != nil {
		return nil, err
	}
	if err := s.addAPIs(cfg); err != nil {
		return nil, err
	}
	s.guides = newMarkdown(resolver(cfg), parser.WithAutoHeadingID())
	s.sections = sync.OnceValue(s.allSections)
	s.words = sync.OnceValue(func() map[string]int { return vocabulary(s.sections()) })
	return s, nil
}

// menuEntry is the data of the template of a link in the menu.
type menuEntry struct {
	Link  link
	Frame frame
}

func parseTemplates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"entry": func(l link, f frame) menuEntry { return menuEntry{l, f} },
	}).ParseFS(design, "templates/*.html"))
}

func (s *site) addAsset(file string, body []byte) string {
	kind, _ := static.TypeOf(file)
	name, ext := strings.TrimSuffix(file, path.Ext(file)), path.Ext(file)
	sum := sha256.Sum256(body)
	at := base + "/assets/" + name + "-" + hex.EncodeToString(sum[:4]) + ext
	s.assets = append(s.assets, asset{at, kind, body})
	return at
}

// addGuides adds every guide to its group.
func (s *site) addGuides(guides fs.FS, url string) error {
	names, err := fs.Glob(guides, "*.md")
	if err != nil {
		return err
	}
	for _, m := range menu {
		s.groups = append(s.groups, group{Name: m.name})
	}
	order := func(name string) (group, place int) {
		for g, m := range menu {
			if p := slices.Index(m.guides, name); p >= 0 {
				return g, p
			}
		}
		return others, len(names)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		groupA, placeA := order(a)
		groupB, placeB := order(b)
		return 100*(groupA-groupB) + placeA - placeB
	})
	for _, name := range names {
		source, err := fs.ReadFile(guides, name)
		if err != nil {
			return err
		}
		g, _ := order(name)
		source = bytes.ReplaceAll(source, []byte(networkURL), []byte(url))
		p := &page{path: guidePath(name), route: routeGuide, title: title(source, name)}
		if name == index {
			p.route, p.title = routeIndex, "Overview"
		}
		p.body = func() content { return s.guides.page(source) }
		s.add(g, p)
	}
	if len(s.pages) == 0 || s.pages[0].path != base {
		return fmt.Errorf("docsite: there is no %s", index)
	}
	return nil
}

func (s *site) addAPIs(cfg Config) error {
	s.groups = append(s.groups, group{Name: "Reference"})
	for _, api := range cfg.APIs {
		document, err := parseDocument(api.Document)
		if err != nil {
			return fmt.Errorf("docsite: the OpenAPI document %s: %w", api.Name, err)
		}
		for _, p := range referencePages(document, apiPath(api.Name), cfg.PublicURL, api.Key) {
			s.add(len(s.groups)-1, p)
		}
	}
	return nil
}

func (s *site) add(group int, p *page) {
	s.pages = append(s.pages, p)
	pages := &s.groups[group].Pages
	if p.parent != "" {
		pages = &(*pages)[len(*pages)-1].Under
	}
	*pages = append(*pages, link{Path: p.path, Title: p.title})
}

// guidePath returns the URL path of a guide.
func guidePath(name string) string {
	if name == index {
		return base
	}
	return base + "/" + strings.TrimSuffix(name, path.Ext(name))
}

func apiPath(name string) string { return base + "/api/" + name }

// title returns the first heading of a guide.
func title(source []byte, name string) string {
	for line := range strings.Lines(string(source)) {
		if text, found := strings.CutPrefix(line, "# "); found {
			return strings.TrimSpace(strings.ReplaceAll(text, "`", ""))
		}
	}
	return name
}

// frame is the data of the template that all pages share.
type frame struct {
	Title, Path, Parent string
	Style, Icon, Script string
	Groups              []group
	Query               string
	MaxQuery            int
	content
}

func (s *site) render(p *page) []byte {
	return s.frame(frame{Title: p.title, Path: p.path, Parent: p.parent, content: p.body()})
}

func (s *site) renderMissing() []byte {
	return s.frame(frame{Title: "Not found", content: content{HTML: execute(s.templates(), "missing.html", nil)}})
}

// frame renders a page, of which f has what is its own.
func (s *site) frame(f frame) []byte {
	f.Style, f.Icon, f.Script, f.Groups, f.MaxQuery = s.style, s.icon, s.script, s.groups, maxQuery
	return []byte(execute(s.templates(), "frame.html", f))
}

// execute cannot fail on the data it gets here, or no test of a page would pass.
func execute(templates *template.Template, name string, data any) template.HTML {
	var buf bytes.Buffer
	if err := templates.ExecuteTemplate(&buf, name, data); err != nil {
		panic(fmt.Errorf("docsite: %w", err))
	}
	return template.HTML(buf.String()) // the template has escaped its data
}
