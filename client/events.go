package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Where to begin to listen, other than after an event that one has.
const (
	FromOldest int64 = 0  // with the oldest event that is kept
	FromNow    int64 = -1 // with what happens next
)

// Event is something that happened in the network.
type Event struct {
	ID        int64     `json:"id"`
	Type      string    `json:"type"` // "hotspot.online"; ignore those that you do not know
	HotspotID string    `json:"hotspot_id,omitempty"`
	UserID    string    `json:"user_id,omitempty"` // with "rewards.settled"
	Period    string    `json:"period,omitempty"`  // with "rewards.settled": "2026-10"
	At        time.Time `json:"at"`
}

// Events gives what happens after the event with a number, or from [FromOldest] or
// [FromNow] on, for as long as someone listens. When the connection is lost, it
// goes on after the last event that came: each comes once, in one order. (Before
// the first event there is nothing to go on after: with FromNow, what happens while
// the very first connection is lost is not told.)
//
// It ends with the error of the context, or when it makes no sense to go on: the
// key opens no longer, or the events after the number are not kept any more
// ([ErrConflict]), in which case read what you need anew, and listen from now on.
func (c *Client) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l := &listener{client: c, after: after, wait: firstPause}
		for {
			err := l.listen(ctx, func(e Event) bool { return yield(e, nil) })
			switch {
			case errors.Is(err, errEnough):
				return
			case ctx.Err() != nil:
				yield(Event{}, ctx.Err())
				return
			case !worthListeningAgain(err):
				yield(Event{}, err)
				return
			}
			if !pause(ctx, l.patience(err)) {
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// errEnough is when nobody wants more events.
var errEnough = errors.New("enough")

// worthListeningAgain is false for what the server refuses for good, and for what
// is no stream of events.
func worthListeningAgain(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.asksForPatience() || e.Status >= http.StatusInternalServerError
	}
	return !errors.Is(err, errNoEvents)
}

var errNoEvents = errors.New("this is no stream of events of a Beacon server")

const eventStream = "text/event-stream"

// listener is someone who reads on where a stream broke off.
type listener struct {
	client *Client
	after  int64         // the last event that came
	wait   time.Duration // after the next failure
}

// patience is how long to wait after a stream has ended. It grows as long as
// nothing comes.
func (l *listener) patience(err error) time.Duration {
	wait := l.wait
	l.wait = min(2*l.wait, maxPause)
	if e, ok := errors.AsType[*Error](err); ok {
		wait = max(wait, min(e.RetryAfter, l.client.patience))
	}
	return wait
}

// listen reads one stream to its end.
func (l *listener) listen(ctx context.Context, tell func(Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := get(path("events"), nil).with("Accept", eventStream)
	if l.after >= 0 {
		r = r.with("Last-Event-ID", strconv.FormatInt(l.after, 10))
	}
	// A connection that is dead says nothing, and does not end either.
	silence := time.AfterFunc(l.client.silence, cancel)
	defer silence.Stop()
	response, err := l.client.send(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, eventStream) {
		return fmt.Errorf("%w: it is %q", errNoEvents, kind)
	}
	return eachMessage(response.Body, func() { silence.Reset(l.client.silence) }, func(data []byte) error {
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("%w: %w", errNoEvents, err)
		}
		l.after, l.wait = e.ID, firstPause
		if !tell(e) {
			return errEnough
		}
		return nil
	})
}
