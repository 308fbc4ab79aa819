package openfeeds_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// The nearest are those that sorting all by distance gives, with their distances.
func TestNearest_Distance(t *testing.T) {
	n := town(t, true)
	n.add(t, beacon.Public, 80, geo.Point{Lat: -17, Lng: 179.9})
	n.add(t, beacon.Public, 81, geo.Point{Lat: -17, Lng: -179.9})
	n.add(t, beacon.Public, 82, geo.Point{Lat: 89.99, Lng: 10})
	for _, from := range [][2]float64{{40.7103, -73.99}, {40.7103, -73.9901}, {-17, 179.95}, {-17, -180}, {90, 0}, {-90, 180}, {0, 0}} {
		type want struct {
			id     string
			metres float64
		}
		var all []want
		for _, f := range collection(t, n.get("/open/hotspots.geojson")).Features {
			all = append(all, want{f.ID, arc(from[0], from[1], f.Geometry.Coordinates[1], f.Geometry.Coordinates[0])})
		}
		slices.SortStableFunc(all, func(a, b want) int { return int(math.Copysign(1, math.Round((a.metres-b.metres)*1e3)/1e3)) })
		for limit, some := range map[string]int{"": 20, "&limit=1": 1, "&limit=7": 7, "&limit=500": len(all)} {
			path := fmt.Sprintf("/open/nearest?lat=%v&lng=%v%s", from[0], from[1], limit)
			got := nearby(t, n, path)
			if len(got) != some {
				t.Fatalf("%s: %d; want %d", path, len(got), some)
			}
			for i, f := range got {
				if math.Abs(f.Properties.Distance-all[i].metres) > 1 {
					t.Errorf("%s: number %d is %s at %v m; want %s at %v m", path, i, f.ID, f.Properties.Distance, all[i].id, all[i].metres)
				}
			}
		}
	}
}

type nearFeature struct {
	ID         string
	Properties struct {
		Name     string
		Distance float64 `json:"distance_m"`
	}
}

func nearby(t testing.TB, n *network, path string) []nearFeature {
	t.Helper()
	var body struct {
		Features       []nearFeature
		NumberReturned int
	}
	w := n.get(path)
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK || body.NumberReturned != len(body.Features) {
		t.Fatalf("%s: %d %v %s", path, w.Code, err, w.Body)
	}
	return body.Features
}

// arc is the haversine formula.
func arc(latA, lngA, latB, lngB float64) float64 {
	const r = math.Pi / 180
	h := math.Pow(math.Sin((latB-latA)*r/2), 2) + math.Cos(latA*r)*math.Cos(latB*r)*math.Pow(math.Sin((lngB-lngA)*r/2), 2)
	return 2 * 6_371_008.8 * math.Asin(math.Sqrt(min(h, 1)))
}

// All words are looked for in names and addresses, whatever their capitals and accents.
func TestNearest_Words(t *testing.T) {
	n := newNetwork(edge.Limits{}, "http://x")
	for i, named := range [][2]string{
		{"Café de la Paix", "5 Place de l'Opéra"}, {"Bücherei Straße", "Hauptstraße 1"}, {"Library", "Paix road 9"}, {"Tab", ""}, {"図書館 中央", "東京"}, {"Kiosk", "library"},
	} {
		n.add(t, beacon.Public, i, geo.Point{Lat: 10 - float64(i)}, func(h *beacon.Hotspot) { h.Name, h.Location.Address = named[0], named[1] })
	}
	n.add(t, beacon.Home, 50, geo.Point{}, func(h *beacon.Hotspot) { h.Name = "library at home" })
	for words, want := range map[string]string{
		"library": "Kiosk, Library", "LIBR": "Kiosk, Library", "paix": "Library, Café de la Paix", "cafe opera": "Café de la Paix", "Opéra  CAFÉ": "Café de la Paix",
		"strasse": "Bücherei Straße", "bucherei 1": "Bücherei Straße", "図書": "図書館 中央", "paix library": "Library", "at home": "", "tab": "Tab", "5": "Café de la Paix",
		"nothing": "", "kiosk café": "", "k": "Kiosk",
	} {
		var got []string
		for _, f := range nearby(t, n, "/open/nearest?lat=0&lng=0&q="+url.QueryEscape(words)) {
			got = append(got, f.Properties.Name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q; want %q", words, got, want)
		}
	}
	n.now = n.now.Add(2 * time.Minute) // another edition has other names
	n.put(t, n.add(t, beacon.Public, 3, geo.Point{Lat: 7}, func(h *beacon.Hotspot) { h.Name, h.Version = "Newly named", 2 }))
	if got := nearby(t, n, "/open/nearest?lat=0&lng=0&q=newly"); len(got) != 1 {
		t.Errorf("after it was renamed: %v", got)
	}
}

func TestNearest_Faults(t *testing.T) {
	n := town(t, false)
	for query, fields := range map[string]string{
		"": "lat lng", "lat=1": "lng", "lng=1": "lat", "lat=91&lng=0": "lat", "lat=0&lng=-180.1": "lng", "lat=NaN&lng=0": "lat", "lat=0x1&lng=0": "lat", "lat=1e999&lng=0": "lat",
		"lat=&lng=": "lat lng", "lat=1&lng=1&limit=0": "limit", "lat=1&lng=1&q=": "q", "lat=1&lng=1&q=%00": "q", "lat=1&lng=1&q=%ff": "q", "lat=1&lng=1&q=" + strings.Repeat("x", 51): "q",
		"lat=1&lng=1&q=%CC%81": "q", "lat=1&lng=1&lat=2": "lat", "lat=1&lng=1&bbox=1": "bbox",
	} {
		var body struct {
			Error struct{ Details []struct{ Field string } }
		}
		w := n.get("/open/nearest?" + query)
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range body.Error.Details {
			got = append(got, d.Field)
		}
		if w.Code != http.StatusBadRequest || strings.Join(got, " ") != fields {
			t.Errorf("%s: %d %s; want %s", query, w.Code, w.Body, fields)
		}
	}
}

// In a large network a search counts as more requests, by the hotspots that it looks at.
func TestNearest_Charge(t *testing.T) {
	n := newNetwork(edge.Limits{Feeds: ratelimit.Limit{Every: time.Hour, Burst: 10}}, "http://x")
	all := make([]beacon.Hotspot, 50_000)
	for i := range all {
		all[i] = n.add(t, beacon.Public, 0, geo.Point{Lat: float64(i%1000) / 100})
		all[i].ID = beacon.HotspotID(fmt.Sprintf("hs_01m7fh87h4ephbpxmpvwb%05d", i))
	}
	if err := n.fleet.Apply(all...); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		w := n.get("/open/nearest?lat=1&lng=1&q=business")
		if want := map[bool]int{true: 429, false: 200}[i == 5]; w.Code != want {
			t.Errorf("search %d: %d; want %d", i, w.Code, want)
		}
	}
}
