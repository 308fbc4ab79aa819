package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Where to begin, other than after a known event.
const (
	FromOldest int64 = 0  // with the oldest event that is kept
	FromNow    int64 = -1 // with the next event
)

// Event is something that happened in the network.
type Event struct {
	ID        int64     `json:"id"`
	Type      string    `json:"type"` // such as "hotspot.online"; ignore unknown types
	HotspotID string    `json:"hotspot_id,omitempty"`
	UserID    string    `json:"user_id,omitempty"` // with "rewards.settled"
	Period    string    `json:"period,omitempty"`  // with "rewards.settled": "2026-10"
	At        time.Time `json:"at"`
}

// Events returns the events after the one with a number, or from [FromOldest] or
// [FromNow], until the loop ends. If the connection is lost, it resumes after the
// last event received: each event comes once, in one order. (Before the first event
// there is nothing to resume after: with FromNow, events during the loss of the very
// first connection are missed.)
//
// It ends with the error of the context, or when it cannot resume: the key is no
// longer valid, or the events after the number are no longer kept ([ErrConflict]). In
// the latter case, read what you need again, and continue from FromNow.
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
			if !pause(ctx, l.pauseAfter(err)) {
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// errEnough ends a stream when the loop has ended.
var errEnough = errors.New("enough")

// worthListeningAgain reports false if the server refuses for good, or if the
// response is not a stream of events.
func worthListeningAgain(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.asksForPatience() || e.Status >= http.StatusInternalServerError
	}
	return !errors.Is(err, errNoEvents)
}

var errNoEvents = errors.New("this is not an event stream of a Beacon server")

const eventStream = "text/event-stream"

// listener reads a stream, and resumes where it broke off.
type listener struct {
	client *Client
	after  int64         // the last event received
	wait   time.Duration // after the next failure
}

// pauseAfter returns how long to wait after a stream has ended. It grows while nothing
// is received.
func (l *listener) pauseAfter(err error) time.Duration {
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
	// A dead connection sends nothing and does not end either.
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

// maxMessageLine limits the memory for a line that a server sends.
const maxMessageLine = 1 << 20

// eachMessage reads a stream of server-sent events to its end, which is an error too:
// a stream should not end. It calls tell with the data of each event, which includes
// its number and type, and alive for each line, including comments.
func eachMessage(r io.Reader, alive func(), tell func(data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxMessageLine)
	var data []byte
	for lines.Scan() {
		alive()
		line := lines.Bytes() // without \n or \r\n
		if len(line) == 0 {
			if len(data) > 0 {
				if err := tell(data); err != nil {
					return err
				}
			}
			data = data[:0]
			continue
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); string(name) == "data" {
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
