package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits of a connection. A client that trickles its request, or does not
// read its answer, is let go.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10 // net/http adds 4 KiB of slack
	maxConnections    = 10_000
)

// The two steps of a drain: for drainNotice, answers tell their clients to
// reconnect elsewhere while new requests are still served; then those in
// flight get drainPatience to finish.
const (
	drainNotice   = 250 * time.Millisecond
	drainPatience = 10 * time.Second
)

// Serve answers requests on ln through front until ctx ends, then drains: no
// request that was accepted is cut off, short of drainPatience.
func Serve(ctx context.Context, ln net.Listener, front *Front) error {
	srv := NewServer(front, front.Log)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(limitListener(ln, maxConnections)) }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	front.draining.Store(true)
	select {
	case err := <-failed:
		return err
	case <-time.After(drainNotice):
	}
	patience, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	err := srv.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were cut off: they outlasted the drain"), srv.Close())
	}
	<-failed
	return err
}

// NewServer gives a server with the limits of this package.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),

		// Otherwise net/http answers "OPTIONS *" before any handler sees it.
		DisableGeneralOptionsHandler: true,
	}
}
