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
	idleTimeout       = 90 * time.Second // a device that beats every 60 s keeps its connection
	maxHeaderBytes    = 16 << 10         // net/http adds 4 KiB of slack
	maxConnections    = 10_000
)

// The three steps of a drain: for drainNotice, answers tell their clients to
// reconnect elsewhere while new requests are still served; then nobody new is
// let in, and whoever was let in last has drainLinger to ask (http.Server's
// Shutdown alone would close a fresh connection after reading its request);
// then those in flight get drainPatience to finish.
const (
	drainNotice   = 250 * time.Millisecond
	drainLinger   = 250 * time.Millisecond
	drainPatience = 9 * time.Second
)

// Serve answers requests on ln through front until ctx ends, then drains: no
// request that was accepted is cut off, short of drainPatience.
func Serve(ctx context.Context, ln net.Listener, front *Front) error {
	srv := NewServer(front, front.Log)
	door := limitListener(ln, maxConnections)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(door) }()

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
	_ = door.Close() // Serve ends with an error that tells nothing new
	<-failed
	time.Sleep(drainLinger)
	patience, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	err := srv.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were cut off: they outlasted the drain"), srv.Close())
	}
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
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),

		// Otherwise net/http answers "OPTIONS *" before any handler sees it.
		DisableGeneralOptionsHandler: true,
	}
}
