package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/id"
)

// MaxURLBytes is the maximum length of a request target, and MaxHeaderBytes that of the
// request line and the headers, without the empty line at their end.
const (
	MaxURLBytes    = 8 << 10
	MaxHeaderBytes = 16 << 10
)

const requestIDHeader = "X-Request-Id"

// ErrorWriter responds with an error of the given status, in the format of the API that the
// request was for. It is called where no handler of that API runs: an unknown
// path, a method that is not allowed (the Allow header is then already set), a URL that
// is too long, a panic.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, status int)

// Handler is the first handler of a server. Every request and every response passes
// through it, whatever goes wrong.
type Handler struct {
	Next    http.Handler
	Refuse  ErrorWriter
	Now     func() time.Time
	Log     *slog.Logger
	Observe func(*http.Request, RequestInfo) // called once per request, after the response

	Proxies        Proxies // trusted to name the client in X-Forwarded-For; none by default
	MaxConnections int     // at a time, per IPv4 address or IPv6 /64; 0 for no limit
	NoFastPath     bool    // net/http serves all requests; see package fastpath
	Times          Times

	draining atomic.Bool
	refused  atomic.Int64 // connections over MaxConnections
	unnamed  atomic.Bool  // a proxy that is not trusted was noticed
}

// Refused returns how many connections were closed immediately because their address
// had reached MaxConnections.
func (f *Handler) Refused() int64 { return f.refused.Load() }

// RequestInfo describes a request and its response.
type RequestInfo struct {
	RequestID string
	Began     time.Time
	Status    int
	Bytes     int64 // of the body
	Took      time.Duration
}

// RequestID returns the id under which the response on w is logged. It is read from the
// response header, which every handler has.
func RequestID(w http.ResponseWriter) string {
	if ids := w.Header()[requestIDHeader]; len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// ServeHTTP assigns a request id, refuses what no API should see, and calls the
// next handler.
func (f *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := f.Now()
	f.findClient(r)
	out := &recorder{ResponseWriter: w}
	conn := connOf(r)
	if _, ok := w.(interface{ SendsWhole() }); !ok && conn != nil {
		out.conn = conn
		var stop context.CancelFunc
		r, stop = conn.presence.watch(r)
		defer stop()
	}
	// Request ids are not secret, so the fast generator will do. Ids from clients
	// are not used: ours are unique and have one format.
	requestID := id.Format("req_", began, rand.Uint64(), rand.Uint64())
	out.Header()[requestIDHeader] = []string{requestID}
	if f.draining.Load() || conn != nil && conn.endsAfter(r) {
		out.Header()["Connection"] = closeConnection
	}

	complete := f.respond(out, r)
	f.Observe(r, RequestInfo{
		RequestID: requestID,
		Began:     began,
		Status:    out.status,
		Bytes:     out.bytes,
		Took:      f.Now().Sub(began),
	})
	if !complete {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
}

// findClient replaces the address of a trusted proxy with the client's. It warns once of a
// neighbour that forwards requests and is not trusted: somebody forgot to name it.
func (f *Handler) findClient(r *http.Request) {
	if len(r.Header[forwardedFor]) == 0 {
		return
	}
	switch peer := Client(r); {
	case f.Proxies.trusts(peer):
		f.Proxies.resolve(r)
	case (peer.IsLoopback() || peer.IsPrivate()) && f.unnamed.CompareAndSwap(false, true):
		f.Log.Warn("a proxy that is not trusted forwards requests: all clients behind it share the limits of one address; name it with --trusted-proxies", "proxy", peer)
	}
}

var closeConnection = []string{"close"}

// respond runs the handler. If the handler panics after it began its response, the
// response can only be cut off: respond then returns false.
func (f *Handler) respond(out *recorder, r *http.Request) (complete bool) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			f.Log.Error("panic in a handler", "request_id", RequestID(out), "route", r.Pattern,
				"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
		if out.status == 0 {
			f.Refuse(out, r, http.StatusInternalServerError)
			complete = true
		}
	}()

	if out.conn != nil && out.conn.tooLong {
		f.Refuse(out, r, http.StatusRequestHeaderFieldsTooLarge)
		return true
	}
	if len(r.RequestURI) > MaxURLBytes {
		f.Refuse(out, r, http.StatusRequestURITooLong)
		return true
	}
	f.Next.ServeHTTP(out, r)
	if out.status == 0 {
		out.status = http.StatusOK // net/http sends it if a handler wrote nothing
	}
	return true
}

// recorder records the status and size of a response.
type recorder struct {
	http.ResponseWriter
	conn   *conn // nil on the fast path, and if the server is not ours, as in some tests
	status int
	bytes  int64
}

func (o *recorder) WriteHeader(status int) {
	if o.status == 0 && status >= 200 { // 1xx responses precede the final one
		o.status = status
		if o.Header()["Retry-After"] == nil && asksToRetry(status) {
			o.Header()["Retry-After"] = inASecond
		}
	}
	o.ResponseWriter.WriteHeader(status)
}

// asksToRetry reports whether a status means that the same request may succeed later.
func asksToRetry(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

var inASecond = []string{"1"}

func (o *recorder) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	var n int
	var err error
	if o.conn != nil && len(p) >= worthwhile && o.isWhole(p) {
		n, err = o.conn.sendWhole(o.ResponseWriter, p)
	} else {
		n, err = o.ResponseWriter.Write(p)
	}
	o.bytes += int64(n)
	return n, err
}

// isWhole reports whether a first write is the whole body.
func (o *recorder) isWhole(p []byte) bool {
	length := o.Header()["Content-Length"]
	return o.bytes == 0 && len(length) == 1 && length[0] == strconv.Itoa(len(p))
}

// EndWithInput is called by the function of this name.
func (o *recorder) EndWithInput() {
	if o.conn != nil {
		o.conn.presence.set(&o.conn.presence.withInput)
	} else {
		EndWithInput(o.ResponseWriter)
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }
