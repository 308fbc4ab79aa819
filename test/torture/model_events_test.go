//go:build linux

package torture_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/test/harness"
)

// told is an event as it stood in a stream.
type told struct {
	number  int64
	kind    string
	hotspot string
	text    string
}

// listener hears all the events of a server, from the first on.
type listener struct {
	mu     sync.Mutex
	events []told
}

func (l *listener) heard() []told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// listen reads a stream until the test ends.
func listen(t *testing.T, w *world, key string) *listener {
	t.Helper()
	l := &listener{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil { // a reader that is too slow is cut off, and comes back
			after := int64(0)
			if all := l.heard(); len(all) > 0 {
				after = all[len(all)-1].number
			}
			_ = stream(ctx, w, key, fmt.Sprintf("/v1/events?after=%d", after), nil, func(e told) bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.events = append(l.events, e)
				return true
			})
		}
	}()
	return l
}

// stream gives each event to a function for as long as it wants more.
func stream(ctx context.Context, w *world, key, path string, header map[string]string, each func(told) bool) error {
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		return err
	}
	asked.Header.Set("Authorization", "Bearer "+key)
	for name, value := range header {
		asked.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: w.http.Transport}).Do(asked)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		return fmt.Errorf("the stream is answered %d %s", response.StatusCode, response.Header)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var e struct {
			ID        int64
			Type      string
			HotspotID string `json:"hotspot_id"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return err
		}
		if !each(told{e.ID, e.Type, e.HotspotID, data}) {
			return nil
		}
	}
	return lines.Err()
}

// doEvents resumes the stream somewhere, and wants what the listener heard.
func (m *modelMachine) doEvents(t *rapid.T) {
	k := m.someKey(t)
	if e := m.enter(k, ""); e != nil {
		m.step(t, request{method: http.MethodGet, path: "/v1/events?after=0", key: k}, e)
		return
	}
	if rapid.Bool().Draw(t, "bad") {
		after := rapid.SampledFrom([][2]string{{"-1", "400"}, {"x", "400"}, {"1.5", "400"}, {"", "400"}, {"1&after=1", "400"}, {"1000000000000", "409"}}).Draw(t, "after")
		e := refused(400, "invalid_request")
		if after[1] == "409" {
			e = &errConflict
		}
		m.step(t, request{method: http.MethodGet, path: "/v1/events?after=" + after[0], key: k}, e)
		return
	}
	from := rapid.IntRange(0, 3).Draw(t, "from the last")
	inHeader := rapid.Bool().Draw(t, "as a header")
	for i, w := range m.worlds {
		m.resume(t, w, m.listeners[i].heard(), k, from, inHeader)
	}
}

// spotOf returns the hotspot of an event, or nil if it is of an earlier run.
func (m *modelMachine) hotspotOf(w *world, e told) *modelHotspot {
	for _, s := range m.hotspots {
		if w.bound[s.name] == e.hotspot {
			return s
		}
	}
	return nil
}

// isForAll reports whether an event is told to everyone, not only to the owner and staff.
func isForAll(e told) bool {
	switch e.kind {
	case "hotspot.verified", "hotspot.unverified", "hotspot.linked", "hotspot.unlinked":
		return false
	}
	return true
}

func (m *modelMachine) resume(t *rapid.T, w *world, heard []told, k *apiKey, from int, inHeader bool) {
	at := max(0, len(heard)-2-from)
	var rest []told
	for i := at + 1; i < len(heard); i++ {
		e := heard[i]
		switch s := m.hotspotOf(w, e); {
		case isForAll(e) || s != nil && s.figuresFor(k):
			rest = append(rest, e)
		case s == nil: // the model has forgotten whose it is
			at, rest = i, nil
		}
	}
	if len(rest) == 0 {
		return // nothing that this reader would be told
	}
	after, key := heard[at].number, w.bound[k.secret]
	path, header := fmt.Sprintf("/v1/events?after=%d", after), map[string]string{}
	if inHeader { // which counts when both are there
		path, header = "/v1/events?after=0", map[string]string{"Last-Event-ID": fmt.Sprint(after)}
	}
	ctx, stop := context.WithTimeout(context.Background(), harness.Patience)
	defer stop()
	n := 0
	err := stream(ctx, w, key, path, header, func(e told) bool {
		if e != rest[n] {
			t.Fatalf("%s after event %d: %v; another reader was told %v", w.name, after, e, rest[n])
		}
		n++
		return n < len(rest)
	})
	if err != nil || n < len(rest) {
		t.Fatalf("%s after event %d: %d events of %d: %v", w.name, after, n, len(rest), err)
	}
}

// checkEvents holds all events of a server to what was done there, in order, and
// those that the clock makes to each other.
func checkEvents(t *testing.T, w *world, l *listener) {
	t.Helper()
	foreseen := func() (list []happening) {
		for _, e := range l.heard() {
			if e.kind != "hotspot.online" && e.kind != "hotspot.offline" {
				list = append(list, happening{e.kind, e.hotspot})
			}
		}
		return list
	}
	harness.Eventually(t, fmt.Sprintf("%s has told all of %d events", w.name, len(*w.happened)), func() bool { return len(foreseen()) >= len(*w.happened) })
	for i, e := range foreseen() {
		if i >= len(*w.happened) || e != (*w.happened)[i] {
			t.Fatalf("%s: event %d is %v; what was done: %v", w.name, i, e, (*w.happened)[max(0, i-2):min(i+3, len(*w.happened))])
		}
	}
	state, last := map[string]string{}, int64(0)
	for _, e := range l.heard() {
		if e.number <= last {
			t.Errorf("%s: event %d follows %d", w.name, e.number, last)
		}
		last = e.number
		switch before, known := state[e.hotspot]; e.kind {
		case "hotspot.online", "hotspot.offline":
			if before == e.kind || !known && e.kind == "hotspot.offline" {
				t.Errorf("%s: %v, and before it was %q", w.name, e, before)
			}
			state[e.hotspot] = e.kind
		case "hotspot.unlinked", "hotspot.linked", "hotspot.restored":
			if known { // it may be heard as before, or not
				state[e.hotspot] = ""
			}
		}
	}
	t.Logf("%s told %d events", w.name, len(l.heard()))
}
