//go:build linux

package endtoend_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// TestUnlink: a device that every server knows well is unlinked through one of
// them, and none takes its beats any more.
func TestUnlink(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	servers := []*harness.Server{harness.Start(t, db), harness.Start(t, db), harness.Start(t, db)}
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	for i, d := range harness.LinkDevices(t, admin, servers[0], 0, 3) {
		for _, s := range servers {
			if a := d.Beat(t.Context(), admin, s); a.Status != http.StatusOK {
				t.Fatalf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
			}
		}
		if a := admin.Do(t.Context(), http.MethodDelete, servers[i].URL+"/v1/hotspots/"+d.Hotspot+"/device", nil); a.Outcome() != harness.Done {
			t.Fatalf("unlinking was answered %d %s %v", a.Status, a.Code, a.Err)
		}
		unlinked := time.Now()
		for _, s := range servers {
			harness.Eventually(t, "the key of an unlinked device is refused", func() bool {
				return d.Beat(t.Context(), admin, s).Status == http.StatusUnauthorized
			})
		}
		t.Logf("unlinked: refused by all %d servers after %v", len(servers), time.Since(unlinked))
		for _, s := range servers { // and it stays so
			if a := d.Beat(t.Context(), admin, s); a.Status != http.StatusUnauthorized {
				t.Errorf("the key of an unlinked device then answered %d", a.Status)
			}
			if got := harness.ReadingOf(admin.Ask(t, http.MethodGet, s.URL+"/v1/hotspots/"+d.Hotspot, nil)); got.Status != "pending" {
				t.Errorf("without a device a hotspot is %s", got.Status)
			}
		}
	}
}

// TestLinkRace: a code is used on three servers at once, many times over. One
// try wins, its key works everywhere at once, and no log has a code in it.
func TestLinkRace(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	servers := []*harness.Server{harness.Start(t, db), harness.Start(t, db), harness.Start(t, db)}
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	for n, d := range harness.LinkDevices(t, admin, servers[0], 0, 4) {
		code := admin.LinkCode(t, servers[n%3], d)
		var mu sync.Mutex
		var keys []string
		var racing sync.WaitGroup
		for i := range 12 {
			racing.Go(func() {
				a := admin.Do(t.Context(), http.MethodPost, servers[i%3].URL+"/v1/devices/link", harness.Fields{"code": code, "mac_address": d.MAC})
				mu.Lock()
				defer mu.Unlock()
				switch a.Status {
				case http.StatusOK:
					key, _ := a.Fields(t)["device_key"].(string)
					keys = append(keys, key)
				case http.StatusForbidden:
				default:
					t.Errorf("a try was answered %d %s %v", a.Status, a.Code, a.Err)
				}
			})
		}
		racing.Wait()
		if len(keys) != 1 {
			t.Fatalf("%d tries won; want 1", len(keys))
		}
		before := *d
		d.Key = keys[0]
		for _, s := range servers {
			if a := d.Beat(t.Context(), admin, s); a.Status != http.StatusOK {
				t.Errorf("the key that won was answered %d %s", a.Status, a.Code)
			}
			harness.Eventually(t, "the key from before is refused", func() bool {
				return before.Beat(t.Context(), admin, s).Status == http.StatusUnauthorized
			})
			if strings.Contains(s.Log(t), code) {
				t.Error("a code is in the log")
			}
		}
	}
}
