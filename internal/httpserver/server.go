package httpserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver/fastpath"
)

// The limits of a connection. A client that sends its request too slowly, or does not
// read its response, is disconnected.
const (
	readHeaderTimeout = 5 * time.Second
	writeTimeout      = 15 * time.Second
	readTimeout       = 9 * time.Second  // plus up to one second on the fast path before
	idleTimeout       = 90 * time.Second // a device that beats every 60 s keeps its connection
	maxConnections    = 10_000
)

// The three steps of a drain. For drainNotice, responses tell clients to reconnect
// elsewhere while new requests are still served. Then no connection is accepted, and the
// last ones accepted have drainLinger to send a request (http.Server's Shutdown alone
// would close a new connection after reading its request). Then requests in flight have
// drainPatience to finish.
const (
	drainNotice   = 250 * time.Millisecond
	drainLinger   = 250 * time.Millisecond
	drainPatience = 9 * time.Second
)

// Times replaces limits of time, for tests that cannot leave them to the clock. A zero value
// leaves one as it is.
type Times struct {
	Read   time.Duration    // that a client has for its request
	Notice <-chan time.Time // ends the notice of a drain
	Finish time.Duration    // the patience of a drain
}

// Serve serves requests on ln through front until ctx ends, then drains: no accepted
// request is cut off within drainPatience.
func Serve(ctx context.Context, ln net.Listener, front *Handler) error {
	// Connections pass door, which counts them, and then fast. What fast cannot serve goes
	// to net/http: at once through its Accept, or later through others.
	srv := NewServer(front, front.Log)
	srv.ReadTimeout = cmp.Or(front.Times.Read, readTimeout)
	door := limitListener(ln, maxConnections)
	door.shares = newShares(front.MaxConnections, front.Proxies, &front.refused)
	others := newHandover(door.Addr(), front.draining.Load)
	fast := fastpath.New(door, front.fastPath(others))
	var all sync.WaitGroup
	defer all.Wait()
	watching, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	all.Go(func() { fast.Run(watching) })
	all.Go(func() { _ = srv.Serve(others) }) // returns when the server stops
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(fast) }()

	err := serveUntil(ctx, front, fast, failed)
	if err != nil {
		fast.CloseAll()
		_ = srv.Close() // the first error is the one that counts
		return err
	}
	ending, cancel := context.WithTimeout(context.Background(), cmp.Or(front.Times.Finish, drainPatience))
	defer cancel()
	err = fast.Drain(ending)
	if err == nil && others.handed.Load() {
		time.Sleep(drainLinger) // net/http must register them first
	}
	err = errors.Join(err, srv.Shutdown(ending))
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("the drain timed out and requests were cut off"), srv.Close())
	}
	return err
}

func (f *Handler) fastPath(others *handover) fastpath.Config {
	return fastpath.Config{
		Handler: f, Idle: idleTimeout, Write: writeTimeout, ConnContext: withConn, HandOver: others.give, Log: f.Log, Off: f.NoFastPath,
	}
}

// serveUntil waits for ctx to end, then runs the drain up to the point where no new
// connection is accepted. If the server fails first, it returns the error.
func serveUntil(ctx context.Context, front *Handler, door net.Listener, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	front.draining.Store(true)
	select {
	case err := <-failed:
		return err
	case <-cmp.Or(front.Times.Notice, time.After(drainNotice)):
	}
	_ = door.Close() // Serve returns an error that says nothing new
	<-failed
	time.Sleep(drainLinger)
	return nil
}

// NewServer returns a server with the limits of this package.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    MaxHeaderBytes, // not exact: see framing
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),

		// Otherwise net/http handles "OPTIONS *" before any handler sees it.
		DisableGeneralOptionsHandler: true,
	}
}
