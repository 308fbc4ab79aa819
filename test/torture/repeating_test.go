//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// repeating is a user whose clients repeat each registration until it is
// acknowledged, under the same Idempotency-Key.
type repeating struct {
	*user
	load   *load
	server *harness.Server
	ids    sync.Map // by number: the id that the client was told

	made, unknown, replayed atomic.Int64

	end     context.CancelFunc
	clients sync.WaitGroup
}

// newRepeating makes the user.
func (l *load) newRepeating(t *testing.T, s *harness.Server) *repeating {
	t.Helper()
	u, _ := l.newUser(t, s)
	return &repeating{user: u, load: l, server: s, end: func() {}}
}

// begin begins to register beside a load.
func (r *repeating) begin(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	r.end = end
	for range 4 {
		r.clients.Go(func() {
			for ctx.Err() == nil {
				r.register(t, int(r.load.number.Add(1))-1)
			}
		})
	}
}

// register registers hotspot n, and tells whether the acknowledgement was that of an
// earlier try.
func (r *repeating) register(t *testing.T, n int) (replayed bool) {
	for t.Context().Err() == nil {
		a := r.Register(t.Context(), r.server, n, "Idempotency-Key", fmt.Sprintf("attempt-%d", n))
		switch {
		case a.Status == http.StatusCreated:
			r.ids.Store(n, a.Fields(t)["id"])
			r.made.Add(1)
			if replayed = a.Header.Get("Idempotency-Replayed") != ""; replayed {
				r.replayed.Add(1)
			}
			return replayed
		case a.Status >= 400 && a.Status < 500:
			t.Errorf("registration %d was answered %d %s", n, a.Status, a.Code)
			return false
		case a.Outcome() == harness.Unknown:
			r.unknown.Add(1)
		}
		time.Sleep(5 * time.Millisecond) // the pause of a client who was told to come back
	}
	return false
}

// finish lets everyone come to an end, and holds what is there to what they were
// told.
func (r *repeating) finish(t *testing.T) {
	t.Helper()
	r.end()
	r.clients.Wait()
	owned := r.Owned(t, r.server) // finds those that are there twice
	r.ids.Range(func(n, id any) bool {
		ssid := fmt.Sprintf("net-%d", n)
		if h, there := owned[ssid]; !there || h["id"] != id {
			t.Errorf("registration %d was acknowledged as %v; stored is %v", n, id, h["id"])
		}
		delete(owned, ssid)
		return true
	})
	if len(owned) > 0 {
		t.Errorf("%d hotspots came from nowhere: %v", len(owned), owned)
	}
	t.Logf("repeating: %d registrations, %d outcomes unknown, %d had been committed", r.made.Load(), r.unknown.Load(), r.replayed.Load())
}
