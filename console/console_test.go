package console_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/console"
)

func newConsole(t *testing.T) *console.Console {
	t.Helper()
	c, err := console.New(console.Config{DemoKey: `svc_test_"demo"<1>`})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks as a client that takes only what the header says.
func get(t *testing.T, c *console.Console, method, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if !c.Handles(r) {
		t.Fatalf("%s %s is not the console's", method, path)
	}
	c.ServeHTTP(w, r)
	response := w.Result()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

var assetPath = regexp.MustCompile(`"(/assets/[^"]+)"`)

// assets lists what is served beside the page.
func assets(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("dist/assets")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, "/assets/"+e.Name())
	}
	if len(paths) < 5 {
		t.Fatalf("there are only %d assets", len(paths))
	}
	return paths
}

func TestPage(t *testing.T) {
	c := newConsole(t)
	response, body := get(t, c, http.MethodGet, "/")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the page is answered with %d %v", response.StatusCode, response.Header)
	}
	if got := response.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control: %s", got)
	}
	if want := `content="svc_test_&#34;demo&#34;&lt;1&gt;"`; !bytes.Contains(body, []byte(want)) {
		t.Errorf("the page has no %s: %s", want, body)
	}
	// The policy forbids what stands in the page itself.
	for _, inline := range []string{`<script>`, `<style`, ` style=`, `{{`, "http:", "https:", ` on[a-z]+=`} {
		if regexp.MustCompile(inline).Match(body) {
			t.Errorf("the page contains %s", inline)
		}
	}
	named := assetPath.FindAllSubmatch(body, -1)
	if len(named) < 3 {
		t.Fatalf("the page names %d assets", len(named))
	}
	for _, path := range named {
		get(t, c, http.MethodGet, string(path[1]))
	}
}

func TestSecurityHeaders(t *testing.T) {
	c := newConsole(t)
	for _, path := range append(assets(t), "/") {
		response, _ := get(t, c, http.MethodGet, path)
		policy := response.Header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy": "geolocation=(self), camera=(), microphone=(), payment=(), usb=()",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// Only the origin of a foreign style may be asked, and for no scripts.
func TestStyleOrigin(t *testing.T) {
	c, err := console.New(console.Config{Basemap: &console.Basemap{Style: "https://tiles.example.org:8443/style.json?key=1"}})
	if err != nil {
		t.Fatal(err)
	}
	response, body := get(t, c, http.MethodGet, "/")
	policy := response.Header.Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self';", "connect-src 'self' https://tiles.example.org:8443;", "img-src 'self' data: https://tiles.example.org:8443;"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if !bytes.Contains(body, []byte(`{&#34;style&#34;:&#34;https://tiles.example.org:8443/style.json?key=1&#34;}`)) {
		t.Errorf("the page does not name the style: %s", body)
	}
	for _, bad := range []string{"tiles.example.org/style.json", "ftp://x/style.json", "https:///style.json", "https://*/style.json", "https://a;b/style.json"} {
		if _, err := console.New(console.Config{Basemap: &console.Basemap{Style: bad}}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestAssets(t *testing.T) {
	c := newConsole(t)
	for _, path := range assets(t) {
		plain, body := get(t, c, http.MethodGet, path)
		file, err := os.ReadFile("dist" + path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body, file) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is not the file", path)
		}
		if got := plain.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control: %s", path, got)
		}
		if name := regexp.MustCompile(`-[0-9A-Z]{8}\.[a-z]+$`); !name.MatchString(path) {
			t.Errorf("%s may be kept for ever, and has no hash in its name", path)
		}

		zipped, packed := get(t, c, http.MethodGet, path, "Accept-Encoding", "br, gzip;q=0.5")
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if unpacked, err := io.ReadAll(reader); err != nil || !bytes.Equal(unpacked, file) {
			t.Errorf("%s is not the file when it is packed: %v", path, err)
		}
		if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("Vary") != "Accept-Encoding" || zipped.Header.Get("ETag") == plain.Header.Get("ETag") {
			t.Errorf("%s: packed, its header is %v", path, zipped.Header)
		}
	}
}

func TestEncodings(t *testing.T) {
	c := newConsole(t)
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "GZIP": "gzip", "deflate, gzip": "gzip", "br": "", "gzip;q=0": "", "gzip; q=0.0": "", "gzip;q=nonsense": "", "identity;q=1, gzip; q=0.1": "",
		"identity;q=0.1, gzip; q=0.2": "gzip", "gzip, deflate, br, zstd": "zstd",
	} {
		response, _ := get(t, c, http.MethodGet, "/", "Accept-Encoding", accept)
		if got := response.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q is answered with %q, want %q", accept, got, want)
		}
	}
}

