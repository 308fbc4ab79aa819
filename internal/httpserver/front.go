package httpserver

import (
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

// MaxURLBytes is the longest request target that is looked at.
const MaxURLBytes = 8 << 10

const requestIDHeader = "X-Request-Id"

// Front is the first handler of a server: every request passes it, and every
// answer, whatever went wrong, leaves through it.
type Front struct {
	Next    http.Handler
	Refuse  Refuse
	Now     func() time.Time
	Log     *slog.Logger
	Observe func(*http.Request, Exchange) // called once for every request, after its answer

	Proxies        Proxies // who may say for whom they ask; none by default
	MaxConnections int     // of one address, or of one IPv6 network of 64 bits, at a time; 0 for as many as there are

	draining atomic.Bool
	refused  atomic.Int64 // connections of those who had too many
}

// Refused is how many connections were closed at once, because their addresses
// had as many as one may have.
func (f *Front) Refused() int64 { return f.refused.Load() }

// Exchange is what is known of a request once it was answered.
type Exchange struct {
	RequestID string
	Began     time.Time
	Status    int
	Bytes     int64 // of the body
	Took      time.Duration
}

// RequestID gives the id under which the answer on w is logged. It stands in
// the answer's own header, which every handler has at hand.
func RequestID(w http.ResponseWriter) string {
	if ids := w.Header()[requestIDHeader]; len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// ServeHTTP gives the request an id, refuses what no interface should see, and
// runs the next handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := f.Now()
	if len(f.Proxies) > 0 {
		f.Proxies.resolve(r)
	}
	out := &recorder{ResponseWriter: w}
	conn := connOf(r)
	if _, inLane := w.(*answer); !inLane {
		out.conn = conn
	}
	// Request ids are no secret, so the fast generator will do. Ids that a
	// client sends are not taken over: ours are unique and of one form.
	requestID := id.Format("req_", began, rand.Uint64(), rand.Uint64())
	out.Header()[requestIDHeader] = []string{requestID}
	if f.draining.Load() || conn != nil && conn.door.crowded() || len(r.TransferEncoding) > 0 { // see framing
		out.Header()["Connection"] = closeConnection
	}

	complete := f.answer(out, r)
	f.Observe(r, Exchange{
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

var closeConnection = []string{"close"}

// answer runs the handler. When a handler panics in the middle of its answer,
// that can only be cut off: answer then reports that it is not complete.
func (f *Front) answer(out *recorder, r *http.Request) (complete bool) {
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

	if len(r.RequestURI) > MaxURLBytes {
		f.Refuse(out, r, http.StatusRequestURITooLong)
		return true
	}
	f.Next.ServeHTTP(out, r)
	if out.status == 0 {
		out.status = http.StatusOK // net/http writes it when a handler wrote nothing
	}
	return true
}

// recorder remembers how an answer was begun.
type recorder struct {
	http.ResponseWriter
	conn   *conn // nil where the server is not ours, as in some tests, and in the lane
	status int
	bytes  int64
}

func (o *recorder) WriteHeader(status int) {
	if o.status == 0 && status >= 200 { // 1xx answers come before the real one
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

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

// isWhole reports whether a first write is all there will be.
func (o *recorder) isWhole(p []byte) bool {
	length := o.Header()["Content-Length"]
	return o.bytes == 0 && len(length) == 1 && length[0] == strconv.Itoa(len(p))
}

// Unwrap lets http.ResponseController reach the connection.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }
