package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/openapi"
)

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
	if got := response.Header.Get("Content-Type"); body.Len() > 0 && response.StatusCode >= 400 &&
		got != "application/json" && got != "application/json; charset=utf-8" { // the network API's, the preview's
		t.Errorf("%s %.80s answered %d with Content-Type %q", method, url, response.StatusCode, got)
	}
	if got := response.Header.Get("Access-Control-Allow-Origin"); strings.Contains(url, "/v1/") && !strings.Contains(url, "/api/") && got != "" {
		t.Errorf("%s %.80s lets pages of %s in", method, url, got)
	}
	return response.StatusCode
}
