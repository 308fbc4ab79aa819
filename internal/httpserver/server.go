package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of a connection. A client that trickles its request, or does not
// read its answer, is let go.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 9 * time.Second // and up to one in the lane before
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
	door.shares = newShares(front.MaxConnections, front.Proxies, &front.refused)
	fast := newLane(door, front)
	var all sync.WaitGroup
	defer all.Wait()
	watching, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	all.Go(func() { fast.watch(watching) })
	all.Go(func() { _ = srv.Serve(fast.foreign) }) // ends with the server
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(fast) }()

	err := serveUntil(ctx, front, fast, failed)
	if err != nil {
		fast.close()
		_ = srv.Close() // what failed first is what counts
		return err
	}
	patience, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	err = errors.Join(fast.drain(patience), srv.Shutdown(patience))
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were cut off: they outlasted the drain"), srv.Close())
	}
	return err
}

// serveUntil waits for ctx to end and goes through the steps of a drain up to
// where nobody new is let in, or returns why the server failed.
func serveUntil(ctx context.Context, front *Front, door net.Listener, failed <-chan error) error {
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
	return nil
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
