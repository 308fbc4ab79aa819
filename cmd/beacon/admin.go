package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/beacon-wifi/beacon/metrics"
	"github.com/beacon-wifi/beacon/web"
)

// adminHandler serves what only the operator of the process may see.
func adminHandler(measured *metrics.Set) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", measured.Handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

func serveAdmin(ctx context.Context, ln net.Listener, handler http.Handler, log *slog.Logger) error {
	srv := web.NewServer(handler, log)
	srv.WriteTimeout = time.Minute // a CPU profile takes its time
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
