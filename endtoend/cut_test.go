//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestCutCommits: connections to the database are cut at random moments, and
// some right after a COMMIT went through and before anyone heard of it. Some
// clients repeat their requests under the same Idempotency-Key until they hear
// 201: then there is one hotspot for each. Others do not repeat theirs: what
// was acknowledged is there, what was refused is not.
func TestCutCommits(t *testing.T) {
	db := storetest.Postgres(t)
	p, behind := rig.ThroughProxy(t, db)
	s := rig.Start(t, behind)
	stubborn := &stubborn{client: rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key)}
	others := newHistory(rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key), 20_000) // numbers that the first do not reach

	load, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() { stubborn.write(load, t, s) })
	}
	for range 4 {
		clients.Go(func() { others.write(load, s) })
	}
	p.LoseCommits(0.05)
	cuts := 0
	// For a while, and until some COMMIT that went through was never heard of.
	began := time.Now()
	for enough := false; !enough && time.Since(began) < 20*time.Second; cuts++ {
		enough = time.Since(began) > 4*time.Second && stubborn.replays.Load() > 0
		time.Sleep(rand.N(40 * time.Millisecond)) // the cuts fall at random moments
		p.CutOnce()
	}
	p.LoseCommits(0)
	stop()
	clients.Wait()

	t.Logf("%d cuts", cuts)
	stubborn.check(t, s)
	others.check(t, s)
	others.report(t)
	stubborn.client.Converges(t, s, rig.Truth(t, rig.OpenStore(t, db)), int(others.next.Load()), 5*time.Second)
}

// stubborn clients repeat a registration until it is acknowledged.
type stubborn struct {
	client                          *rig.Client
	next, unknown, retries, replays atomic.Int64
	ids                             sync.Map // by number, the id that the client was told
}

func (c *stubborn) write(ctx context.Context, t *testing.T, s *rig.Server) {
	for ctx.Err() == nil {
		n := int(c.next.Add(1))
		for ; ; c.retries.Add(1) {
			a := c.client.Register(t.Context(), s, n, "Idempotency-Key", fmt.Sprintf("attempt-%d", n))
			if a.Status == http.StatusCreated {
				c.ids.Store(n, a.Fields(t)["id"])
				if a.Header.Get("Idempotency-Replayed") != "" {
					c.replays.Add(1)
				}
				break
			}
			if a.Outcome() == rig.Unknown {
				c.unknown.Add(1)
			}
			if t.Context().Err() != nil || a.Status == http.StatusConflict {
				t.Errorf("registration %d answered %d %s %v", n, a.Status, a.Code, a.Err)
				break
			}
		}
	}
}

func (c *stubborn) check(t *testing.T, s *rig.Server) {
	t.Helper()
	owned := c.client.Owned(t, s) // finds doubles
	for n := 1; n <= int(c.next.Load()); n++ {
		ssid := fmt.Sprintf("net-%d", n)
		id, _ := c.ids.Load(n)
		if h, there := owned[ssid]; !there || h["id"] != id {
			t.Errorf("registration %d was acknowledged as %v; stored is %v", n, id, h["id"])
		}
		delete(owned, ssid)
	}
	if len(owned) > 0 {
		t.Errorf("%d hotspots came from nowhere", len(owned))
	}
	t.Logf("%d registrations, %d retries, %d outcomes unknown, %d of them had been committed",
		c.next.Load(), c.retries.Load(), c.unknown.Load(), c.replays.Load())
	if c.replays.Load() == 0 {
		t.Error("of no COMMIT that went through was the answer lost: nothing was shown")
	}
}
