//go:build linux

package endtoend_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/store/storetest"
)

// revokedWithin is how soon every replica refuses a revoked key (decision N23).
const revokedWithin = 2 * time.Second

// TestRevoke: a key that every server knows well is revoked, over HTTP through
// one of them or on the command line beside them, and none takes it any more.
func TestRevoke(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "beacon.db")
		testRevoke(t, db, []*server{start(t, db), start(t, db)})
	})
	t.Run("postgres", func(t *testing.T) {
		db := storetest.Postgres(t)
		testRevoke(t, db, []*server{start(t, db), start(t, db), start(t, db)})
	})
}

func testRevoke(t *testing.T, db string, servers []*server) {
	admin := newClient(t, createKey(t, db, "admin").Key)
	revoke := map[string]func(id string){
		"http": func(id string) {
			if a := admin.do(t.Context(), http.MethodDelete, servers[0].url+"/v1/keys/"+id, nil); a.status != http.StatusNoContent {
				t.Fatalf("revoking answered %d %s", a.status, a.code)
			}
		},
		"cli": func(id string) { command(t, "keys", "revoke", "--db", db, id) },
	}
	for way, revoke := range revoke {
		k := createKey(t, db, "hotspots:write")
		c := newClient(t, k.Key)
		for _, s := range servers {
			// It must be in memory everywhere, or the test shows nothing.
			for range 3 {
				if a := c.do(t.Context(), http.MethodGet, s.url+"/v1/keys/self", nil); a.status != http.StatusOK {
					t.Fatalf("a fresh key: %d %s", a.status, a.code)
				}
			}
		}
		revoke(k.ID)
		revoked := time.Now()
		for _, s := range servers {
			eventually(t, revokedWithin-time.Since(revoked), "a revoked key is refused", func() bool {
				return c.do(t.Context(), http.MethodGet, s.url+"/v1/hotspots/nearby?lat=1&lng=1", nil).status == http.StatusUnauthorized
			})
		}
		t.Logf("revoked by %s: refused by all %d servers after %v", way, len(servers), time.Since(revoked))
		for _, s := range servers { // and it stays so
			if a := c.register(t.Context(), s, 1); a.status != http.StatusUnauthorized {
				t.Errorf("a revoked key then answered %d", a.status)
			}
		}
	}
	audit := command(t, "audit", "--db", db, "--json")
	list := command(t, "keys", "list", "--db", db)
	if a, l := strings.Count(audit, `"kind":"key.revoked"`), strings.Count(list, " revoked "); a != len(revoke) || l != len(revoke) {
		t.Errorf("audit shows %d revocations and the list %d; want %d: %s%s", a, l, len(revoke), audit, list)
	}
}