// Who has the page gets no body.
func TestConditional(t *testing.T) {
	c := newConsole(t)
	for _, encoding := range []string{"identity", "gzip"} {
		first, _ := get(t, c, http.MethodGet, "/", "Accept-Encoding", encoding)
		tag := first.Header.Get("ETag")
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			again, body := get(t, c, http.MethodGet, "/", "Accept-Encoding", encoding, "If-None-Match", known)
			if again.StatusCode != http.StatusNotModified || len(body) != 0 || again.Header.Get("ETag") != tag || again.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("If-None-Match %s is answered with %d %v", known, again.StatusCode, again.Header)
			}
		}
		if again, _ := get(t, c, http.MethodGet, "/", "Accept-Encoding", encoding, "If-None-Match", `"other"`); again.StatusCode != http.StatusOK {
			t.Errorf("another tag is answered with %d", again.StatusCode)
		}
	}
}

func TestHead(t *testing.T) {
	c := newConsole(t)
	whole, body := get(t, c, http.MethodGet, "/")
	head, nothing := get(t, c, http.MethodHead, "/")
	if len(nothing) != 0 || head.Header.Get("Content-Length") != whole.Header.Get("Content-Length") || len(body) == 0 {
		t.Errorf("HEAD is answered with %d bytes and %v", len(nothing), head.Header)
	}
}

// What is not the console's is left to others.
func TestHandles(t *testing.T) {
	c := newConsole(t)
	asset := assets(t)[0]
	for _, tc := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/", true},
		{"HEAD", "/", true},
		{"GET", "/?from=mail", true},
		{"GET", asset, true},
		{"GET", "/oidc?code=x&state=y", true},
		{"POST", "/oidc", false},
		{"POST", "/", false},
		{"OPTIONS", "/", false},
		{"GET", "/index.html", false},
		{"GET", "/assets", false},
		{"GET", "/assets/", false},
		{"GET", "/assets/../index.html", false},
		{"GET", "/assets/nothing.js", false},
		{"GET", "//", false},
		{"GET", strings.Replace(asset, "/assets/", "/assets%2f", 1), false},
		{"GET", "/v1/hotspots", false},
		{"GET", "/api/v1/hotspots", false},
	} {
		if got := c.Handles(httptest.NewRequest(tc.method, tc.path, nil)); got != tc.want {
			t.Errorf("%s %s: %v", tc.method, tc.path, got)
		}
	}
}

// A phone on a poor line must not wait: beside the map library, the first load
// is at most 400 KB. Charts come later, and licences to who asks for them.
func TestFirstLoad(t *testing.T) {
	c := newConsole(t)
	var library, rest int
	for _, path := range append(assets(t), "/") {
		_, packed := get(t, c, http.MethodGet, path, "Accept-Encoding", "gzip")
		switch {
		case strings.HasPrefix(path, "/assets/maplibre-gl"):
			library += len(packed)
		case !strings.HasPrefix(path, "/assets/uPlot") && !strings.HasPrefix(path, "/assets/licences"):
			rest += len(packed)
		}
	}
	t.Logf("the map library: %d bytes, everything else: %d", library, rest)
	if library == 0 || rest > 400_000 {
		t.Errorf("the first load is %d bytes beside the map library of %d", rest, library)
	}
}

