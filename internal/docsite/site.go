package docsite

import (
	"bytes"
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
)

//go:embed assets templates
var design embed.FS

// site holds all pages and the menu.
type site struct {
	pages       []*page
	groups      []group
	assets      []asset
	style, icon string
	guides      *markdown
	templates   func() *template.Template
}

// page is a guide, or the reference of an API.
type page struct {
	path, route, title string
	body               func(*site) content
}

// content is the content of a page.
type content struct {
	HTML     template.HTML
	Contents []heading
}

// heading is a link target in a page.
type heading struct{ ID, Text string }

// group is a section of the menu.
type group struct {
	Name  string
	Pages []link
}

type link struct{ Path, Title string }

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
	{"Start", []string{index, "quickstart-apps.md", "quickstart-operators.md", "quickstart-devices.md", "agent.md", "quickstart-staff.md"}},
	{"Run it", []string{"run-single-node.md", "run-postgresql.md", "backup.md", "upgrade.md", "monitoring.md", "sizing.md"}},
	{"Understand", []string{"rewards.md", "reliability.md", "security.md", "privacy.md", "performance.md"}},
}

const others = 2

func newSite(cfg Config) (*site, error) {
	s := &site{templates: sync.OnceValue(parseTemplates)}
	if err := s.addAssets(); err != nil {
		return nil, err
	}
	if err := s.addGuides(cfg.Guides); err != nil {
		return nil, err
	}
	if err := s.addAPIs(cfg); err != nil {
		return nil, err
	}
	s.guides = newMarkdown(resolver(cfg), parser.WithAutoHeadingID())
	return s, nil
}

func parseTemplates() *template.Template {
	return template.Must(template.ParseFS(design, "templates/*.html"))
}

func (s *site) addAssets() error {
	tokens, err := design.ReadFile("assets/tokens.css")
	if err != nil {
		return err
	}
	rules, err := design.ReadFile("assets/docs.css")
	if err != nil {
		return err
	}
	icon, err := design.ReadFile("assets/icon.svg")
	if err != nil {
		return err
	}
	s.style = s.addAsset("docs", ".css", "text/css; charset=utf-8", append(tokens, rules...))
	s.icon = s.addAsset("icon", ".svg", "image/svg+xml; charset=utf-8", icon)
	return nil
}

func (s *site) addAsset(name, ext, kind string, body []byte) string {
	sum := sha256.Sum256(body)
	at := base + "/assets/" + name + "-" + hex.EncodeToString(sum[:4]) + ext
	s.assets = append(s.assets, asset{at, kind, body})
	return at
}

// addGuides adds every guide to its group.
func (s *site) addGuides(guides fs.FS) error {
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
		p := &page{path: guidePath(name), route: routeGuide, title: title(source, name)}
		if name == index {
			p.route, p.title = routeIndex, "Overview"
		}
		p.body = func(s *site) content { return s.guides.page(source) }
		g, _ := order(name)
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
		s.add(len(s.groups)-1, &page{
			path: apiPath(api.Name), route: routeAPI, title: document.Info.Title,
			body: func(s *site) content { return s.reference(document, cfg.PublicURL, api.Key) },
		})
	}
	return nil
}

func (s *site) add(group int, p *page) {
	s.pages = append(s.pages, p)
	s.groups[group].Pages = append(s.groups[group].Pages, link{p.path, p.title})
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
	Title, Path, Style, Icon string
	Groups                   []group
	content
}

func (s *site) render(p *page) []byte { return s.frame(p.title, p.path, p.body(s)) }

func (s *site) renderMissing() []byte {
	return s.frame("Not found", "", content{HTML: s.execute("missing.html", nil)})
}

func (s *site) frame(title, path string, c content) []byte {
	return []byte(s.execute("frame.html", frame{title, path, s.style, s.icon, s.groups, c}))
}

// execute cannot fail on the data it gets here, or no test of a page would pass.
func (s *site) execute(name string, data any) template.HTML {
	var buf bytes.Buffer
	if err := s.templates().ExecuteTemplate(&buf, name, data); err != nil {
		panic(fmt.Errorf("docsite: %w", err))
	}
	return template.HTML(buf.String()) // the template has escaped its data
}
