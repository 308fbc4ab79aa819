package docsite_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// found returns the links and snippets that a search shows.
func found(t *testing.T, d *docsite.Docs, query string) (links, snippets []string) {
	t.Helper()
	response, body := get(t, d, "GET", "/docs/search?q="+url.QueryEscape(query))
	if response.StatusCode != 200 || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the search for %q is answered with %d %v", query, response.StatusCode, response.Header)
	}
	page := read(t, body)
	forbidden(t, page)
	for _, list := range page.named("ol") {
		for _, hit := range list.named("li") {
			links = append(links, hit.named("a")[0].attr["href"])
			snippets = append(snippets, strings.Join(strings.Fields(hit.named("p")[0].text.String()), " "))
		}
	}
	return links, snippets
}

func TestSearch(t *testing.T) {
	level.Repeats(t)
	d := newDocs(t)
	for query, want := range map[string]string{
		"what a day earns":        "/docs/rewards#what-a-day-earns",
		"WHAT  a DAY earns":       "/docs/rewards#what-a-day-earns",
		"Find hotspots nearby":    "/docs/api/network/hotspots#op-findNearbyHotspots",
		"SettingsForm":            "/docs/api/network/schemas#schema-SettingsForm",
		"beacon backup":           "/docs/backup#sqlite",
		"svc_test_":               "/docs/quickstart-apps#the-preview-no-key-to-ask-for",
		"zzzz-no-such-word":       "",
		"":                        "",
		"<script>alert(1)":        "",
		"\xff\xfe":                "",
		strings.Repeat("a ", 200): "*",
	} {
		links, _ := found(t, d, query)
		if want == "*" {
			continue // any answer, but one
		}
		if want == "" && len(links) > 0 || want != "" && (len(links) == 0 || links[0] != want) {
			t.Errorf("the search for %q finds %q; want %q first", query, links, want)
		}
	}
}

// Headings count more than text, and a section must have all the words.
func TestSearch_Order(t *testing.T) {
	guides := fstest.MapFS{"README.md": {Data: []byte("# Start\n\nOn wolves.\n\n## Cats\n\nA cat, a Größe, a wolf and a wolf.\n\n## Wolves\n\nThey howl & <b>run</b>.\n\n### Dens\n\n| wolf | den |\n|---|---|\n| grey | 1 |\n\n```sh\nden --deep\n```\n")}}
	d, err := docsite.New(docsite.Config{Guides: guides})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ query, links, snippet string }{
		{"wol", "/docs#wolves /docs#cats /docs /docs#dens", "They howl & <b>run</b>."},
		{"wolf GREY", "/docs#dens", "wolf den grey 1 den --deep"},
		{"größe", "/docs#cats", "A cat, a Größe, a wolf and a wolf."},
		{"wolf nothing", "", ""},
	} {
		links, snippets := found(t, d, tc.query)
		if got := strings.Join(links, " "); got != tc.links {
			t.Errorf("%q finds %q, want %q", tc.query, got, tc.links)
		}
		if tc.snippet != "" && (len(snippets) == 0 || wordsOf(snippets[0]) != wordsOf(tc.snippet)) {
			t.Errorf("%q shows %q, want %q", tc.query, snippets, tc.snippet)
		}
	}
}

// What is typed wrongly is found, and the page says what it took it for. What is there is
// taken as it is.
func TestSearch_Typos(t *testing.T) {
	guides := fstest.MapFS{"README.md": {Data: []byte("# Start\n\n## Heartbeats\n\nA heartbeat of a device, each minute. An address.\n\n## Verification\n\nStaff verify a hotspot. Many hotspots.\n")}}
	d, err := docsite.New(docsite.Config{Guides: guides})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ query, links, instead string }{
		{"heartbaet", "/docs#heartbeats", "heartbeat"}, // neighbours
		{"hartbeat", "/docs#heartbeats", "heartbeat"},  // one is missing
		{"hearrtbbeat", "/docs#heartbeats", "heartbeat"},
		{"adress", "/docs#heartbeats", "address"},
		{"Verfica", "/docs#verification", "verification"}, // which is not typed to its end
		{"hotspts", "/docs#verification", "hotspots"},
		{"hotpsot staff", "/docs#verification", "hotspot staff"},
		{"heart", "/docs#heartbeats", ""},
		{"xyzzy", "", ""},
		{"hxrtbxxt", "", ""}, // three
		{"stf", "", ""},      // too short
		{strings.Repeat("hotpsot ", 9), "", ""},
	} {
		_, body := get(t, d, "GET", "/docs/search?q="+url.QueryEscape(tc.query))
		links, _ := found(t, d, tc.query)
		if got := strings.Join(links, " "); got != tc.links {
			t.Errorf("%q finds %q, want %q", tc.query, got, tc.links)
		}
		if says := strings.Contains(body, "This is for “<strong>"+tc.instead+"</strong>”"); says != (tc.instead != "") {
			t.Errorf("%q: says what it was taken for: %t", tc.query, says)
		}
	}
}

// The places alone are for the field, while someone types.
func TestSearch_Alone(t *testing.T) {
	d := newDocs(t)
	_, body := get(t, d, "GET", "/docs/search?only=hits&q=hotspot")
	if strings.Contains(body, "<html") || strings.Contains(body, "<h1") || strings.Count(body, "<li>") != 8 {
		t.Errorf("the places alone are %q", body)
	}
	if _, body := get(t, d, "GET", "/docs/search?only=hits&q=<b>zzzzz"); !strings.Contains(body, "&lt;b&gt;zzzzz") {
		t.Errorf("nothing is %q", body)
	}
}

// The reader's own network has its address in guides; a server that the reader starts as a
// guide says keeps the one that it has.
func TestGuide_Address(t *testing.T) {
	cfg := config
	cfg.PublicURL = "https://network.test"
	guides := fstest.MapFS{"README.md": {Data: []byte("# Start\n\n```sh server\nbeacon serve\n```\n\n```sh\ncurl http://127.0.0.1:8080/v1\ncurl https://beacon.example.org/v1\n```\n")}}
	d, err := docsite.New(with(guides, cfg))
	if err != nil {
		t.Fatal(err)
	}
	_, body := get(t, d, "GET", "/docs")
	if want := "curl http://127.0.0.1:8080/v1\ncurl https://network.test/v1\n"; !strings.Contains(body, want) {
		t.Errorf("the page does not have %q:\n%s", want, body)
	}
	if d, err = docsite.New(cfg); err != nil {
		t.Fatal(err)
	}
	for path, names := range map[string]bool{"/docs/agent": true, "/docs/quickstart-devices": true, "/docs/quickstart-operators": true, "/docs/quickstart-apps": true, "/docs/run-single-node": false} {
		_, body := get(t, d, "GET", path)
		if strings.Contains(body, "https://network.test") != names || strings.Contains(body, "beacon.example.org") || !strings.Contains(body, "http://127.0.0.1:8080") {
			t.Errorf("%s has the wrong addresses", path)
		}
	}
}
