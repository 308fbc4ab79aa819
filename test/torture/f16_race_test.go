//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// racers is how many do the same at once.
const racers = 50

// raceServers are two servers on one database: within one process, writes come
// one after the other anyway.
func raceServers(t *testing.T, db string) ([]*harness.Server, *load) {
	servers := []*harness.Server{harness.Start(t, db), harness.Start(t, db)}
	return servers, newUsers(t, servers[0])
}

// atOnce lets all racers do something at the same moment.
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
	harness.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		for range rounds(1, 3, 100) {
			first := int(load.number.Add(racers)) - racers
			statuses := make([]int, racers)
			atOnce(func(i int) {
				_, a := load.register(t.Context(), servers[i%2], load.users[i%len(load.users)], first+i, i, spelt(harness.MACOf(first), i))
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
		harness.Truth(t, harness.OpenStore(t, db)) // in which each is there once (I4)
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
	testRaceOfChanges(t, func(i int) harness.Fields { return harness.Fields{"name": fmt.Sprintf("Name %d", i)} })
}

// TestF16_OtherFields: fifty clients change three fields of one hotspot at the
// same moment, each one of them: no change undoes another.
func TestF16_OtherFields(t *testing.T) {
	testRaceOfChanges(t, func(i int) harness.Fields {
		switch i % 3 {
		case 0:
			return harness.Fields{"name": fmt.Sprintf("Name %d", i)}
		case 1:
			return harness.Fields{"settings": harness.Fields{"max_connections": 100 + i}}
		default:
			return harness.Fields{"settings": harness.Fields{"bandwidth_limit_mbps": 100 + i}}
		}
	})
}

func testRaceOfChanges(t *testing.T, body func(i int) harness.Fields) {
	harness.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		type act = func(s *harness.Server, i int)
		race := func(do func(change, read act)) {
			n := int(load.number.Add(1)) - 1
			hotspot, a := load.register(t.Context(), servers[0], load.users[0], n, checker, harness.MACOf(n))
			if a.Status != http.StatusCreated {
				t.Fatalf("a registration was answered %d %s %v", a.Status, a.Code, a.Err)
			}
			do(func(s *harness.Server, i int) {
				if a := load.change(t.Context(), s, hotspot, i, body(i)); a.Status != http.StatusOK {
					t.Errorf("a change was answered %d %s %v", a.Status, a.Code, a.Err)
				}
			}, func(s *harness.Server, i int) { load.read(t.Context(), s, hotspot, i) })
			load.read(t.Context(), servers[0], hotspot, checker)
			hotspot.checkLinear(t)
		}
		for range rounds(1, 3, 100) {
			race(func(change, read act) {
				atOnce(func(i int) {
					change(servers[i%2], i)
					if i%5 == 0 {
						read(servers[i/5%2], i)
					}
				})
			})
		}
		if !harness.IsPostgres(db) {
			return
		}
		// One server has read the hotspot, and not written it yet, while the other changes it.
		proxy, behind := harness.ThroughProxy(t, db)
		far := harness.Start(t, behind)
		race(func(change, _ act) {
			silent, done := proxy.SilentAt("Name 0"), make(chan struct{})
			go func() {
				defer close(done)
				change(far, 0)
			}()
			select {
			case <-silent:
			case <-done:
				t.Fatal("the far server wrote nothing")
			}
			change(servers[0], 1)
			proxy.Set(harness.Healed)
			<-done
		})
	})
}

// TestF16_Revoke: a key is revoked at one server while many use it, there and at
// another server. Where it was revoked, it opens nothing that begins after the
// answer. The other server refuses it as soon as it shows a change that was made
// after the revocation: revocations are changes, and changes are followed in order.
// How soon that is, is logged: two seconds are promised (decision N23).
func TestF16_Revoke(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		servers, load := raceServers(t, db)
		marker := load.admin.Ask(t, http.MethodPost, servers[1].URL+"/v1/hotspots", harness.Fields{
			"name": "Marker", "type": "home", "location": harness.Fields{"lat": -40, "lng": 100},
			"device": harness.Fields{"ssid": "marker", "mac_address": harness.MACOf(0)},
		})["id"].(string)
		awaitMarker(t, load, servers[0], "Marker")
		for round := range rounds(1, 3, 20) {
			u, key := load.newUser(t, servers[0])
			enough, before := load.number.Load()+3*racers, 0
			refuses := []chan struct{}{make(chan struct{}), make(chan struct{})} // by server; closed when it must
			atOnce(func(i int) {
				if i > 0 {
					load.useUntilRefused(t, servers[i%2], u, refuses[i%2])
					return
				}
				harness.Eventually(t, "the key is used a lot", func() bool { return load.number.Load() > enough })
				before = load.taken(u)
				a := load.admin.Do(t.Context(), http.MethodDelete, servers[1].URL+"/v1/keys/"+key, nil)
				if a.Status != http.StatusNoContent {
					t.Errorf("revoking a key was answered %d %s %v", a.Status, a.Code, a.Err)
				}
				close(refuses[1])
				name := fmt.Sprintf("Revoked %d", round)
				load.admin.Ask(t, http.MethodPatch, servers[1].URL+"/v1/hotspots/"+marker, harness.Fields{"name": name})
				took := awaitMarker(t, load, servers[0], name)
				close(refuses[0])
				t.Logf("the other server knew after %v", took)
			})
			if before < racers {
				t.Errorf("%d registrations were acknowledged before the key was revoked: too few", before)
			}
			for i, s := range servers {
				load.useUntilRefused(t, s, u, refuses[i])
			}
		}
	})
}

// awaitMarker waits until a server shows on its map that the marker has a name.
func awaitMarker(t *testing.T, l *load, s *harness.Server, name string) time.Duration {
	t.Helper()
	return harness.Eventually(t, "the other server follows", func() bool {
		a := l.admin.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?lat=-40&lng=100&status=all", nil)
		return strings.Contains(string(a.Data), fmt.Sprintf("%q", name))
	})
}

// useUntilRefused registers hotspots with a key until it is refused. What begins
// after refuses was closed must be.
func (l *load) useUntilRefused(t *testing.T, s *harness.Server, u *user, refuses <-chan struct{}) {
	for {
		must := false
		select {
		case <-refuses:
			must = true
		default:
		}
		n := int(l.number.Add(1)) - 1
		switch _, a := l.register(t.Context(), s, u, n, n, harness.MACOf(n)); {
		case a.Status == http.StatusUnauthorized:
			return
		case must && a.Status != http.StatusServiceUnavailable:
			t.Errorf("a revoked key is still good: a registration was answered %d %s %v", a.Status, a.Code, a.Err)
			return
		}
	}
}

// taken counts the registrations of a user that were acknowledged.
func (l *load) taken(u *user) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, hotspot := range l.hotspots {
		if hotspot.owner == u && len(hotspot.ops) > 0 && hotspot.ops[0].outcome == harness.Done {
			n++
		}
	}
	return n
}
