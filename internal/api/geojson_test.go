package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/geo"
)

type featureCollection struct {
	Type     string      `json:"type"`
	BBox     []float64   `json:"bbox"`
	Count    *int        `json:"hotspot_count"`
	Online   *int        `json:"online_count"`
	AreaKm2  json.Number `json:"coverage_area_km2"`
	Share    json.Number `json:"coverage_percentage"`
	Clusters *bool       `json:"aggregated"`
	Features []feature   `json:"features"`
	Meta     meta        `json:"meta"`
}

type feature struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Geometry struct {
		Type        string    `json:"type"`
		Coordinates []float64 `json:"coordinates"`
	} `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// features reads an answer that must be GeoJSON, with nothing in it that is not
// expected.
func features(t testing.TB, a answer) (all featureCollection) {
	t.Helper()
	a.want(t, http.StatusOK)
	if got := a.Header.Get("Content-Type"); got != "application/geo+json" || a.Header.Get("Vary") != "Accept, Accept-Encoding" {
		t.Errorf("%s: Content-Type %q, Vary %q", a.Request.URL, got, a.Header.Get("Vary"))
	}
	in := json.NewDecoder(bytes.NewReader(a.body))
	in.DisallowUnknownFields()
	if err := in.Decode(&all); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if all.Type != "FeatureCollection" || all.Features == nil || all.Meta.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("%s", a)
	}
	for _, f := range all.Features {
		if f.Type != "Feature" || f.Geometry.Type != "Point" || len(f.Geometry.Coordinates) != 2 || f.Properties["id"] != f.ID {
			t.Errorf("%+v", f)
		}
	}
	return all
}

const geoJSON = "application/geo+json"

// generic reads what an answer says as JSON alone.
func generic(t testing.TB, a answer) []any {
	t.Helper()
	switch data := data[any](t, a, http.StatusOK).(type) {
	case []any:
		return data
	case map[string]any:
		return data["hotspots"].([]any)
	default:
		t.Fatalf("%s", a)
		return nil
	}
}

// Both forms of an answer say the same.
func TestGeoJSON_Nearby(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.operator(t)
	for i, name := range []string{
		`"\",\"location\":{\"lat\":1,\"lng\":2,\"address\":\"x\"}"`, `"a\",\"address\":\"x\"},\"distance_m\":"`, `"back\\slash\\"`, `"café <&>"`,
	} {
		c.register(t, 2*i, "name", name, "location.address", name, "location.lat", at("40.70%d", i), "type", `"public"`)
		c.register(t, 2*i+1, "name", name, "location.lat", at("40.71%d", i), "location.lng", "-73.9999999")
	}
	const query = "/v1/hotspots/nearby?lat=40.7&lng=-74&status=all&radius=5000"
	want, got := generic(t, c.get(t, query)), features(t, c.get(t, query, "Accept", geoJSON)).Features
	if len(got) != 8 || len(want) != 8 {
		t.Fatalf("%d features, %d items", len(got), len(want))
	}
	for i, f := range got {
		item := want[i].(map[string]any)
		place := item["location"].(map[string]any)
		delete(item, "location")
		item["address"] = place["address"]
		wantEqual(t, "the properties", f.Properties, item)
		wantEqual(t, "the place", f.Geometry.Coordinates, []float64{place["lng"].(float64), place["lat"].(float64)})
	}
	if none := features(t, c.get(t, "/v1/hotspots/nearby?lat=1&lng=1", "Accept", geoJSON)); len(none.Features) != 0 {
		t.Errorf("%+v", none)
	}
}

func TestGeoJSON_Coverage(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	s.populate(t, 33.25, append(grid(30, 40.7, -74, 0.001), geo.Point{Lat: 1.23456789, Lng: -179.5}, geo.Point{Lat: -1, Lng: 179.5})...)
	items := 0
	for _, query := range []string{
		"north=41&south=40&east=-73&west=-75", "north=41&south=40&east=-73&west=-75&zoom=13", world + "&zoom=1",
		"north=10&south=-10&west=179&east=-179", "north=10&south=-10&west=179&east=-179&zoom=0", "north=10&south=9&west=0&east=1",
	} {
		plain := c.get(t, "/v1/coverage?"+query)
		want, list := data[covered](t, plain, http.StatusOK), generic(t, plain)
		got := features(t, c.get(t, "/v1/coverage?"+query, "Accept", geoJSON))
		if *got.Count != *want.Count || *got.Online != *want.Online || got.AreaKm2 != want.AreaKm2 || got.Share != want.Share || *got.Clusters != *want.Aggregated || len(got.Features) != len(list) {
			t.Errorf("%s: %+v; want %+v", query, got, want)
			continue
		}
		b := want.Bounds
		wantEqual(t, "the box of "+query, got.BBox, []float64{b.West, b.South, b.East, b.North})
		for i, f := range got.Features {
			item := list[i].(map[string]any)
			wantEqual(t, "the place", f.Geometry.Coordinates, []float64{item["lng"].(float64), item["lat"].(float64)})
			delete(item, "lat")
			delete(item, "lng")
			wantEqual(t, "the properties", f.Properties, item)
			items++
		}
	}
	if items < 35 {
		t.Errorf("%d items were compared", items)
	}
}

// JSON is what everyone gets who does not ask for something else; so are errors.
func TestGeoJSON_Accept(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "application/*": false, "text/html,*/*;q=0.8": false, "text/csv": false,
		"application/geo+json": true, "APPLICATION/GEO+JSON": true, "application/geo+json, */*": true, "application/geo+json,application/json;q=0.9": true,
		"application/json, application/geo+json": false, "application/geo+json;q=0.5, application/json": false, "application/geo+json;q=0": false,
		"application/json;q=0.1, application/*": true, "application/vnd.geo+json": false, "application/geo+json; charset=utf-8": false, "application/geo+json-seq": false,
	} {
		if got := api.WantsGeoJSON(accept); got != want {
			t.Errorf("%q leads to GeoJSON: %t; want %t", accept, got, want)
		}
	}
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	for _, path := range []string{"/v1/hotspots/nearby?lat=1&lng=1", "/v1/coverage?" + world} {
		for _, accept := range []string{absent, "*/*", "application/json", "text/csv"} {
			a := c.get(t, path, "Accept", accept).want(t, http.StatusOK)
			if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Vary") != "Accept, Accept-Encoding" {
				t.Errorf("Accept %q: %q, Vary %q", accept, a.Header.Get("Content-Type"), a.Header.Get("Vary"))
			}
		}
		a := c.get(t, path+"&zoom=x&limit=x", "Accept", geoJSON)
		if a.StatusCode != http.StatusBadRequest || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a fault: %s, %q", a, a.Header.Get("Content-Type"))
		}
		wantFault(t, s.call(t, "GET", path, "", "Accept", geoJSON), http.StatusUnauthorized, "unauthorized")
	}
}
