package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
)

// adminHandler serves what only the operator of the process may see.
func adminHandler(measured *metrics.Set) *httpserver.Site {
	return httpserver.NewSite(map[string]http.Handler{
		"GET /metrics":             measured.Handler(),
		"GET /debug/pprof/":        http.HandlerFunc(pprof.Index),
		"GET /debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"GET /debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
		"GET /debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
	}, nil)
}

const notAdmin = "The admin interface is served only by its address, as localhost, and by the names in --admin-hosts."

func serveAdmin(ctx context.Context, ln net.Listener, hosts []string, handler http.Handler, log *slog.Logger) error {
	srv := httpserver.NewServer(httpserver.OnlyHosts(hosts, notAdmin, handler), log)
	srv.WriteTimeout = time.Minute                             // a CPU profile takes long
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })() // no draining
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
