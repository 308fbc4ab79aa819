package api_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/mvt/mvttest"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// tile gets the points of a tile.
func (c client) tile(t testing.TB, z, x, y int) []mvttest.Point {
	t.Helper()
	a := c.get(t, at("/v1/coverage/tiles/%d/%d/%d.mvt", z, x, y)).want(t, http.StatusOK)
	if got := a.Header.Get("Content-Type"); got != "application/vnd.mapbox-vector-tile" {
		t.Errorf("%s: Content-Type %q", a.Request.URL, got)
	}
	if got := a.Header.Get("Content-Length"); !a.Uncompressed && got != fmt.Sprint(len(a.body)) {
		t.Errorf("%s: Content-Length %q of %d", a.Request.URL, got, len(a.body))
	}
	layers := mvttest.Decode(t, a.body)
	if len(layers) == 0 {
		return nil
	}
	if l := layers[0]; len(layers) != 1 || l.Name != "hotspots" || l.Version != 2 || l.Extent != 4096 {
		t.Errorf("%s: %d layers, the first %q, version %d, extent %d", a.Request.URL, len(layers), l.Name, l.Version, l.Extent)
	}
	return layers[0].Points
}

// onTheMap tells where in a tile a place is, by the formula of the web's map.
func onTheMap(z, x, y int, lat, lng float64) (float64, float64) {
	count, sin := math.Exp2(float64(z)), math.Sin(lat*math.Pi/180)
	return ((lng+180)/360*count - float64(x)) * 4096, ((0.5-math.Log((1+sin)/(1-sin))/(4*math.Pi))*count - float64(y)) * 4096
}

// tileAt gives the tile of a zoom that a place is in.
func tileAt(z int, lat, lng float64) (x, y int) {
	px, py := onTheMap(z, 0, 0, lat, lng)
	return int(px / 4096), int(py / 4096)
}

// Each tile shows what the box of the same place does, where it stands.
func TestTiles(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 62.5, grid(200, 40.7003, -73.9998, 0.00037)...)
	all := map[string]mark{}
	for _, h := range c.coverage(t, "north=41&south=40&east=-73&west=-75").Hotspots {
		all[h.ID] = h
	}
	for _, z := range []int{14, 16, 22} {
		tiles, shown := map[[2]int]bool{}, 0
		for _, h := range all {
			x, y := tileAt(z, h.Lat, h.Lng)
			tiles[[2]int{x, y}] = true
		}
		for xy := range tiles {
			for _, p := range c.tile(t, z, xy[0], xy[1]) {
				shown++
				h := all[p.Properties["id"].(string)]
				wantEqual(t, h.ID, p.Properties, map[string]any{"id": h.ID, "status": h.Status, "radius_m": h.RadiusM})
				wantPlace(t, p, z, xy, h)
			}
		}
		if shown != len(all) || len(all) != 200 {
			t.Errorf("zoom %d: %d tiles show %d of %d", z, len(tiles), shown, len(all))
		}
	}
	for _, z := range []int{0, 5, 9, 13} { // there is but one tile, or there are two
		x, y := tileAt(z, 40.7003, -73.9998)
		east, south := tileAt(z, 40.7, -73.985)
		count, online := 0, 0
		for tx := x; tx <= east; tx++ {
			for ty := y - 1; ty <= south; ty++ {
				points := []mvttest.Point{}
				if ty >= 0 {
					points = c.tile(t, z, tx, ty)
				}
				for _, p := range points {
					if len(p.Properties) != 5 || !strings.HasPrefix(p.Properties["id"].(string), "cl_") || p.Properties["status"] != "online" || p.Properties["radius_m"].(float64) < 62.5 {
						t.Errorf("zoom %d: %v", z, p)
					}
					count, online = count+int(p.Properties["count"].(uint64)), online+int(p.Properties["online_count"].(uint64))
				}
			}
		}
		if count != 200 || online != 100 {
			t.Errorf("zoom %d: clusters of %d hotspots, %d online", z, count, online)
		}
	}
	far := c.coverage(t, world+"&zoom=0").Hotspots
	if points := c.tile(t, 0, 0, 0); len(points) != 1 || len(far) != 1 || points[0].Properties["id"] != far[0].ID || points[0].Properties["radius_m"] != far[0].RadiusM {
		t.Errorf("from afar, a tile has %v, a box %v", points, far)
	} else {
		wantPlace(t, points[0], 0, [2]int{}, far[0])
	}
}

// wantPlace checks a place to a 4096th of the tile.
func wantPlace(t testing.TB, p mvttest.Point, z int, xy [2]int, h mark) {
	t.Helper()
	x, y := onTheMap(z, xy[0], xy[1], h.Lat, h.Lng)
	if math.Abs(x-0.5-float64(p.X)) > 0.501 || math.Abs(y-0.5-float64(p.Y)) > 0.501 {
		t.Errorf("%s is at %d, %d of the tile %d/%v; want %v, %v", h.ID, p.X, p.Y, z, xy, x, y)
	}
}

