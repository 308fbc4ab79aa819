//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// tile is a square of the map as a server sends it.
type tile struct {
	status    int
	tag, kind string
	body      []byte
}

// fetchTile asks until it is not turned away.
func fetchTile(ctx context.Context, c *harness.Client, s *harness.Server, z, x, y int, header ...string) (got tile, err error) {
	away := true
	for began := time.Now(); away && time.Since(began) < harness.Patience; {
		got, away, err = tryTile(ctx, c, s, z, x, y, header...)
	}
	return got, err
}

func tryTile(ctx context.Context, c *harness.Client, s *harness.Server, z, x, y int, header ...string) (got tile, away bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/v1/coverage/tiles/%d/%d/%d.mvt", s.URL, z, x, y), nil)
	if err != nil {
		return tile{}, false, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return tile{}, false, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	got = tile{response.StatusCode, response.Header.Get("ETag"), response.Header.Get("Content-Type"), body}
	return got, turnedAway(response.StatusCode, response.Header), err
}

// tilesAround are the tiles that a place is in, from the world's down to the
// deepest, by their names; each has its tag and says so when asked again.
func tilesAround(t testing.TB, c *harness.Client, s *harness.Server, lat, lng float64) map[string]string {
	t.Helper()
	all, bodies := map[string]string{}, map[string]string{}
	for _, z := range []int{0, 1, 5, 10, 13, 14, 16, 18, 22} {
		z, x, y := tileOf(z, lat, lng)
		got, err := fetchTile(t.Context(), c, s, z, x, y)
		if err != nil || got.status != http.StatusOK || got.kind != "application/vnd.mapbox-vector-tile" || got.tag == "" {
			t.Fatalf("tile %d/%d/%d: %d %q %q %v", z, x, y, got.status, got.kind, got.tag, err)
		}
		again, err := fetchTile(t.Context(), c, s, z, x, y, "If-None-Match", got.tag)
		if err != nil || again.status != http.StatusNotModified || again.tag != got.tag || len(again.body) > 0 {
			t.Errorf("tile %d/%d/%d, asked again: %d %q, %d bytes, %v; want 304 %q", z, x, y, again.status, again.tag, len(again.body), err, got.tag)
		}
		if other, known := bodies[got.tag]; known && other != string(got.body) {
			t.Errorf("tile %d/%d/%d has the tag of another", z, x, y)
		}
		bodies[got.tag] = string(got.body)
		all[fmt.Sprintf("tile %d/%d/%d", z, x, y)] = got.tag + string(got.body)
	}
	return all
}

// tileOf names the tile of a zoom that a place is in.
func tileOf(zoom int, lat, lng float64) (z, x, y int) {
	count := float64(int(1) << zoom)
	row := (1 - math.Asinh(math.Tan(lat*degree))/math.Pi) / 2
	return zoom, int((lng + 180) / 360 * count), int(row * count)
}
