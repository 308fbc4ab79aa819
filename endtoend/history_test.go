//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/rig"
)

// history is what clients know about their writes.
type history struct {
	client *rig.Client
	next   atomic.Int64 // the number of the next hotspot

	mu       sync.Mutex
	known    map[int]*attempt
	unknowns int
}

// newHistory begins with a number that no other history of the test reaches.
func newHistory(c *rig.Client, first int64) *history {
	h := &history{client: c, known: map[int]*attempt{}}
	h.next.Store(first)
	return h
}

// attempt is one hotspot and what may be true of it.
type attempt struct {
	outcome rig.Outcome
	data    rig.Fields // as the last acknowledged answer gave it
	maybe   rig.Fields // what a PATCH of unknown outcome would have made of it
}

// write registers hotspots and changes them, until ctx ends or the server is
// gone.
func (h *history) write(ctx context.Context, s *rig.Server) {
	for ctx.Err() == nil {
		n := int(h.next.Add(1))
		switch n % 10 {
		case 0: // a MAC that is taken, or will be
			h.refused(ctx, s, n, n-10)
			continue
		}
		a := h.client.Register(context.WithoutCancel(ctx), s, n)
		mine := &attempt{outcome: a.Outcome()}
		if mine.outcome == rig.Done {
			_ = json.Unmarshal(a.Data, &mine.data) // a bad answer differs from what is stored
		}
		h.note(n, mine)
		for change := 0; change < n%3 && mine.outcome == rig.Done && mine.maybe == nil; change++ {
			h.change(context.WithoutCancel(ctx), s, mine, fmt.Sprintf("Hotspot %d change %d", n, change))
		}
		if a.Err != nil {
			return // the server is dead
		}
	}
}

// refused tries to register with the MAC of another hotspot.
func (h *history) refused(ctx context.Context, s *rig.Server, n, other int) {
	body := rig.Registration(n)
	body["device"].(rig.Fields)["mac_address"] = rig.MACOf(other - 1)
	a := h.client.Do(context.WithoutCancel(ctx), http.MethodPost, s.URL+"/v1/hotspots", body)
	mine := &attempt{outcome: a.Outcome()}
	if mine.outcome == rig.Done {
		_ = json.Unmarshal(a.Data, &mine.data)
	}
	h.note(n, mine)
}

func (h *history) change(ctx context.Context, s *rig.Server, mine *attempt, name string) {
	next := maps.Clone(mine.data)
	settings := maps.Clone(next["settings"].(rig.Fields))
	settings["max_connections"] = float64(len(name))
	next["name"], next["settings"] = name, settings
	a := h.client.Patch(ctx, s, mine.data["id"].(string), rig.Fields{"name": name, "settings": rig.Fields{"max_connections": len(name)}})
	h.mu.Lock()
	defer h.mu.Unlock()
	switch a.Outcome() {
	case rig.Done:
		var answered rig.Fields
		_ = json.Unmarshal(a.Data, &answered)
		mine.data = maps.Clone(mine.data)
		maps.Copy(mine.data, answered)
	case rig.Unknown:
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
func (h *history) check(t *testing.T, s *rig.Server) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := h.client.Owned(t, s)
	checked := 0
	for n, a := range h.known {
		found, there := stored[fmt.Sprintf("net-%d", n)]
		switch {
		case a.outcome == rig.Done && !there:
			t.Errorf("hotspot %d was acknowledged and is lost", n)
		case a.outcome == rig.Refused && there:
			t.Errorf("hotspot %d was refused and is there", n)
		case a.outcome == rig.Done && a.maybe != nil && same(found, a.maybe):
			a.data, a.maybe = found, nil
		case a.outcome == rig.Done:
			a.maybe = nil
			checked++
			if diff := cmp.Diff(a.data, found); diff != "" {
				t.Errorf("hotspot %d differs (-acknowledged +stored):\n%s", n, diff)
			}
		case a.outcome == rig.Unknown && there:
			h.unknowns++
			a.outcome, a.data = rig.Done, found
		case a.outcome == rig.Unknown:
			h.unknowns++
			a.outcome = rig.Refused
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
func same(found, maybe rig.Fields) bool {
	maybe = maps.Clone(maybe)
	maybe["updated_at"] = found["updated_at"]
	return cmp.Equal(found, maybe)
}

func (h *history) report(t *testing.T) {
	counts := map[rig.Outcome]int{}
	for _, a := range h.known {
		counts[a.outcome]++
	}
	t.Logf("%d hotspots are there, %d were refused; of those, %d registrations had an unknown outcome at first",
		counts[rig.Done], counts[rig.Refused], h.unknowns)
	if counts[rig.Done] == 0 || counts[rig.Refused] == 0 {
		t.Error("the load was too thin to prove anything")
	}
}
