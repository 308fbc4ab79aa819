package basemap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap"
	"github.com/beacon-wifi/beacon/internal/basemap/basemaptest"
)

// Names of places, streets, parks and water are found, where they are.
func TestSearch(t *testing.T) {
	for _, schema := range []string{"protomaps", "openmaptiles", "plain"} {
		c := basemaptest.City{Lat: 52.52, Lng: 13.405, Schema: schema}
		m := open(t, c)
		if found := m.Search("lumeford", 0, 0); len(found) > 0 {
			t.Errorf("found %v before the names were read", found)
		}
		count, whole, err := m.Index(t.Context())
		if err != nil || !whole || count < 20 || count > 200 {
			t.Fatalf("%s: read %d names, whole: %t, %v", schema, count, whole, err)
		}
		for text, want := range map[string]string{
			"lumeford": "place Lumeford", "LUMEF": "place Lumeford", "lumefurt": "place Lumefurt", "old harb": "place Old Harbour",
			"alter": "place Alter Hafen", "baker street": "street Baker Street", "calcada": "street Calçada do Carmo", "東通": "street 東通り",
			"linden": "park Linden Park", "backerstrasse": "street Bäckerstraße", "müHLEN": "street Mühlenallee", "lume": "place Lumeford", "river": "water River Lume", "harbour": "place Old Harbour", "ring ro": "street Ring Road",
		} {
			if schema == "plain" && text == "river" {
				continue // it has no names of water
			}
			found := m.Search(text, 52.52, 13.405)
			if len(found) == 0 || found[0].Kind+" "+found[0].Name != want {
				t.Errorf("%s: %q finds %v, want %s first", schema, text, found, want)
				continue
			}
			if n := found[0]; math.Abs(n.Lat-c.Lat) > 0.03 || math.Abs(n.Lng-c.Lng) > 0.03 || n.Zoom < 10 {
				t.Errorf("%s: %s is at %v, %v", schema, n.Name, n.Lat, n.Lng)
			}
		}
		if found := m.Search("lumeford", 0, 0); math.Abs(found[0].Lat-52.5199) > 0.001 || math.Abs(found[0].Lng-13.4064) > 0.001 {
			t.Errorf("%s: the city is at %v", schema, found)
		}
		for _, none := range []string{"", "x", " b ", "nowhere", "street\nring", string(make([]byte, 200))} {
			if found := m.Search(none, 0, 0); len(found) > 0 {
				t.Errorf("%s: %q finds %v", schema, none, found)
			}
		}
		if found := m.Search("baker", 0, 0); len(found) != 1 {
			t.Errorf("%s: found Baker Street as %v", schema, found)
		}
		if found := m.Search("avenue", 0, 0); len(found) != 8 {
			t.Errorf("%s: found %d avenues", schema, len(found))
		}
	}
}

// Streets of one name say near which place they are, and no two look alike.
func TestSearch_Alike(t *testing.T) {
	for _, schema := range []string{"protomaps", "openmaptiles", "plain"} {
		m := open(t, basemaptest.City{Lat: 52.52, Lng: 13.405, Schema: schema, MinZoom: 10, Times: 16})
		if _, _, err := m.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, n := range m.Search("baker", 52.52, 13.405) {
			said := n.Name + ", " + n.Near
			if seen[said] || n.Near != "Lumeford" && n.Near != "Old Harbour" && n.Near != "" { // one is far from both
				t.Errorf("%s: found %q, after %v", schema, said, seen)
			}
			seen[said] = true
		}
		if !seen["Baker Street, Lumeford"] || !seen["Baker Street, Old Harbour"] {
			t.Errorf("%s: found only %v", schema, seen)
		}
		if found := m.Search("lumeford", 0, 0); len(found) == 0 || found[0].Near != "" {
			t.Errorf("%s: found %v: a place is near itself", schema, found)
		}
	}
}

func TestServe_Names(t *testing.T) {
	m := open(t, lumeford)
	ask := func(query string) (names []basemap.Name) {
		t.Helper()
		r, w := httptest.NewRequest("GET", basemap.NamesPath+query, nil), httptest.NewRecorder()
		if !m.Handles(r) {
			t.Fatal("not the map's")
		}
		m.ServeHTTP(w, r)
		var got struct{ Data []basemap.Name }
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != 200 || err != nil || got.Data == nil {
			t.Fatalf("%s is answered with %d %s", query, w.Code, w.Body)
		}
		return got.Data
	}
	if found := ask("?q=lumeford"); len(found) > 0 {
		t.Errorf("found %v before the names were read", found)
	}
	if _, _, err := m.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := ask("?q=lumeford"); len(found) != 1 {
		t.Errorf("found %v", found)
	}
	for _, query := range []string{"", "?q=", "?q=x&q=lumeford", "?lat=NaN&lng=x", "?q=%ff%fe"} {
		if found := ask(query); len(found) > 0 {
			t.Errorf("%s finds %v", query, found)
		}
	}
	if near := ask("?q=avenue&lat=1e400&lng=-"); len(near) != 8 {
		t.Errorf("found %v", near)
	}
}

// A damaged file has fewer names, or none; nothing worse happens.
func TestIndex_Damaged(t *testing.T) {
	good := lumeford.Encode()
	for at := 127; at < len(good); at += 7 {
		body := append([]byte(nil), good...)
		body[at] ^= 0x55
		m, err := basemap.Read(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			continue
		}
		if _, _, err := m.Index(t.Context()); err != nil && fmt.Sprint(err) == "" {
			t.Errorf("byte %d: an error without words", at)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(lumeford.Encode())
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := basemap.Read(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return
		}
		if _, _, err := m.Index(t.Context()); err == nil {
			m.Search("avenue", 52, 13)
		}
	})
}
