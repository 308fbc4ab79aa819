//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestCrash kills a server under load (-9), again and again: everything that
// was acknowledged is there, field by field, and nothing that was refused.
func TestCrash(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testCrash(t, filepath.Join(t.TempDir(), "beacon.db"), 6) })
	t.Run("postgres", func(t *testing.T) { testCrash(t, storetest.Postgres(t), 3) })
}

func testCrash(t *testing.T, db string, rounds int) {
	handle := openStore(t, db)
	client := newClient(t, createKey(t, db, "hotspots:write").Key)
	h := newHistory(client, 0)
	for round := range rounds {
		s := start(t, db)
		began := h.next.Load()
		load, crash := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for range 16 {
			writers.Go(func() { h.write(load, s) })
		}
		// Killed in the middle of its work, each time at another point of it.
		enough := began + int64(150+rand.IntN(400))
		eventually(t, 20*time.Second, "some hundred registrations", func() bool { return h.next.Load() >= enough })
		s.kill()
		crash()
		writers.Wait()

		s = start(t, db)
		if a := client.do(t.Context(), http.MethodGet, s.url+"/readyz", nil); a.status != http.StatusOK {
			t.Errorf("round %d: after the ready line /readyz answers %d", round, a.status)
		}
		h.check(t, s)
		client.converges(t, s, truth(t, handle), int(h.next.Load()), 2*time.Second)
		s.kill()
	}
	h.report(t)
}

// history is what clients know about their writes.
type history struct {
	client *client
	next   atomic.Int64 // the number of the next hotspot

	mu       sync.Mutex
	known    map[int]*attempt
	unknowns int
}

// newHistory begins with a number that no other history of the test reaches.
func newHistory(c *client, first int64) *history {
	h := &history{client: c, known: map[int]*attempt{}}
	h.next.Store(first)
	return h
}

// attempt is one hotspot and what may be true of it.
type attempt struct {
	outcome outcome
	data    fields // as the last acknowledged answer gave it
	maybe   fields // what a PATCH of unknown outcome would have made of it
}

// write registers hotspots and changes them, until ctx ends or the server is
// gone.
func (h *history) write(ctx context.Context, s *server) {
	for ctx.Err() == nil {
		n := int(h.next.Add(1))
		switch n % 10 {
		case 0: // a MAC that is taken, or will be
			h.refused(ctx, s, n, n-10)
			continue
		}
		a := h.client.register(context.WithoutCancel(ctx), s, n)
		mine := &attempt{outcome: a.outcome()}
		if mine.outcome == done {
			_ = json.Unmarshal(a.data, &mine.data) // a bad answer differs from what is stored
		}
		h.note(n, mine)
		for change := 0; change < n%3 && mine.outcome == done && mine.maybe == nil; change++ {
			h.change(context.WithoutCancel(ctx), s, mine, fmt.Sprintf("Hotspot %d change %d", n, change))
		}
		if a.err != nil {
			return // the server is dead
		}
	}
}

// refused tries to register with the MAC of another hotspot.
func (h *history) refused(ctx context.Context, s *server, n, other int) {
	body := registration(n)
	body["device"].(fields)["mac_address"] = macOf(other - 1)
	a := h.client.do(context.WithoutCancel(ctx), http.MethodPost, s.url+"/v1/hotspots", body)
	mine := &attempt{outcome: a.outcome()}
	if mine.outcome == done {
		_ = json.Unmarshal(a.data, &mine.data)
	}
	h.note(n, mine)
}

func (h *history) change(ctx context.Context, s *server, mine *attempt, name string) {
	next := maps.Clone(mine.data)
	settings := maps.Clone(next["settings"].(fields))
	settings["max_connections"] = float64(len(name))
	next["name"], next["settings"] = name, settings
	a := h.client.patch(ctx, s, mine.data["id"].(string), fields{"name": name, "settings": fields{"max_connections": len(name)}})
	h.mu.Lock()
	defer h.mu.Unlock()
	switch a.outcome() {
	case done:
		var answered fields
		_ = json.Unmarshal(a.data, &answered)
		mine.data = maps.Clone(mine.data)
		maps.Copy(mine.data, answered)
	case unknown:
		mine.maybe = next
	}
}

func (h *history) note(n int, a *attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[n] = a
}

// check compares what is known with all that the server has of the user. What
// was unknown is known afterwards: it must not change any more.
func (h *history) check(t *testing.T, s *server) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := h.client.owned(t, s)
	checked := 0
	for n, a := range h.known {
		found, there := stored[fmt.Sprintf("net-%d", n)]
		switch {
		case a.outcome == done && !there:
			t.Errorf("hotspot %d was acknowledged and is lost", n)
		case a.outcome == refused && there:
			t.Errorf("hotspot %d was refused and is there", n)
		case a.outcome == done && a.maybe != nil && same(found, a.maybe):
			a.data, a.maybe = found, nil
		case a.outcome == done:
			a.maybe = nil
			checked++
			if diff := cmp.Diff(a.data, found); diff != "" {
				t.Errorf("hotspot %d differs (-acknowledged +stored):\n%s", n, diff)
			}
		case a.outcome == unknown && there:
			h.unknowns++
			a.outcome, a.data = done, found
		case a.outcome == unknown:
			h.unknowns++
			a.outcome = refused
		}
		if there {
			delete(stored, fmt.Sprintf("net-%d", n))
		}
	}
	if len(stored) > 0 || checked == 0 {
		t.Errorf("%d hotspots came from nowhere; %d were checked", len(stored), checked)
	}
}

// same reports whether a PATCH of unknown outcome took place: all but the time
// of the change is known.
func same(found, maybe fields) bool {
	maybe = maps.Clone(maybe)
	maybe["updated_at"] = found["updated_at"]
	return cmp.Equal(found, maybe)
}

func (h *history) report(t *testing.T) {
	counts := map[outcome]int{}
	for _, a := range h.known {
		counts[a.outcome]++
	}
	t.Logf("%d hotspots are there, %d were refused; of those, %d registrations had an unknown outcome at first",
		counts[done], counts[refused], h.unknowns)
	if counts[done] == 0 || counts[refused] == 0 {
		t.Error("the load was too thin to prove anything")
	}
}

// owned reads all the user's hotspots, by their SSID. A connection to the
// database that was cut a moment ago may cost a 503: then it asks again.
func (c *client) owned(t testing.TB, s *server) map[string]fields {
	t.Helper()
	all := map[string]fields{}
	for page := 1; ; page++ {
		var a answer
		eventually(t, 5*time.Second, fmt.Sprintf("page %d of the user's hotspots", page), func() bool {
			a = c.do(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/users/me/hotspots?per_page=100&page=%d", s.url, page), nil)
			return a.status != http.StatusServiceUnavailable
		})
		var list []fields
		if err := json.Unmarshal(a.data, &list); a.status != http.StatusOK || err != nil {
			t.Fatalf("page %d: %d %s %v %v", page, a.status, a.code, a.err, err)
		}
		for _, h := range list {
			ssid := h["device"].(fields)["ssid"].(string)
			if _, twice := all[ssid]; twice {
				t.Errorf("%s is there twice", ssid)
			}
			all[ssid] = h
		}
		if len(list) < 100 {
			return all
		}
	}
}