// Everything that the pages are built from has its version and its licence told: what npm
// has locked, and the data.
func TestLicences(t *testing.T) {
	found, err := filepath.Glob("dist/assets/licences-*.txt")
	if err != nil || len(found) != 1 {
		t.Fatalf("there are the files of licences %v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	locked, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version      string
			Dependencies map[string]string
		}
	}
	if err := json.Unmarshal(locked, &lock); err != nil {
		t.Fatal(err)
	}
	names := []string{"earcut ", "Natural Earth", "City Planning"}
	for name := range lock.Packages[""].Dependencies {
		names = append(names, name+" "+lock.Packages["node_modules/"+name].Version+" (")
	}
	if len(names) < 3+5 {
		t.Fatalf("the pages depend on %d packages", len(names)-3)
	}
	for _, name := range names {
		if !strings.Contains(string(text), name) {
			t.Errorf("no licence is told of %s", name)
		}
	}
}

// The page says where the map of a public network begins, as it is when it is asked for. That
// of the preview does not.
func TestPage_Start(t *testing.T) {
	var start console.Start
	c, err := console.New(console.Config{Start: func() console.Start { return start }})
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, tc := range []struct {
		start console.Start
		want  string
	}{
		{console.Start{}, `content="{}"`},
		{console.Start{Box: &[4]float64{178, -18, 181, -16}}, `content="{&#34;box&#34;:[178,-18,181,-16]}"`},
		{console.Start{View: &console.View{Lat: 52.52, Lng: 13.4, Zoom: 11}}, `content="{&#34;view&#34;:{&#34;lat&#34;:52.52,&#34;lng&#34;:13.4,&#34;zoom&#34;:11}}"`},
	} {
		start = tc.start
		response, body := get(t, c, http.MethodGet, "/")
		if !bytes.Contains(body, []byte(`name="beacon-start" `+tc.want)) || bytes.Contains(body, []byte("{{")) {
			t.Errorf("the page has no %s: %s", tc.want, body)
		}
		tags[response.Header.Get("Etag")] = true
		if again, _ := get(t, c, http.MethodGet, "/", "If-None-Match", response.Header.Get("Etag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("the same page is sent again: %d", again.StatusCode)
		}
	}
	if len(tags) != 3 {
		t.Errorf("three pages have %d tags", len(tags))
	}
	if _, body := get(t, c, http.MethodGet, "/preview"); !bytes.Contains(body, []byte(`name="beacon-start" content=""`)) || !bytes.Contains(body, []byte(`name="beacon-preview" content="yes"`)) {
		t.Errorf("the preview's page: %s", body)
	}
}

// The page is titled as the network is called now, whatever that is.
func TestPage_Identity(t *testing.T) {
	who := console.Identity{Name: "Beacon", Color: "#0b62ba"}
	c, err := console.New(console.Config{PublicURL: "http://wifi.test", Identity: func() console.Identity { return who }})
	if err != nil {
		t.Fatal(err)
	}
	_, before := get(t, c, http.MethodGet, "/")
	who = console.Identity{Name: `</title><script>"'{{start}}`, Description: "\"><b>&", Contact: "a@example.org", ContactLink: "mailto:a@example.org", Color: "#dc0067", Logo: true}
	_, body := get(t, c, http.MethodGet, "/")
	const name = `&lt;/title&gt;&lt;script&gt;&#34;&#39;{{start}}`
	for _, want := range []string{
		"<title>" + name + "</title>", `property="og:title" content="` + name + `"`, `name="description" content="&#34;&gt;&lt;b&gt;&amp;"`,
		`name="theme-color" content="#dc0067"`, `property="og:url" content="http://wifi.test/"`, `property="og:image" content="http://wifi.test/card.png"`,
		`&#34;contact_link&#34;:&#34;mailto:a@example.org&#34;`, `&#34;logo&#34;:true`, `\u003c/title\u003e`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("the page has no %s: %s", want, body)
		}
	}
	if bytes.Contains(body, []byte("<b>")) || bytes.Count(body, []byte("<script")) != bytes.Count(before, []byte("<script")) {
		t.Errorf("the name is markup: %s", body)
	}
	if !bytes.Contains(before, []byte("<title>Beacon</title>")) {
		t.Errorf("without a name: %s", before)
	}
	if _, preview := get(t, c, http.MethodGet, "/preview"); !bytes.Contains(preview, []byte("<title>Beacon</title>")) || bytes.Contains(preview, []byte("{{")) {
		t.Errorf("the preview's page: %s", preview)
	}
}
