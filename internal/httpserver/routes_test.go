package httpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// The mux's own answers are text; ours must have the interface's shape.
func TestRoutes(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /things/{id}", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.PathValue("id"))) })
	mux.HandleFunc("PATCH /things/{id}", func(w http.ResponseWriter, r *http.Request) {})
	handler := httpserver.Routes(mux, refuse)
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
		body         string
	}{
		{"GET", "/things/7", 200, "", "7"},
		{"GET", "/things/a%2Fb", 200, "", "a/b"},
		{"GET", "/nothing", 404, "", "refused: Not Found\n"},
		{"GET", "/things/7/", 404, "", "refused: Not Found\n"},
		{"GET", "//things/7", 404, "", "refused: Not Found\n"},
		{"GET", "/things/../things/7", 404, "", "refused: Not Found\n"},
		{"DELETE", "/things/7", 405, "GET, HEAD, PATCH", "refused: Method Not Allowed\n"},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.status || w.Header().Get("Allow") != tc.allow || w.Body.String() != tc.body || w.Header().Get("Location") != "" {
			t.Errorf("%s %s: %d, Allow %q, %q; want %d, %q, %q", tc.method, tc.path,
				w.Code, w.Header().Get("Allow"), w.Body, tc.status, tc.allow, tc.body)
		}
	}
}

func TestHealth(t *testing.T) {
	var broken error
	var log bytes.Buffer
	health := &httpserver.Health{Log: slog.New(slog.NewTextHandler(&log, nil)), Checks: map[string]func(context.Context) error{
		"database": func(context.Context) error { return broken },
	}}
	handler := health.Handler(refuse)
	check := func(path string, status int, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status || strings.TrimSpace(w.Body.String()) != body {
			t.Errorf("%s answered %d %s; want %d %s", path, w.Code, w.Body, status, body)
		}
	}
	check("/healthz", 200, `{"status":"ok"}`)
	check("/readyz", 200, `{"status":"ok","checks":{"database":"ok"}}`)
	broken = fmt.Errorf("%w: it loads", httpserver.ErrStarting)
	check("/readyz", 503, `{"status":"unavailable","checks":{"database":"failed"}}`)
	if log.Len() > 0 {
		t.Errorf("a start is logged as %s", &log)
	}
	broken = errors.New("a secret address refused the connection")
	check("/readyz", 503, `{"status":"unavailable","checks":{"database":"failed"}}`)
	check("/readyz", 503, `{"status":"unavailable","checks":{"database":"failed"}}`)
	if n := strings.Count(log.String(), "a secret address"); n != 1 {
		t.Errorf("the log names the cause %d times; want once, when it began: %s", n, log.String())
	}
	check("/healthz", 200, `{"status":"ok"}`)
	broken = nil
	health.Drain()
	check("/readyz", 503, `{"status":"draining"}`)
	check("/healthz", 200, `{"status":"ok"}`)
}
