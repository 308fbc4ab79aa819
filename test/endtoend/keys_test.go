//go:build linux

package endtoend_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// TestRevoke: a key that every server knows well is revoked, over HTTP through
// one of them or on the command line beside them, and soon none takes it any more.
// How soon that is, is decision N23; this only logs it.
func TestRevoke(t *testing.T) {
	t.Parallel() // it mostly waits
	t.Run("sqlite", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "beacon.db")
		testRevoke(t, db, []*harness.Server{harness.Start(t, db), harness.Start(t, db)})
	})
	t.Run("postgres", func(t *testing.T) {
		db := storetest.Postgres(t)
		testRevoke(t, db, []*harness.Server{harness.Start(t, db), harness.Start(t, db), harness.Start(t, db)})
	})
}

func testRevoke(t *testing.T, db string, servers []*harness.Server) {
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	revoke := map[string]func(id string){
		"http": func(id string) {
			if a := admin.Do(t.Context(), http.MethodDelete, servers[0].URL+"/v1/keys/"+id, nil); a.Status != http.StatusNoContent {
				t.Fatalf("revoking answered %d %s", a.Status, a.Code)
			}
		},
		"cli": func(id string) { harness.Command(t, "keys", "revoke", "--db", db, id) },
	}
	for way, revoke := range revoke {
		k := harness.CreateKey(t, db, "hotspots:write")
		c := harness.NewClient(t, k.Key)
		for _, s := range servers {
			// It must be in memory everywhere, or the test shows nothing.
			for range 3 {
				if a := c.Do(t.Context(), http.MethodGet, s.URL+"/v1/keys/self", nil); a.Status != http.StatusOK {
					t.Fatalf("a fresh key: %d %s", a.Status, a.Code)
				}
			}
		}
		revoke(k.ID)
		revoked := time.Now()
		for _, s := range servers {
			harness.Eventually(t, "a revoked key is refused", func() bool {
				return c.Do(t.Context(), http.MethodGet, s.URL+"/v1/hotspots/nearby?lat=1&lng=1", nil).Status == http.StatusUnauthorized
			})
		}
		t.Logf("revoked by %s: refused by all %d servers after %v", way, len(servers), time.Since(revoked))
		for _, s := range servers { // and it stays so
			if a := c.Register(t.Context(), s, 1); a.Status != http.StatusUnauthorized {
				t.Errorf("a revoked key then answered %d", a.Status)
			}
		}
	}
	audit := harness.Command(t, "audit", "--db", db, "--json")
	list := harness.Command(t, "keys", "list", "--db", db)
	if a, l := strings.Count(audit, `"kind":"key.revoked"`), strings.Count(list, " revoked "); a != len(revoke) || l != len(revoke) {
		t.Errorf("audit shows %d revocations and the list %d; want %d: %s%s", a, l, len(revoke), audit, list)
	}
}
