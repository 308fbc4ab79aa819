//go:build linux

package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Event is what a listener hears.
type Event struct {
	ID        int64
	Type      string
	HotspotID string `json:"hotspot_id"`
	UserID    string `json:"user_id"` // of a settlement
	Period    string // of a settlement
	At        time.Time
}

// Listener hears events, over any number of connections.
type Listener struct {
	client *Client

	mu     sync.Mutex
	events []Event
}

// NewListener makes a listener for a key.
func NewListener(t testing.TB, apiKey string) *Listener {
	c := NewClient(t, apiKey)
	c.HTTP.Timeout = 0 // a stream has no end
	return &Listener{client: c}
}

// Heard returns a copy of all that came so far.
func (l *Listener) Heard() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Count returns how many events of a type came so far.
func (l *Listener) Count(kind string) (n int) {
	for _, e := range l.Heard() {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// Last returns the number of the newest event so far, or 0.
func (l *Listener) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return 0
	}
	return l.events[len(l.events)-1].ID
}

// Listen reads on from the last event until the stream ends, and says how: nil
// is an orderly end.
func (l *Listener) Listen(ctx context.Context, s *Server) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events?after=0", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+l.client.Key)
	if last := l.Last(); last > 0 {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	response, err := l.client.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("events were answered %s", response.Status)
	}
	return l.read(response.Body)
}

// read takes a stream of events apart: fields, and an empty line after each.
func (l *Listener) read(stream io.Reader) error {
	in := bufio.NewReader(stream)
	var id, data string
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if id != "" {
				if err := l.hear(id, data); err != nil {
					return err
				}
			}
			id, data = "", ""
		}
	}
}

func (l *Listener) hear(id, data string) error {
	var e Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("event %s is %q: %w", id, data, err)
	}
	if strconv.FormatInt(e.ID, 10) != id {
		return fmt.Errorf("event %s says that it is %d", id, e.ID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	return nil
}

// CheckOrder holds events to it that they are numbered 1, 2, 3 and so on.
func CheckOrder(t testing.TB, events []Event) {
	t.Helper()
	for i, e := range events {
		if e.ID != int64(i)+1 {
			t.Errorf("event %d is number %d: %+v", i+1, e.ID, e)
			return
		}
	}
	if len(events) == 0 {
		t.Error("there were no events")
	}
}
