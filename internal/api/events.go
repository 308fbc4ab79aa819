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
)

const (
	pulse        = 15 * time.Second // how often a stream says that it is alive
	readerTime   = 10 * time.Second // how long a reader may take for what it was sent
	maxListeners = 1000
	maxPerKey    = 10
)

// fromNowOn is where someone begins who says nothing: at the next event.
const fromNowOn = -1

// events streams what happens (decision X7) until the client hangs up, its key
// ends, or the server does. Who reads on from the last id that it got misses
// nothing.
func (a *API) events(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	after, err := decodeAfter(r)
	if err != nil {
		return err
	}
	if err := a.listeners.join(p.Key); err != nil {
		return err
	}
	defer a.listeners.leave(p.Key)
	sub, err := a.subscribe(r, after)
	if err != nil {
		return err
	}
	defer sub.Close()
	out := &stream{w: w, control: http.NewResponseController(w), patience: a.readerTime}
	for err := out.open(); err == nil; {
		err = a.relay(r, p, sub, out)
	}
	return nil // whatever ended it, the answer has begun
}

// relay passes on what comes next, or after a while that nothing does.
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

var errKeyEnded = errors.New("the key was revoked, or expired")

// stillOpens reports whether the key of a long request is still good.
func (a *API) stillOpens(r *http.Request) bool {
	key, _ := bearer(r)
	_, err := a.keys.Verify(r.Context(), key)
	return err == nil || kindOf(err) != beacon.Unauthorized
}

// decodeAfter reads which event a client had last. What an EventSource sends by
// itself when it reconnects is newer than the URL that it began with.
func decodeAfter(r *http.Request) (int64, error) {
	q, err := newQuery(r)
	if err != nil {
		return 0, err
	}
	after := int64(fromNowOn)
	if text, ok := q.get("after"); ok {
		after = q.eventNumber("after", text)
	}
	if ids := r.Header.Values("Last-Event-Id"); len(ids) > 0 {
		after = q.eventNumber("Last-Event-ID", strings.Join(ids, ","))
	}
	return after, q.faults.Err()
}

func (q *query) eventNumber(name, text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63) // which takes no sign
	if err != nil {
		q.faults.Add(name, "must be a whole number of at least 0")
	}
	return int64(n)
}

func (a *API) subscribe(r *http.Request, after int64) (*events.Subscription, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	sub, err := a.hub.Subscribe(ctx, after)
	return sub, subscriptionFault(err)
}

func subscriptionFault(err error) error {
	switch {
	case errors.Is(err, events.ErrGone):
		return &beacon.Error{Kind: beacon.Conflict, Message: "the events after this number are no longer kept: read what you need anew, and listen without a number"}
	case errors.Is(err, events.ErrFuture):
		return &beacon.Error{Kind: beacon.Conflict, Message: "there is no event with this number: read what you need anew, and listen without a number"}
	case errors.Is(err, events.ErrClosed):
		return &beacon.Error{Kind: beacon.Overloaded, Message: "the service is stopping; try again", RetryAfter: time.Second, Err: err}
	}
	return err
}

// stream writes server-sent events.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // with a reader who does not read
	buffer   []byte
}

// open begins the answer. To HEAD there is no more: net/http refuses the rest.
func (s *stream) open() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not keep events to itself
	s.w.WriteHeader(http.StatusOK)
	return s.flush([]byte(": events of the network\nretry: 2000\n\n"))
}

// alive is a comment, which readers ignore.
func (s *stream) alive() error { return s.flush([]byte(": nothing new\n\n")) }

// send writes the events that are for the principal to hear of.
func (s *stream) send(batch []beacon.Event, p beacon.Principal) error {
	s.buffer = s.buffer[:0]
	for _, e := range batch {
		if mayHear(p, e) {
			s.buffer = appendEvent(s.buffer, e)
		}
	}
	if len(s.buffer) == 0 {
		return nil
	}
	return s.flush(s.buffer)
}

// flush sends a piece. The server's limit is for answers that end; this one has
// a limit for each piece. A reader that does not keep up is let go: it can come
// back and read on.
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

// mayHear reports whether an event is the principal's business. What happens to
// hotspots is everyone's; all else is its user's.
func mayHear(p beacon.Principal, e beacon.Event) bool {
	return strings.HasPrefix(string(e.Kind), aboutHotspots) || p.MayActFor(e.User)
}

// appendEvent writes an event. Everything in it is text of ours, which needs no
// escaping.
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
	} else { // the target is the month
		out = append(out, `user_id":"`...)
		out = append(out, e.User...)
		out = append(out, `","period":"`...)
	}
	out = append(out, e.Target...)
	out = append(out, `","at":"`...)
	out = stamp(e.At).append(out)
	return append(out, "\"}\n\n"...)
}
