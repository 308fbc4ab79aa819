//go:build linux

package endtoend_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// TestUnlink: a device that every server knows well is unlinked through one of
// them, and none takes its beats any more.
func TestUnlink(t *testing.T) {
	db := storetest.Postgres(t)
	servers := []*server{start(t, db), start(t, db), start(t, db)}
	admin := newClient(t, createKey(t, db, "admin").Key)
	for i, d := range linkDevices(t, admin, servers[0], 0, 3) {
		for _, s := range servers {
			if a := d.beat(t.Context(), admin, s); a.status != http.StatusOK {
				t.Fatalf("a beat was answered %d %s %v", a.status, a.code, a.err)
			}
		}
		if a := admin.do(t.Context(), http.MethodDelete, servers[i].url+"/v1/hotspots/"+d.hotspot+"/device", nil); a.outcome() != done {
			t.Fatalf("unlinking was answered %d %s %v", a.status, a.code, a.err)
		}
		unlinked := time.Now()
		for _, s := range servers {
			eventually(t, revokedWithin-time.Since(unlinked), "the key of an unlinked device is refused", func() bool {
				return d.beat(t.Context(), admin, s).status == http.StatusUnauthorized
			})
		}
		t.Logf("unlinked: refused by all %d servers after %v", len(servers), time.Since(unlinked))
		for _, s := range servers { // and it stays so
			if a := d.beat(t.Context(), admin, s); a.status != http.StatusUnauthorized {
				t.Errorf("the key of an unlinked device then answered %d", a.status)
			}
			if got := readingOf(admin.ask(t, http.MethodGet, s.url+"/v1/hotspots/"+d.hotspot, nil)); got.Status != "pending" {
				t.Errorf("without a device a hotspot is %s", got.Status)
			}
		}
	}
}

// TestLinkRace: a code is used on three servers at once, many times over. One
// try wins, its key works everywhere at once, and no log has a code in it.
func TestLinkRace(t *testing.T) {
	db := storetest.Postgres(t)
	servers := []*server{start(t, db), start(t, db), start(t, db)}
	admin := newClient(t, createKey(t, db, "admin").Key)
	for n, d := range linkDevices(t, admin, servers[0], 0, 4) {
		code := admin.linkCode(t, servers[n%3], d)
		var mu sync.Mutex
		var keys []string
		var racing sync.WaitGroup
		for i := range 12 {
			racing.Go(func() {
				a := admin.do(t.Context(), http.MethodPost, servers[i%3].url+"/v1/devices/link", fields{"code": code, "mac_address": d.mac})
				mu.Lock()
				defer mu.Unlock()
				switch a.status {
				case http.StatusOK:
					key, _ := a.fields(t)["device_key"].(string)
					keys = append(keys, key)
				case http.StatusForbidden:
				default:
					t.Errorf("a try was answered %d %s %v", a.status, a.code, a.err)
				}
			})
		}
		racing.Wait()
		if len(keys) != 1 {
			t.Fatalf("%d tries won; want 1", len(keys))
		}
		before := *d
		d.key = keys[0]
		for _, s := range servers {
			if a := d.beat(t.Context(), admin, s); a.status != http.StatusOK {
				t.Errorf("the key that won was answered %d %s", a.status, a.code)
			}
			eventually(t, revokedWithin, "the key from before is refused", func() bool {
				return before.beat(t.Context(), admin, s).status == http.StatusUnauthorized
			})
			if strings.Contains(s.log(t), code) {
				t.Error("a code is in the log")
			}
		}
	}
}
