package network

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

const (
	pulse        = 15 * time.Second // interval of keep-alive comments
	MaxListeners = 1000
	MaxPerKey    = 10
)

// fromNowOn is the default position of a subscription: the next event.
const fromNowOn = -1

// events streams events (decision X7) until the client disconnects, its key ends, or the
// server stops. A client that resumes after the last id it received misses nothing.
func (a *API) events(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	after, err := edge.FromQuery(DecodeAfter)(w, r)
	if err != nil {
		return err
	}
	if err := a.Listeners.Join(p, a.QuotaOf(r, p.User).Streams); err != nil {
		return err
	}
	defer a.Listeners.Leave(p)
	sub, err := a.subscribe(r, after)
	if err != nil {
		return err
	}
	defer sub.Close()
	httpserver.EndWithInput(w)
	out := &stream{w: w, control: http.NewResponseController(w), readerTime: a.ReaderTime}
	out.begin()
	if r.Method == http.MethodHead {
		return nil // net/http would drop all that follows, for as long as it is written
	}
	for err := out.greet(); err == nil; {
		err = a.relay(r, p, sub, out)
	}
	return nil // the response has begun, whatever ended it
}

// lookEvery is how often a stream looks whether its person still may read it: who is removed,
// suspended or signed out reads no more events, and does not stay connected either.
const lookEvery = time.Second

// relay sends the next batch of events, or a keep-alive comment if none comes for a while.
func (a *API) relay(r *http.Request, p beacon.Principal, sub *events.Subscription, out *stream) error {
	for until := time.Now().Add(a.Pulse); ; {
		wait := time.Until(until)
		if p.Person != "" {
			wait = min(wait, lookEvery)
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		batch, err := sub.Next(ctx)
		waited := ctx.Err() != nil && r.Context().Err() == nil
		cancel()
		if err != nil && !waited {
			return err
		}
		now, open := a.stillOpens(r, p)
		switch {
		case !open:
			return errKeyEnded
		case err == nil:
			return out.send(batch, now)
		case !time.Now().Before(until):
			return out.alive()
		}
	}
}

var errKeyEnded = errors.New("the key or session has ended, or is no longer for this account")

// stillOpens returns who sends a long request, as they are now: a person may have other roles
// than before. It reports whether they still may, for the account that they did. While the
// database is away, keys do.
func (a *API) stillOpens(r *http.Request, p beacon.Principal) (beacon.Principal, bool) {
	now, err := a.Verify(r, func() error { return nil })
	if err == nil {
		return now.For(beacon.Read), now.User == p.User && now.Person == p.Person
	}
	kind := edge.KindOf(err)
	return p, p.Person == "" && kind != beacon.Unauthorized && kind != beacon.Forbidden
}

// DecodeAfter reads the id of the last event that a client received. The header that an
// EventSource sends when it reconnects is newer than its original URL.
func DecodeAfter(r *http.Request, q *edge.Query) int64 {
	after := int64(fromNowOn)
	if text, ok := q.Get("after"); ok {
		after = q.EventNumber("after", text)
	}
	if ids := r.Header.Values("Last-Event-Id"); len(ids) > 0 {
		after = q.EventNumber("Last-Event-ID", strings.Join(ids, ","))
	}
	return after
}

func (a *API) subscribe(r *http.Request, after int64) (*events.Subscription, error) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	sub, err := a.hub.Subscribe(ctx, after)
	switch {
	case errors.Is(err, events.ErrGone):
		err = &beacon.Error{Kind: beacon.Conflict, Message: "the events after this number are no longer kept: read what you need again, and start without a number"}
	case errors.Is(err, events.ErrFuture):
		err = &beacon.Error{Kind: beacon.Conflict, Message: "there is no event with this number: read what you need again, and start without a number"}
	case errors.Is(err, events.ErrClosed):
		err = &beacon.Error{Kind: beacon.Overloaded, Message: "the service is stopping; try again", RetryAfter: time.Second, Err: err}
	}
	return sub, err
}

// stream writes server-sent events.
type stream struct {
	w          http.ResponseWriter
	control    *http.ResponseController
	readerTime time.Duration // for one write
	buffer     []byte
}

// begin begins the response.
func (s *stream) begin() {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not buffer events
	s.w.WriteHeader(http.StatusOK)
}

// greet sends a comment, and after how many milliseconds a reader should reconnect.
func (s *stream) greet() error { return s.flush([]byte(": events of the network\nretry: 2000\n\n")) }

// alive sends a comment, which readers ignore.
func (s *stream) alive() error { return s.flush([]byte(": nothing new\n\n")) }

// send writes the events that the principal may see.
func (s *stream) send(batch []beacon.Event, p beacon.Principal) error {
	s.buffer = s.buffer[:0]
	for _, e := range batch {
		if p.Sees(beacon.Detail(e.Kind), e.User) {
			s.buffer = AppendEvent(s.buffer, e)
		}
	}
	if len(s.buffer) == 0 {
		return nil
	}
	return s.flush(s.buffer)
}

// flush sends one piece. The server's write deadline is for responses that end; this
// one has a deadline for each piece. A reader that does not keep up is disconnected: it
// can reconnect and resume.
func (s *stream) flush(piece []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.readerTime)); err != nil {
		return err
	}
	if _, err := s.w.Write(piece); err != nil {
		return err
	}
	return s.control.Flush()
}

const aboutHotspots = "hotspot."

// AppendEvent writes an event. All its text is ours and needs no escaping.
func AppendEvent(out []byte, e beacon.Event) []byte {
	out = append(out, "id: "...)
	out = strconv.AppendInt(out, e.Seq, 10)
	out = append(out, "\nevent: "...)
	out = append(out, e.Kind...)
	out = append(out, "\ndata: {\"id\":"...)
	out = strconv.AppendInt(out, e.Seq, 10)
	out = append(out, `,"type":"`...)
	out = append(out, e.Kind...)
	out = append(out, `","`...)
	if strings.HasPrefix(string(e.Kind), aboutHotspots) {
		out = append(out, `hotspot_id":"`...)
	} else { // Target is the month
		out = append(out, `user_id":"`...)
		out = append(out, e.User...)
		out = append(out, `","period":"`...)
	}
	out = append(out, e.Target...)
	out = append(out, `","at":"`...)
	out = beacon.AppendTime(out, e.At)
	return append(out, "\"}\n\n"...)
}

// newListeners returns the counter of event streams.
func newListeners() *edge.ConcurrencyLimit {
	return edge.NewConcurrencyLimit(MaxListeners, MaxPerKey,
		edge.Busy(beacon.RateLimited, pulse, "this key has too many open streams: close one first"),
		edge.Busy(beacon.RateLimited, pulse, "you have too many open streams: close one first"),
		edge.Busy(beacon.Overloaded, pulse, "too many streams are open; try again"))
}
