package docsite_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

var config = docsite.Config{
	PublicURL: "http://127.0.0.1:8080",
	Guides:    docs.Files,
	APIs: []docsite.API{
		{Name: "network", Folder: "internal/api", Document: api.OpenAPIJSON()},
		{Name: "preview", Folder: "internal/preview", Document: preview.OpenAPIJSON(), Key: "svc_test_demo01"},
		{Name: "open", Folder: "internal/openfeeds", Document: openfeeds.OpenAPI()},
	},
	Files: append(pictures(), docsite.File{Path: "packaging/monitoring/alerts.yml", Source: "deploy/monitoring/alerts.yml", Type: "application/yaml", Body: []byte("groups: []\n")}),
}

// pictures are those of the guides.
func pictures() (all []docsite.File) {
	names, _ := fs.Glob(docs.Pictures, "images/*")
	for _, name := range names {
		body, _ := docs.Pictures.ReadFile(name)
		all = append(all, docsite.File{Path: name, Source: "docs/" + name, Type: "image/webp", Body: body})
	}
	return all
}

// with returns a configuration with other guides.
func with(guides fs.FS, cfg docsite.Config) docsite.Config {
	cfg.Guides = guides
	return cfg
}

func newDocs(t *testing.T) *docsite.Docs {
	t.Helper()
	d, err := docsite.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// paths lists all pages.
func paths(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := append(referencePaths(t, newDocs(t), "network"), referencePaths(t, newDocs(t), "preview")...)
	found = append(found, referencePaths(t, newDocs(t), "open")...)
	for _, name := range names {
		if name == "README.md" {
			found = append(found, "/docs", "/docs/")
		} else {
			found = append(found, "/docs/"+strings.TrimSuffix(name, ".md"))
		}
	}
	if len(found) < 6 {
		t.Fatalf("there are only %v", found)
	}
	return found
}

// links is every address that a page names.
func links(page *element) []string {
	var found []string
	page.all(func(e *element) {
		for _, name := range []string{"href", "src"} {
			if to, has := e.attr[name]; has {
				found = append(found, to)
			}
		}
	})
	return found
}

// forbidden is what the policy of the pages would not let work.
func forbidden(t *testing.T, page *element) {
	t.Helper()
	page.all(func(e *element) {
		own := e.name == "script" && strings.HasPrefix(e.attr["src"], "/docs/assets/docs-") || e.name == "form" && e.attr["action"] == "/docs/search"
		if slices.Contains([]string{"script", "style", "iframe", "object", "form"}, e.name) && !own {
			t.Errorf("there is a <%s>", e.name)
		}
		for name := range e.attr {
			if name == "style" || strings.HasPrefix(name, "on") {
				t.Errorf("<%s> has %s", e.name, name)
			}
		}
	})
	for _, to := range links(page) {
		if u, err := url.Parse(to); err != nil || u.IsAbs() && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
			t.Errorf("there is a link to %q: %v", to, err)
		}
	}
}

func TestPages(t *testing.T) {
	level.Repeats(t)
	d := newDocs(t)
	for _, path := range paths(t) {
		response, body := get(t, d, "GET", path)
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/html; charset=utf-8" || response.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s is answered with %d %v", path, response.StatusCode, response.Header)
		}
		page := read(t, body)
		page.byID(t)
		forbidden(t, page)
		if n := len(page.named("h1")); n != 1 {
			t.Errorf("%s has %d headings of the first rank", path, n)
		}
		current := 0
		page.all(func(e *element) {
			if e.attr["aria-current"] == "page" && e.attr["href"] == strings.TrimSuffix(path, "/") {
				current++
			}
		})
		if current != 2 { // the menu beside the page, and that of phones
			t.Errorf("%s stands in %d menus", path, current)
		}
		if len(page.named("title")) != 1 || !strings.Contains(page.named("title")[0].text.String(), "Beacon") {
			t.Errorf("%s has no title", path)
		}
	}
}

// No link between pages leads nowhere, and no anchor.
func TestLinks(t *testing.T) {
	level.Repeats(t)
	d := newDocs(t)
	// What others serve at the same address.
	served := []string{"/", "/open/api", "/v1/openapi.json", "/v1/openapi.yaml", "/api/v1/openapi.json", "/api/v1/openapi.yaml"}
	places := map[string]map[string]*element{} // of each page that is there
	pages := map[string]*element{}
	for _, path := range paths(t) {
		_, body := get(t, d, "GET", path)
		pages[path] = read(t, body)
		places[path] = pages[path].byID(t)
	}
	followed := 0
	for path, page := range pages {
		for _, to := range links(page) {
			u, err := url.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			if u.IsAbs() {
				continue
			}
			if u.Path == "" {
				u.Path = path
			}
			if slices.Contains(served, u.Path) {
				continue
			}
			if !strings.HasPrefix(u.Path, "/docs") {
				t.Errorf("%s links to %s, which is not served", path, to)
				continue
			}
			if response, _ := get(t, d, "GET", u.Path); response.StatusCode != 200 {
				t.Errorf("%s links to %s: %d", path, to, response.StatusCode)
			} else if u.Fragment != "" && places[u.Path][u.Fragment] == nil {
				t.Errorf("%s links to %s, and there is no such place", path, to)
			}
			followed++
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were followed", followed)
	}
}

// Guides link as files of a repository do.
func TestGuide_Links(t *testing.T) {
	guides := fstest.MapFS{
		"README.md": {Data: []byte("# Start\n\n[a](other.md#part-two) [b](../internal/api/openapi.yaml) [c](../deploy/monitoring/alerts.yml) [d *e*](../DECISIONS.md)" +
			" [f](gone.md) [g](#start) [h](https://example.org/x?y=1) [i](README.md) [j](/v1/openapi.yaml) [k](javascript:alert(1))\n")},
		"other.md": {Data: []byte("# Other\n\n## Part two\n")},
	}
	d, err := docsite.New(with(guides, config))
	if err != nil {
		t.Fatal(err)
	}
	_, body := get(t, d, "GET", "/docs")
	page := read(t, body)
	forbidden(t, page)
	var got []string
	for _, a := range page.named("article")[0].named("a") {
		got = append(got, strings.TrimSpace(a.text.String())+" "+a.attr["href"])
	}
	want := []string{
		"a /docs/other#part-two", "b /docs/api/network", "c /docs/files/packaging/monitoring/alerts.yml",
		"f /docs/gone", "g #start", "h https://example.org/x?y=1", "i /docs", "j /v1/openapi.yaml", "k ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the links are %q;\nwant %q", got, want)
	}
	if !strings.Contains(body, "d <em>e</em> <a") {
		t.Errorf("what leads nowhere is no text: %s", body)
	}
	if _, err := docsite.New(with(fstest.MapFS{"other.md": guides["other.md"]}, config)); err == nil {
		t.Error("without an index, there is no fault")
	}
}

