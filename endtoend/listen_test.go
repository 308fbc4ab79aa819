//go:build linux

package endtoend_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// event is what a listener hears.
type event struct {
	ID        int64
	Type      string
	HotspotID string `json:"hotspot_id"`
	SubjectID string `json:"subject_id"`
	UserID    string `json:"user_id"` // of a settlement
	Period    string // of a settlement
	At        time.Time
}

// listener hears events, over any number of connections.
type listener struct {
	client *rig.Client

	mu     sync.Mutex
	events []event
}

func newListener(t testing.TB, apiKey string) *listener {
	c := rig.NewClient(t, apiKey)
	c.HTTP.Timeout = 0 // a stream has no end
	return &listener{client: c}
}

// heard is a copy of all that came so far.
func (l *listener) heard() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]event(nil), l.events...)
}

// count is how many events of a type came so far.
func (l *listener) count(kind string) (n int) {
	for _, e := range l.heard() {
		if e.Type == kind {
			n++
		}
	}
	return n
}

func (l *listener) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return 0
	}
	return l.events[len(l.events)-1].ID
}

// listen reads on from the last event until the stream ends, and says how: nil
// is an orderly end.
func (l *listener) listen(ctx context.Context, s *rig.Server) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events?after=0", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+l.client.Key)
	if last := l.last(); last > 0 {
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
func (l *listener) read(stream io.Reader) error {
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

func (l *listener) hear(id, data string) error {
	var e event
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

// checkOrder holds events to it that they are numbered 1, 2, 3 and so on.
func checkOrder(t testing.TB, events []event) {
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
