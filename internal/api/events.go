package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

const (
	pulse        = 15 * time.Second // interval of keep-alive comments
	readerTime   = 10 * time.Second // time a reader may take for one write
	maxListeners = 1000
	maxPerKey    = 10
)

// fromNowOn is the default position of a subscription: the next event.
const fromNowOn = -1

// events streams events (decision X7) until the client disconnects, its key ends, or the
// server stops. A client that resumes after the last id it received misses nothing.
func (a *API) events(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	after, err := fromQuery(decodeAfter)(w, r)
	if err != nil {
		return err
	}
	if err := a.listeners.join(p, a.quotaOf(r, p.User).Streams); err != nil {
		return err
	}
	defer a.listeners.leave(p)
	sub, err := a.subscribe(r, after)
	if err != nil {
		return err
	}
	defer sub.Close()
	httpserver.EndWithInput(w)
	out := &stream{w: w, control: http.NewResponseController(w), patience: a.readerTime}
	out.begin()
	if r.Method == http.MethodHead {
		return nil // net/http would drop all that follows, for as long as it is written
	}
	for err := out.greet(); err == nil; {
		err = a.relay(r, p, sub, out)
	}
	return nil // the response has begun, whatever ended it
}

// relay sends the next batch of events, or a keep-alive comment if none comes for a while.
func (a *API) relay(r *http.Request, p beacon.Principal, sub *events.Subscription, out *stream) error {
	ctx, cancel := context.WithTimeout(r.Context(), a.pulse)
	defer cancel()
	batch, err := sub.Next(ctx)
	if err != nil && (ctx.Err() == nil || r.Context().Err() != nil) {
		return err
	}
	if !a.stillOpens(r) {
		return errKeyEnded
	}
	if err != nil {
		return out.alive()
	}
	return out.send(batch, p)
}

var errKeyEnded = errors.New("the key was revoked or has expired")

// stillOpens reports whether the key of a long request is still valid.
func (a *API) stillOpens(r *http.Request) bool {
	_, err := a.verify(r, func() error { return nil })
	return err == nil || kindOf(err) != beacon.Unauthorized
}

// decodeAfter reads the id of the last event that a client received. The header that an
// EventSource sends when it reconnects is newer than its original URL.
func decodeAfter(r *http.Request, q *query) int64 {
	after := int64(fromNowOn)
	if text, ok := q.get("after"); ok {
		after = q.eventNumber("after", text)
	}
	if ids := r.Header.Values("Last-Event-Id"); len(ids) > 0 {
		after = q.eventNumber("Last-Event-ID", strings.Join(ids, ","))
	}
	return after
}

func (q *query) eventNumber(name, text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63) // accepts no sign
	if err != nil {
		q.faults.Add(name, "must be a whole number of at least 0")
	}
	return int64(n)
}

func (a *API) subscribe(r *http.Request, after int64) (*events.Subscription, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
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
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // with a reader that does not read
	buffer   []byte
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
			s.buffer = appendEvent(s.buffer, e)
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
	if err := s.control.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return err
	}
	if _, err := s.w.Write(piece); err != nil {
		return err
	}
	return s.control.Flush()
}

const aboutHotspots = "hotspot."

// appendEvent writes an event. All its text is ours and needs no escaping.
func appendEvent(out []byte, e beacon.Event) []byte {
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
	out = stamp(e.At).append(out)
	return append(out, "\"}\n\n"...)
}
