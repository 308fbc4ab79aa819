//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// racers is how many do the same at once.
const racers = 50

// raceServers are two servers on one database: within one process, writes come
// one after the other anyway.
func raceServers(t *testing.T, db string) ([]*rig.Server, *load) {
	servers := []*rig.Server{rig.Start(t, db), rig.Start(t, db)}
	return servers, newUsers(t, servers[0])
}

// atOnce lets a racers do something at the same moment.
func atOnce(do func(i int)) {
	var group sync.WaitGroup
	gate := make(chan struct{})
	for i := range racers {
		group.Go(func() {
			<-gate
			do(i)
		})
	}
	close(gate)
	group.Wait()
}

// TestF16_SameMAC: fifty users register one device at the same moment, in many
// spellings, at two servers: one of them has it.
func TestF16_SameMAC(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		for range rounds(3, 3, 100) {
			first := int(load.number.Add(racers)) - racers
			statuses := make([]int, racers)
			atOnce(func(i int) {
				_, a := load.register(t.Context(), servers[i%2], load.users[i%len(load.users)], first+i, i, spelt(rig.MACOf(first), i))
				statuses[i] = a.Status
			})
			counts := map[int]int{}
			for _, status := range statuses {
				counts[status]++
			}
			if counts[http.StatusCreated] != 1 || counts[http.StatusConflict] != racers-1 {
				t.Errorf("%d registrations of one MAC were answered %v", racers, counts)
			}
		}
		rig.Truth(t, rig.OpenStore(t, db)) // in which each is there once (I4)
	})
}

// spelt writes a MAC in one of the ways there are.
func spelt(mac string, way int) string {
	if way%3 == 0 {
		mac = strings.ToUpper(mac)
	}
	return strings.ReplaceAll(mac, ":", []string{":", "-", ""}[way/3%3])
}

// TestF16_SameField: fifty clients change one field of one hotspot at the same
// moment, at two servers, while others read it.
func TestF16_SameField(t *testing.T) {
	testRaceOfChanges(t, func(i int) rig.Fields { return rig.Fields{"name": fmt.Sprintf("Name %d", i)} })
}

// TestF16_OtherFields: fifty clients change three fields of one hotspot at the
// same moment, each one of them: no change undoes another.
func TestF16_OtherFields(t *testing.T) {
	testRaceOfChanges(t, func(i int) rig.Fields {
		switch i % 3 {
		case 0:
			return rig.Fields{"name": fmt.Sprintf("Name %d", i)}
		case 1:
			return rig.Fields{"settings": rig.Fields{"max_connections": 100 + i}}
		default:
			return rig.Fields{"settings": rig.Fields{"bandwidth_limit_mbps": 100 + i}}
		}
	})
}

func testRaceOfChanges(t *testing.T, body func(i int) rig.Fields) {
	rig.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		for range rounds(3, 3, 100) {
			n := int(load.number.Add(1)) - 1
			spot, a := load.register(t.Context(), servers[0], load.users[0], n, checker, rig.MACOf(n))
			if a.Status != http.StatusCreated {
				t.Fatalf("a registration was answered %d %s %v", a.Status, a.Code, a.Err)
			}
			atOnce(func(i int) {
				if a := load.change(t.Context(), servers[i%2], spot, i, body(i)); a.Status != http.StatusOK {
					t.Errorf("a change was answered %d %s %v", a.Status, a.Code, a.Err)
				}
				if i%5 == 0 {
					load.read(t.Context(), servers[i/5%2], spot, i)
				}
			})
			load.read(t.Context(), servers[0], spot, checker)
			spot.checkLinear(t)
		}
	})
}

// revokedWithin is how soon a revoked key opens nothing any more, wherever it was
// revoked (decision N23).
const revokedWithin = 2 * time.Second

// TestF16_Revoke: a key is revoked while many use it, at the other server. What
// begins later than that is refused.
func TestF16_Revoke(t *testing.T) {
	rig.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		for range rounds(1, 1, 20) {
			u, key := load.newUser(t, servers[0])
			revoked, enough := make(chan struct{}), load.number.Load()+200
			var at time.Duration
			atOnce(func(i int) {
				if i > 0 {
					load.useUntilRefused(t, servers[i%2], u, revoked)
					return
				}
				rig.Eventually(t, "the key is used a lot", func() bool { return load.number.Load() > enough })
				a := load.admin.Do(t.Context(), http.MethodDelete, servers[1].URL+"/v1/keys/"+key, nil)
				if a.Status != http.StatusNoContent {
					t.Errorf("revoking a key was answered %d %s %v", a.Status, a.Code, a.Err)
				}
				at = load.now()
				close(revoked)
			})
			load.checkRevoked(t, servers, u, at)
		}
	})
}

// useUntilRefused registers hotspots with a key until it is revoked and refused.
func (l *load) useUntilRefused(t *testing.T, s *rig.Server, u *user, revoked <-chan struct{}) {
	late := make(<-chan time.Time)
	for {
		n := int(l.number.Add(1)) - 1
		_, a := l.register(t.Context(), s, u, n, n, rig.MACOf(n))
		if a.Status == http.StatusUnauthorized {
			return
		}
		select {
		case <-revoked:
			late, revoked = time.After(2*revokedWithin), nil
		case <-late:
			t.Error("a key that was revoked long ago is still good")
			return
		default:
		}
	}
}

// checkRevoked: a key opened something before it was revoked, and nothing that
// began later.
func (l *load) checkRevoked(t *testing.T, servers []*rig.Server, u *user, at time.Duration) {
	t.Helper()
	before := 0
	for _, spot := range l.spots {
		switch o := spot.ops[0]; {
		case spot.owner != u || o.outcome != rig.Done:
		case o.call > at+revokedWithin:
			t.Errorf("%v after a key was revoked, it was good for this: %v", o.call-at, o)
		case o.end < at:
			before++
		}
	}
	for _, s := range servers {
		if a := u.Do(t.Context(), http.MethodGet, s.URL+"/v1/keys/self", nil); a.Status != http.StatusUnauthorized {
			t.Errorf("a revoked key was answered %d", a.Status)
		}
	}
	if before < racers {
		t.Errorf("%d registrations were acknowledged before the key was revoked: too few", before)
	}
}