// A place on a line between tiles is shown once, within its tile; one that the
// map does not show, in none; more than a thousand as clusters.
func TestTiles_Edges(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 50, geo.Point{Lat: 0, Lng: 0}, geo.Point{Lat: 0, Lng: 180}, geo.Point{Lat: 0, Lng: -180}, geo.Point{Lat: 86, Lng: 10}, geo.Point{Lat: -90, Lng: 10})
	for _, z := range []int{14, 22} {
		last, middle, shown := 1<<z-1, 1<<(z-1), 0
		for _, x := range []int{0, middle - 1, middle, last} {
			for _, y := range []int{middle - 1, middle} {
				for _, p := range c.tile(t, z, x, y) {
					shown++
					if p.X < 0 || p.X > 4095 || p.Y < 0 || p.Y > 4095 {
						t.Errorf("%v is beyond the tile %d/%d/%d", p, z, x, y)
					}
				}
			}
		}
		if shown != 3 {
			t.Errorf("zoom %d: %d of 3 hotspots are shown", z, shown)
		}
		column, _ := tileAt(z, 0, 10)
		for _, y := range []int{0, last} {
			if points := c.tile(t, z, column, y); len(points) != 0 {
				t.Errorf("zoom %d: the row %d shows %v", z, y, points)
			}
		}
	}
	var crowd []geo.Point
	for i := range 1001 {
		crowd = append(crowd, geo.Point{Lat: 10.001 + float64(i%30)*1e-5, Lng: 10.001 + float64(i/30)*1e-5})
	}
	s.populate(t, 10, crowd...)
	for z, clusters := range map[int]bool{14: true, 16: true, 22: false} {
		x, y := tileAt(z, 10.001, 10.001)
		points := c.tile(t, z, x, y)
		if len(points) == 0 || len(points) > 1000 || slices.ContainsFunc(points, func(p mvttest.Point) bool { return (p.Properties["count"] != nil) != clusters }) {
			t.Errorf("zoom %d: %d points; want clusters: %t", z, len(points), clusters)
		}
	}
}

// Each tile has one spelling; whatever else is asked for is not there.
func TestTiles_Unknown(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	for _, good := range []string{"0/0/0.mvt", "22/4194303/4194303.mvt", "1/1/1.mvt", "%31/1/1.mvt"} {
		a := c.get(t, "/v1/coverage/tiles/"+good)
		if a.StatusCode != http.StatusOK || len(a.body) != 0 || a.Header.Get("Content-Type") != "application/vnd.mapbox-vector-tile" {
			t.Errorf("%s; want a tile with nothing in it", a)
		}
	}
	for _, bad := range []string{
		"23/0/0.mvt", "1/2/0.mvt", "1/0/2.mvt", "0/1/0.mvt", "22/4194304/0.mvt", "-1/0/0.mvt", "0/-0/0.mvt", "0/0/-1.mvt", "00/0/0.mvt", "1/01/0.mvt", "1/0/00.mvt", "+1/0/0.mvt", "1/1e0/0.mvt",
		"1.0/0/0.mvt", "0/0/0", "0/0/0.pbf", "0/0/0.MVT", "0/0/.mvt", "0/0/0.mvt.mvt", "0/0/0.mvt%00", "0/0/0%20.mvt", "１/0/0.mvt", "0/0/x.mvt", "9223372036854775808/0/0.mvt",
		"4/18446744073709551616/0.mvt", "64/0/0.mvt", "63/0/0.mvt", "0x1/0/0.mvt", "0/0/0.mvt%2f", "0/0/%2e%2e",
	} {
		wantFault(t, c.get(t, "/v1/coverage/tiles/"+bad), http.StatusNotFound, "not_found")
	}
}

// A tag stands for what is in the tile, whoever serves it, and changes with it.
func TestTiles_Tags(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		x, y := tileAt(14, 40.7, -74)
		path := at("/v1/coverage/tiles/14/%d/%d.mvt", x, y)
		first := c.get(t, path).want(t, http.StatusOK)
		tag := first.Header.Get("ETag")
		for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, `"x",W/` + tag + ` , "y"`, "*"} {
			again := c.get(t, path, "If-None-Match", known)
			if again.StatusCode != http.StatusNotModified || len(again.body) != 0 || again.Header.Get("ETag") != tag || again.Header.Get("Content-Type") != "" {
				t.Errorf("If-None-Match %s: %s, ETag %q", known, again, again.Header.Get("ETag"))
			}
		}
		if again := c.get(t, path, "If-None-Match", `"x"`, "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
			t.Errorf("two headers: %s", again.Status)
		}
		for _, other := range []string{`"x"`, strings.Trim(tag, `"`), tag[:len(tag)-2] + `"`, "", `w/` + tag} {
			if again := c.get(t, path, "If-None-Match", other); again.StatusCode != http.StatusOK || string(again.body) != string(first.body) {
				t.Errorf("If-None-Match %s: %s", other, again.Status)
			}
		}
		replica := client{server: start(t, s.db, options{limits: ample}), plain: c.plain}
		if other := replica.get(t, path, "If-None-Match", tag); other.StatusCode != http.StatusNotModified {
			t.Errorf("another server, with the same hotspots: %s", other.Status)
		}
		m.beat(t, `{"boot_id":"a","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		online := c.get(t, path, "If-None-Match", tag).want(t, http.StatusOK)
		s.advance(241 * time.Second)
		offline := c.get(t, path, "If-None-Match", online.Header.Get("ETag")).want(t, http.StatusOK)
		if offline.Header.Get("ETag") != tag || online.Header.Get("ETag") == tag {
			t.Errorf("tags %s, online %s, offline again %s", tag, online.Header.Get("ETag"), offline.Header.Get("ETag"))
		}
		wantFault(t, s.call(t, "GET", path, "", "If-None-Match", tag), http.StatusUnauthorized, "unauthorized") // without a key
	})
}