func TestGuide_Markdown(t *testing.T) {
	source := "# A *title* with `code`\n\n<script>alert(1)</script>\n\nText with <img src=x onerror=alert(1)> and <b>tags</b>.\n\n" +
		"| left | right | |\n|---|--:|---|\n| a | 1 | <i> |\n\n```sh\necho '<&>' \"$X\"\n```\n\n    indented <pre>\n\n![picture](javascript:alert(1))\n\n![map](images/map.webp)\n"
	d, err := docsite.New(docsite.Config{
		Guides: fstest.MapFS{"README.md": {Data: []byte(source)}},
		Files:  []docsite.File{{Path: "images/map.webp", Source: "docs/images/map.webp", Type: "image/webp"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, body := get(t, d, "GET", "/docs")
	page := read(t, body)
	forbidden(t, page)
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;img src=x onerror=alert(1)&gt;", `<th align="right">right</th>`, `<td align="right">1</td>`, "<td></td>",
		"<pre tabindex=\"0\"><code>echo '&lt;&amp;&gt;' &quot;$X&quot;\n</code></pre>", "indented &lt;pre&gt;", `<img src="" alt="picture" />`,
		`<img src="/docs/files/images/map.webp" alt="map" />`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s:\n%s", want, body)
		}
	}
}

// As GitHub names them: the same link works there.
func TestSlug(t *testing.T) {
	for _, tc := range []struct {
		text string
		used []string
		want string
	}{
		{"What a day earns", nil, "what-a-day-earns"},
		{"`beacon serve`, and more", nil, "beacon-serve-and-more"},
		{"Don't panic: 3 + 4", nil, "dont-panic-3--4"},
		{"snake_case and Größe", nil, "snake_case-and-größe"},
		{"Again", []string{"again", "again-1"}, "again-2"},
	} {
		if got := docsite.Slug(tc.text, tc.used...); got != tc.want {
			t.Errorf("%q is named %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	d := newDocs(t)
	_, body := get(t, d, "GET", "/docs")
	all := append(links(read(t, body)), "/docs/nothing", "/docs/files/packaging/monitoring/alerts.yml")
	for _, path := range all {
		if !strings.HasPrefix(path, "/docs") {
			continue
		}
		response, _ := get(t, d, "GET", path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy": "geolocation=(), camera=(), microphone=(), payment=(), usb=()",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if strings.Contains(path, "/assets/") && response.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %v", path, response.Header)
		}
	}
}

func TestEncodingAndTags(t *testing.T) {
	d := newDocs(t)
	plain, body := get(t, d, "GET", "/docs/api/network")
	zipped, packed := get(t, d, "GET", "/docs/api/network", "Accept-Encoding", "gzip")
	reader, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(reader)
	if err != nil || string(unpacked) != body || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("packed, it is another page: %v", err)
	}
	if len(packed) > 10_000 {
		t.Errorf("the page is %d bytes long when it is packed", len(packed))
	}
	again, nothing := get(t, d, "GET", "/docs/api/network", "If-None-Match", plain.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || nothing != "" {
		t.Errorf("who has the page is answered with %d and %d bytes", again.StatusCode, len(nothing))
	}
	head, nothing := get(t, d, "HEAD", "/docs/api/network")
	if nothing != "" || head.Header.Get("Content-Length") != plain.Header.Get("Content-Length") {
		t.Errorf("HEAD is answered with %d bytes and %v", len(nothing), head.Header)
	}
	file, text := get(t, d, "GET", "/docs/files/packaging/monitoring/alerts.yml")
	if text != "groups: []\n" || file.Header.Get("Content-Type") != "application/yaml" {
		t.Errorf("the file is %q, %v", text, file.Header)
	}
}

func TestMissing(t *testing.T) {
	d := newDocs(t)
	for _, path := range []string{"/docs/nothing", "/docs/rewards/", "/docs/search/", "/docs/api/network/nothing", "/docs/rewards.md", "/docs/%72ewards", "/docs/api", "/docs//", "/docs/../docs/x"} {
		response, body := get(t, d, "GET", path)
		if response.StatusCode != 404 || response.Header.Get("Content-Type") != "text/html; charset=utf-8" || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s is answered with %d %v", path, response.StatusCode, response.Header)
		}
		if page := read(t, body); !page.shows("Page not found") {
			t.Errorf("%s is answered with %s", path, body)
		}
		if _, nothing := get(t, d, "HEAD", path); nothing != "" {
			t.Errorf("HEAD %s has a body", path)
		}
	}
}

func TestHandles(t *testing.T) {
	level.Repeats(t)
	d := newDocs(t)
	for _, tc := range []struct {
		method, path string
		want         bool
		route        string
	}{
		{"GET", "/docs", true, "GET /docs"},
		{"HEAD", "/docs/", true, "GET /docs"},
		{"GET", "/docs/rewards?x=1", true, "GET /docs/{page}"},
		{"GET", "/docs/api/preview", true, "GET /docs/api/{name}"},
		{"GET", "/docs/api/preview/hotspots", true, "GET /docs/api/{name}/{tag}"},
		{"GET", "/docs/search?q=x", true, "GET /docs/search"},
		{"GET", "/docs/files/packaging/monitoring/alerts.yml", true, "GET /docs/files/{path}"},
		{"GET", "/docs/a/b", true, "GET /docs/{missing}"},
		{"POST", "/docs", false, ""},
		{"OPTIONS", "/docs", false, ""},
		{"DELETE", "/docs/rewards", false, ""},
		{"GET", "/docsx", false, ""},
		{"GET", "/", false, ""},
		{"GET", "/v1/docs", false, ""},
	} {
		r := httptest.NewRequest(tc.method, tc.path, nil)
		if got := d.Handles(r); got != tc.want {
			t.Errorf("%s %s: %v", tc.method, tc.path, got)
		}
		if tc.want {
			if d.ServeHTTP(httptest.NewRecorder(), r); r.Pattern != tc.route {
				t.Errorf("%s %s is named %s", tc.method, tc.path, r.Pattern)
			}
		}
	}
}
