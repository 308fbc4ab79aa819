package main

import (
	"bytes"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	webconsole "github.com/beacon-wifi/beacon/console"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/openapi"
)

// aside are the routes that belong to no interface, and so to no OpenAPI
// document, with why anyone who reaches them may ask.
var aside = map[string]string{
	"GET /":                    "the console's page, the same for everyone: what it shows it asks of the interfaces, with the key of who looks",
	"GET /assets/{name}":       "what the page is made of",
	"GET /docs":                "the documentation, the same for everyone",
	"GET /docs/{page}":         "a guide",
	"GET /docs/api/{name}":     "an OpenAPI document, to be read by people",
	"GET /docs/assets/{name}":  "what the pages are made of",
	"GET /docs/files/{path}":   "files for monitoring and installation, as the repository has them",
	"GET /docs/{missing}":      "tells that there is no such page",
	"GET /healthz":             "for supervisors, who have no key; it tells that the process lives, and nothing else (decision X11)",
	"GET /readyz":              "for load balancers, who have no key; causes are for the log alone (decision X11)",
	"GET /metrics":             "on --admin-addr alone, which is for the operator of the process (decision X11)",
	"GET /debug/pprof/":        "on --admin-addr alone",
	"GET /debug/pprof/profile": "on --admin-addr alone",
	"GET /debug/pprof/symbol":  "on --admin-addr alone",
	"GET /debug/pprof/trace":   "on --admin-addr alone",
}

// served lists all routes of the public address, out of what the router sends
// requests to. Whoever adds a part to it that cannot tell its routes hears of it
// here.
func served(t *testing.T) []string {
	t.Helper()
	fixed, err := preview.New(preview.Config{KeyPrefix: "svc"})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := webconsole.New(webconsole.Config{})
	if err != nil {
		t.Fatal(err)
	}
	guides, err := serveCmd{}.docs("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	parts := reflect.ValueOf(newRouter(&httpserver.Health{}, fixed, api.New(api.Config{}), pages, guides)).Elem()
	var all []string
	for i := range parts.NumField() {
		field := parts.Field(i)
		open := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface() // the fields are not exported
		if _, answers := open.(http.Handler); !answers {
			continue
		}
		part, ok := open.(interface{ Routes() []string })
		if !ok || len(part.Routes()) == 0 {
			t.Fatalf("the router's %s cannot tell which routes it serves", parts.Type().Field(i).Name)
		}
		all = append(all, part.Routes()...)
	}
	return all
}

// Every route is in an OpenAPI document, or is known to be in none, with a reason.
func TestRoutes_EachIsKnown(t *testing.T) {
	var documented []string
	for _, text := range [][]byte{api.OpenAPI(), preview.OpenAPI()} {
		documented = append(documented, openapi.Load(t, text).Operations()...)
	}
	public := served(t)
	admin := adminHandler(metrics.New()).Routes()
	all := slices.Concat(public, admin)
	for _, route := range all {
		if inDocument, isAside := slices.Contains(documented, route), aside[route] != ""; inDocument == isAside {
			t.Errorf("%s is in an OpenAPI document: %t; is known to be in none: %t; want one of the two", route, inDocument, isAside)
		}
	}
	for _, route := range admin {
		if slices.Contains(public, route) {
			t.Errorf("%s is served to everyone", route)
		}
	}
	for route := range aside {
		if !slices.Contains(all, route) {
			t.Errorf("%s is not served any more", route)
		}
	}
	if len(public) < 36 || len(admin) < 5 {
		t.Errorf("found %d and %d routes; there are at least 36 and 5", len(public), len(admin))
	}
}

// fill names something in the place of each parameter of a route.
var fill = strings.NewReplacer("users/{id}", "users/me", "images/{name}", "images/1.svg", "{month}", "2026-10", "{z}", "14", "{x}", "4823", "{y}", "6160",
	"/api/v1/hotspots/{id}", "/api/v1/hotspots/7", "{id}", "hs_01kb3gzk00e9x8q6s5t4v3w2y1")

// Every operation asks for a key exactly where its document says so, and every
// answer, also to what is served nowhere, has the headers of all answers.
func TestRoutes_KeysAndHeaders(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil)
	defer p.stop(t)
	for _, text := range [][]byte{api.OpenAPI(), preview.OpenAPI()} {
		document := openapi.Load(t, text)
		for _, operation := range document.Operations() {
			schemes, _ := document.Needs(t, operation)
			method, path, _ := strings.Cut(operation, " ")
			status := askWithoutKey(t, method, p.url+fill.Replace(path))
			if asks := status == http.StatusUnauthorized; asks != (len(schemes) > 0 && method != http.MethodOptions) {
				t.Errorf("%s without a key is answered %d; the document names %v", operation, status, schemes)
			}
		}
	}
	for path, want := range map[string]int{
		"/v1/nope": 404, "/nope": 404, "/v1//keys": 404, "/healthz": 200, "/readyz": 200, "/healthz/": 404,
		"/v1/" + strings.Repeat("x", 9000): 400, "/" + strings.Repeat("x", 9000): 414,
	} {
		if status := askWithoutKey(t, http.MethodGet, p.url+path); status != want {
			t.Errorf("%.50s is answered %d; want %d", path, status, want)
		}
	}
	for _, path := range []string{"/v1/hotspots", "/api/v1/hotspots", "/", "/healthz"} {
		if status := askWithoutKey(t, http.MethodPut, p.url+path); status != http.StatusMethodNotAllowed {
			t.Errorf("PUT %s is answered %d; want 405", path, status)
		}
	}
}

// askWithoutKey sends a request and holds the answer to what is true of all.
func askWithoutKey(t *testing.T, method, url string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "https://evil.example")
	request.Header.Set("X-Request-Id", "mine\"}")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Server": "", "X-Powered-By": "",
		"Access-Control-Allow-Credentials": "",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s %.80s answered %d: %s is %q; want %q", method, url, response.StatusCode, name, got, want)
		}
	}
	if got := response.Header.Get("X-Request-Id"); !strings.HasPrefix(got, "req_") {
		t.Errorf("%s %.80s: X-Request-Id is %q", method, url, got)
	}
	if got := response.Header.Get("Content-Type"); body.Len() > 0 && response.StatusCode >= 400 && got != "application/json; charset=utf-8" {
		t.Errorf("%s %.80s answered %d with Content-Type %q", method, url, response.StatusCode, got)
	}
	if got := response.Header.Get("Access-Control-Allow-Origin"); strings.Contains(url, "/v1/") && !strings.Contains(url, "/api/") && got != "" {
		t.Errorf("%s %.80s lets pages of %s in", method, url, got)
	}
	return response.StatusCode
}
