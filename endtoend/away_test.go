//go:build linux

package endtoend_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// answeredWithin is how long a client may have to wait for the news that the
// database is away.
const answeredWithin = 6 * time.Second

// TestDatabaseAway: while the database cannot be reached, nearby goes on and
// everything else says so in time and in the documented shape; once it is back,
// so is everything, without a restart.
func TestDatabaseAway(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, away := range map[string]rig.Mode{"cut": rig.Cut, "silent": rig.Silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Postgres(t)
			p, behind := rig.ThroughProxy(t, db)
			s := rig.Start(t, behind)
			c := rig.NewClient(t, rig.CreateKey(t, db, "hotspots:write").Key)
			id := c.MustRegister(t, s, 0)

			p.Set(away)
			nearby, stop := keepAskingNearby(t, c, s)
			refusedWhileAway(t, c, s, id)
			stop()
			if nearby.answered.Load() < 20 || nearby.failed.Load() > 0 {
				t.Errorf("nearby was answered %d times while the database was away, and failed %d times", nearby.answered.Load(), nearby.failed.Load())
			}
			t.Logf("nearby was answered %d times, after %v at the most", nearby.answered.Load(), time.Duration(nearby.longest.Load()))

			p.Set(rig.Healed)
			back := rig.Eventually(t, 10*time.Second, "a registration succeeds again", func() bool {
				return c.Register(t.Context(), s, 1).Status == http.StatusCreated
			})
			rig.Eventually(t, 10*time.Second, "/readyz", func() bool {
				return c.Do(t.Context(), http.MethodGet, s.URL+"/readyz", nil).Status == http.StatusOK
			})
			t.Logf("writes succeeded %v after the database was back", back)
			c.Converges(t, s, rig.Truth(t, rig.OpenStore(t, db)), 2, 5*time.Second)
			s.Running(t)
			// A silence may end before the follower gives up on it.
			if lost := strings.Count(s.Log(t), "cannot follow the changes"); lost > 1 || lost == 0 && away == rig.Cut {
				t.Errorf("the log says %d times that the database is away; want once", lost)
			}
		})
	}
}

// refusedWhileAway makes every kind of request that needs the database.
func refusedWhileAway(t *testing.T, c *rig.Client, s *rig.Server, id string) {
	t.Helper()
	requests := map[string]func() rig.Answer{
		"POST":   func() rig.Answer { return c.Register(t.Context(), s, 100) },
		"PATCH":  func() rig.Answer { return c.Patch(t.Context(), s, id, rig.Fields{"name": "Never"}) },
		"DELETE": func() rig.Answer { return c.Do(t.Context(), http.MethodDelete, s.URL+"/v1/hotspots/"+id, nil) },
		"GET":    func() rig.Answer { return c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/"+id, nil) },
		"list":   func() rig.Answer { return c.Do(t.Context(), http.MethodGet, s.URL+"/v1/users/me/hotspots", nil) },
		"readyz": func() rig.Answer { return c.Do(t.Context(), http.MethodGet, s.URL+"/readyz", nil) },
	}
	var all sync.WaitGroup
	for name, request := range requests {
		all.Go(func() {
			a := request()
			if a.Status != http.StatusServiceUnavailable && (a.Status != http.StatusInternalServerError || name == "readyz") {
				t.Errorf("%s: %d %v; want 503, or 500 for a write or read", name, a.Status, a.Err)
			}
			if a.Took > answeredWithin {
				t.Errorf("%s was answered after %v; want %v", name, a.Took, answeredWithin)
			}
			if a.Status == http.StatusServiceUnavailable && name != "readyz" && a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: a 503 without Retry-After", name)
			}
		})
	}
	all.Wait()
}

// asked counts the answers to nearby.
type asked struct{ answered, failed, longest atomic.Int64 }

func keepAskingNearby(t *testing.T, c *rig.Client, s *rig.Server) (*asked, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var n asked
	var asking sync.WaitGroup
	asking.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			a := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?status=all&lat=40&lng=-74", nil)
			if a.Status != http.StatusOK || !strings.Contains(string(a.Data), "Hotspot 0") {
				n.failed.Add(1)
			}
			n.answered.Add(1)
			n.longest.Store(max(n.longest.Load(), int64(a.Took)))
		}
	})
	return &n, func() {
		// At least so many that a hitch every now and then would show.
		rig.Eventually(t, 10*time.Second, "some answers to nearby", func() bool { return n.answered.Load() >= 100 })
		cancel()
		asking.Wait()
	}
}
