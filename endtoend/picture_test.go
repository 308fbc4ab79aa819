//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/store"
	"github.com/beacon-wifi/beacon/store/postgres"
	"github.com/beacon-wifi/beacon/store/sqlite"
)

// shown is what a nearby answer shows of a hotspot that may change.
type shown struct {
	Name     string
	Lat, Lng float64
	Radius   float64
}

// picture is all hotspots by id.
type picture map[string]shown

// nearby is the picture that a server has in memory of the first n places.
func (c *client) nearby(ctx context.Context, s *server, n int) (picture, error) {
	all := picture{}
	for tile := range n/perTile + 1 {
		lat, lng := placeOf(tile*perTile + perTile/2)
		a := c.do(ctx, http.MethodGet, fmt.Sprintf("%s/v1/hotspots/nearby?status=all&limit=100&radius=%d&lat=%v&lng=%v", s.url, tileRadiM, lat, lng), nil)
		var list []struct {
			ID, Name        string
			Location        struct{ Lat, Lng float64 }
			CoverageRadiusM float64 `json:"coverage_radius_m"`
		}
		if a.status != http.StatusOK {
			return nil, fmt.Errorf("nearby answered %d %s %w", a.status, a.code, a.err)
		}
		if err := json.Unmarshal(a.data, &list); err != nil {
			return nil, err
		}
		if len(list) == 100 {
			return nil, fmt.Errorf("tile %d has more than a query shows", tile)
		}
		for _, h := range list {
			all[h.ID] = shown{h.Name, h.Location.Lat, h.Location.Lng, h.CoverageRadiusM}
		}
	}
	return all, nil
}

// openStore opens a database beside the servers that run on it.
func openStore(t testing.TB, db string) *store.DB {
	t.Helper()
	var handle *store.DB
	var err error
	if strings.HasPrefix(db, "postgres") {
		handle, err = postgres.Open(t.Context(), db, postgres.Options{Now: time.Now()})
	} else {
		handle, err = sqlite.Open(t.Context(), db, sqlite.Options{Now: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	})
	return handle
}

// truth is the picture that the database holds. It also holds the database to
// what must be unique.
func truth(t testing.TB, db *store.DB) picture {
	t.Helper()
	all := picture{}
	macs := map[string]string{}
	var mu sync.Mutex
	err := db.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		id, mac := string(h.ID), h.Device.MAC.Canonical()
		if other, taken := macs[mac]; taken {
			t.Errorf("%s and %s have the same MAC", other, id)
		}
		macs[mac] = id
		all[id] = shown{h.Name, h.Location.Point.Lat, h.Location.Point.Lng, h.Settings.CoverageRadius(h.Type)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// converges waits until a server shows exactly what the database holds, and
// answers how long that took.
func (c *client) converges(t testing.TB, s *server, want picture, n int, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		got, err := c.nearby(t.Context(), s, n)
		diff := ""
		if err == nil {
			if diff = cmp.Diff(want, got); diff == "" {
				return time.Since(began)
			}
		}
		if time.Since(began) > within {
			t.Fatalf("%v after the last write, a server differs from the database (-database +server): %v\n%.2000s", within, err, diff)
		}
	}
}
