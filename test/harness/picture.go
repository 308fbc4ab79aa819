//go:build linux

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// shown is what a nearby answer shows of a hotspot that may change.
type shown struct {
	Name     string
	Lat, Lng float64
	Radius   float64
}

// Picture is all hotspots by id.
type Picture map[string]shown

// nearby is the picture that a server has in memory of the first n places.
func (c *Client) nearby(ctx context.Context, s *Server, n int) (Picture, error) {
	all := Picture{}
	for tile := range n/perTile + 1 {
		lat, lng := PlaceOf(tile*perTile + perTile/2)
		a := c.Do(ctx, http.MethodGet, fmt.Sprintf("%s/v1/hotspots/nearby?status=all&limit=100&radius=%d&lat=%v&lng=%v", s.URL, tileRadiusM, lat, lng), nil)
		var list []struct {
			ID, Name        string
			Location        struct{ Lat, Lng float64 }
			CoverageRadiusM float64 `json:"coverage_radius_m"`
		}
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("nearby answered %d %s %w", a.Status, a.Code, a.Err)
		}
		if err := json.Unmarshal(a.Data, &list); err != nil {
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

// Truth is the picture that the database holds. It also holds the database to
// what must be unique.
func Truth(t testing.TB, db *store.DB) Picture {
	t.Helper()
	all := Picture{}
	macs := map[string]string{}
	var mu sync.Mutex
	err := db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(h beacon.Hotspot) error {
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

// Converges waits until a server shows exactly what the database holds, and
// returns how long that took, for logs.
func (c *Client) Converges(t testing.TB, s *Server, want Picture, n int) time.Duration {
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
		if time.Since(began) > Patience {
			t.Fatalf("%v after the last write, a server differs from the database (-database +server): %v\n%.2000s", Patience, err, diff)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, up to a deadline
	}
}
