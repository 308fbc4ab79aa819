package node

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// The documentation is there before the hotspots are; what it does not answer is
// answered as before.
func TestRouter_DocsBeforeLoading(t *testing.T) {
	pages, err := newPages(ServerConfig{Config: Config{PublicURL: "http://x"}, PreviewKeyPrefix: "svc"}, known{})
	if err != nil {
		t.Fatal(err)
	}
	rt := newRouter(&httpserver.Health{}, nil, openInterfaces{}, pages)
	for _, tc := range []struct {
		method, path string
		status       int
		contains     string
	}{
		{"GET", "/docs", 200, "Beacon documentation"},
		{"GET", "/docs/api/preview", 200, "svc_test_demo01"},
		{"POST", "/docs", 405, `"error":"Method not allowed"`},
		{"OPTIONS", "/docs", 204, ""},
		{"GET", "/docsx", 404, `"error":"Not found"`},
		{"GET", "/basemap.pmtiles", 404, `"error":"Not found"`}, // there is no file
		{"GET", "/open", 404, `"error":"Not found"`},            // without --public it is a path like any other
		{"GET", "/h/hs_1", 404, `"error":"Not found"`},
		{"GET", "/open/hotspots.geojson", 404, `"error":"Not found"`},
		{"POST", "/open/tiles.json", 405, `"error":"Method not allowed"`},
	} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.contains) {
			t.Errorf("%s %s answered %d %.200s", tc.method, tc.path, w.Code, w.Body)
		}
	}
}

// The documentation looks like the console: it has the same colours and the same icon.
func TestPages_DocsLookLikeTheConsole(t *testing.T) {
	pages, err := newPages(ServerConfig{Config: Config{PublicURL: "http://x"}, PreviewKeyPrefix: "svc"}, known{})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		w := httptest.NewRecorder()
		pages.docs.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Body.String()
	}
	page := get("/docs")
	for pattern, want := range map[string][]byte{`/docs/assets/docs-\w+\.css`: console.Tokens, `/docs/assets/icon-\w+\.svg`: console.Icon} {
		path := regexp.MustCompile(pattern).FindString(page)
		if len(want) == 0 || !strings.HasPrefix(get(path), string(want)) {
			t.Errorf("%q, which is to match %s, begins with %.200s", path, pattern, get(path))
		}
	}
}
