package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// Health serves the two checks of a supervisor (decision X11): /healthz, is the process
// alive, and /readyz, should it receive requests.
type Health struct {
	// Checks run on every /readyz, by name; nil means ready, and ErrStarting not yet.
	Checks map[string]func(context.Context) error
	Log    *slog.Logger

	draining atomic.Bool
	failing  atomic.Bool // as of the last /readyz
}

// ErrStarting is returned by a check while the server starts. Nothing is wrong then, so it is
// not logged.
var ErrStarting = errors.New("the server is starting")

// checkTimeout is the deadline for all checks of one /readyz together.
const checkTimeout = 2 * time.Second

// Drain makes /readyz fail from now on, so that load balancers go elsewhere.
func (h *Health) Drain() { h.draining.Store(true) }

// Handler serves both paths.
func (h *Health) Handler(refuse ErrorWriter) *Site {
	return NewSite(map[string]http.Handler{
		"GET /healthz": http.HandlerFunc(h.alive),
		"GET /readyz":  http.HandlerFunc(h.ready),
	}, refuse)
}

func (h *Health) alive(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, http.StatusOK, health{Status: "ok"})
}

type health struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		writeHealth(w, http.StatusServiceUnavailable, health{Status: "draining"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	report := health{Status: "ok", Checks: map[string]string{}}
	status, failing := http.StatusOK, false
	for name, check := range h.Checks {
		report.Checks[name] = "ok"
		if err := check(ctx); err != nil {
			report.Status, status = "unavailable", http.StatusServiceUnavailable
			report.Checks[name] = "failed" // the cause is only for the log
			if errors.Is(err, ErrStarting) {
				continue
			}
			failing = true
			if !h.failing.Load() {
				h.Log.Warn("not ready", "check", name, "err", err)
			}
		}
	}
	h.failing.Store(failing)
	writeHealth(w, status, report)
}

func writeHealth(w http.ResponseWriter, status int, report health) {
	w.Header().Set("Cache-Control", "no-store")
	MarkAsData(w.Header())
	if err := WriteJSON(w, status, report); err != nil {
		panic(err) // cannot happen: it holds only strings
	}
}
