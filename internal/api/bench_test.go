package api_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

// atOnce is telemetry that takes every beat without any work.
type atOnce struct{ hotspots.Telemetry }

func (atOnce) Take(context.Context, *fleet.Hotspot, beacon.Heartbeat) (beacon.Taken, error) {
	return beacon.Taken{Status: beacon.Online}, nil
}

// bare is a writer of answers that keeps nothing.
type bare struct{ header http.Header }

func (b *bare) Header() http.Header         { return b.header }
func (b *bare) WriteHeader(int)             {}
func (b *bare) Write(p []byte) (int, error) { return len(p), nil }

// beater gives what sends one beat to the interface, past the network.
func beater(t testing.TB) func() {
	limits := ample
	limits.Devices = ratelimit.Limit{Every: time.Nanosecond, Burst: 10} // the numbers of real ones, but for the speed
	s := onSQLite(t, options{limits: limits, telemetry: atOnce{}})
	m := s.operator(t).install(t, 1)
	body := `{"boot_id":"0b7c8d3e-6c2f-4a53-9a51-3a1d5a0f6f10","seq":4711,"clients":12,"rx_bytes":90120417,"tx_bytes":1204470512,"rssi_dbm":-61}`
	reader := strings.NewReader(body)
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: m.hotspot + "/heartbeats"}, ContentLength: int64(len(body)), Body: io.NopCloser(reader),
		Header: http.Header{"Authorization": {"Bearer " + m.plain}, "Content-Type": {"application/json"}}, RemoteAddr: "192.0.2.1:1234",
	}
	w := &bare{header: http.Header{"X-Request-Id": {"req_01kb3gzk00f8m7n6p5q4r3s2t1"}}}
	return func() {
		reader.Reset(body)
		s.api.ServeHTTP(w, r)
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	beat := beater(b)
	b.ReportAllocs()
	for b.Loop() {
		beat()
	}
}

// A heartbeat is the busiest request there is: it asks for next to no memory. It
// is one allocation; under the race detector, pools lose some on purpose.
func TestHeartbeat_Allocations(t *testing.T) {
	beat := beater(t)
	if n := testing.AllocsPerRun(1000, beat); n > 4 {
		t.Errorf("a heartbeat takes %v allocations", n)
	}
}

// What is live about 20 hotspots, which a nearby answer writes down anew.
func BenchmarkFacts(b *testing.B) {
	s := onSQLite(b, options{limits: ample, telemetry: atOnce{}})
	m := s.operator(b).install(b, 1)
	hotspot, _ := s.Fleet.Find(beacon.HotspotID(strings.TrimPrefix(m.hotspot, "/v1/hotspots/")))
	var out []byte
	for b.Loop() {
		out = out[:0]
		for range 20 {
			out = api.AppendFacts(out, hotspot.Condition(noon))
		}
	}
}

// What a user with ten thousand hotspots earned, from the books to the wire.
func BenchmarkSummary(b *testing.B) {
	s := onSQLite(b, options{limits: ample, rewards: books{hotspots: 10_000}})
	c := s.anyone(b, "rewards:read")
	r := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/v1/users/me/rewards"}, RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{"Authorization": {"Bearer " + c.plain}},
	}
	w := &bare{header: http.Header{"X-Request-Id": {"req_01kb3gzk00f8m7n6p5q4r3s2t1"}}}
	b.ReportAllocs()
	for b.Loop() {
		s.api.ServeHTTP(w, r)
	}
}

// The largest statement that ten thousand hotspots can have, over a socket.
func BenchmarkStatement(b *testing.B) {
	s := onSQLite(b, options{limits: ample, rewards: books{rows: 310_000}})
	c := s.anyone(b, "rewards:read")
	for b.Loop() {
		n, err := io.Copy(io.Discard, c.begin(b).Body)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}

// asker gives what sends one request to the interface, past the network.
func asker(b *testing.B, hotspots int, path, query string) func() {
	b.Helper()
	s := onSQLite(b, options{limits: ample})
	c := s.anyone(b)
	s.populate(b, 75, grid(hotspots, 40.7001, -73.9999, 0.0001)...)
	a := c.get(b, path+"?"+query).want(b, http.StatusOK)
	b.SetBytes(int64(len(a.body)))
	r := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: path, RawQuery: query}, RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{"Authorization": {"Bearer " + c.plain}},
	}
	w := &bare{header: http.Header{"X-Request-Id": {"req_01kb3gzk00f8m7n6p5q4r3s2t1"}}}
	return func() { s.api.ServeHTTP(w, r) }
}

// What a map asks, from the guard to the bytes.
func BenchmarkCoverage(b *testing.B) {
	const sides = "north=40.8&south=40.6&east=-73.9&west=-74.1"
	for _, bc := range []struct {
		name     string
		hotspots int
		query    string
	}{
		{"20", 20, sides}, {"100", 100, sides}, {"1000", 1000, sides}, {"clusters", 10_000, sides + "&zoom=12"}, {"manyClusters", 10_000, sides + "&zoom=22"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			ask := asker(b, bc.hotspots, "/v1/coverage", bc.query)
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

func BenchmarkTile(b *testing.B) {
	x, y := tileAt(14, 40.7001, -73.9999)
	for _, bc := range []struct {
		name     string
		hotspots int
		path     string
	}{
		{"1000", 1000, at("/v1/coverage/tiles/14/%d/%d.mvt", x, y)},
		{"clusters", 10_000, at("/v1/coverage/tiles/13/%d/%d.mvt", x/2, y/2)},
		{"empty", 10, "/v1/coverage/tiles/14/0/0.mvt"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			ask := asker(b, bc.hotspots, bc.path, "")
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

// What an app asks most, from the guard to the bytes.
func BenchmarkNearby(b *testing.B) {
	for _, bc := range []struct{ name, path, query string }{
		{"20", "/v1/hotspots/nearby", "lat=40.7&lng=-74&radius=10000&status=all"},
		{"100", "/v1/hotspots/nearby", "lat=40.7&lng=-74&radius=10000&status=all&limit=100"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			ask := asker(b, 1000, bc.path, bc.query)
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

// What the bytes of 20 hotspots take, in each form.
func BenchmarkEncode(b *testing.B) {
	s := onSQLite(b, options{limits: ample})
	s.populate(b, 75, grid(1000, 40.7001, -73.9999, 0.0001)...)
	hits := s.Fleet.Nearby(fleet.NearbyQuery{Center: geo.Point{Lat: 40.7, Lng: -74}, RadiusM: 10_000, Limit: 20, Now: noon}, nil)
	for name, encode := range map[string]func([]byte, []fleet.Hit, time.Time) []byte{"JSON": api.NearbyBody, "GeoJSON": api.NearbyFeatures} {
		b.Run(name, func(b *testing.B) {
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = encode(out[:0], hits, noon)
			}
		})
	}
}

// nearbyAsker returns a function that asks an API for the 20 nearest hotspots, past the
// network, with some headers, and returns the size of the response.
func nearbyAsker(t testing.TB, origins []string, header ...string) func() int {
	s := onSQLite(t, options{limits: ample, origins: origins})
	c := s.anyone(t)
	s.populate(t, 75, grid(1000, 40.7001, -73.9999, 0.0001)...)
	r := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/v1/hotspots/nearby", RawQuery: "lat=40.7&lng=-74&radius=10000&status=all"}, Body: http.NoBody,
		Header: http.Header{"Authorization": {"Bearer " + c.plain}}, RemoteAddr: "192.0.2.1:1234",
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	id := []string{"req_01kb3gzk00f8m7n6p5q4r3s2t1"}
	w := &counted{bare: bare{header: http.Header{}}}
	return func() int {
		clear(w.header)
		w.header["X-Request-Id"] = id
		w.bytes = 0
		s.api.ServeHTTP(w, r)
		return w.bytes
	}
}

// counted counts what is written.
type counted struct {
	bare
	bytes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}

var page = []string{"https://app.example.org"}

// What CORS and compression cost nearby, in turns within one run: each as a ratio to the
// plain request to a server without origins. The fastest turn of each counts, since
// other programs only make a turn slower.
func BenchmarkNearby_Forms(b *testing.B) {
	plain := nearbyAsker(b, nil)
	forms := []struct {
		name string
		ask  func() int
	}{
		{"plain", plain},
		{"again", plain}, // what the machine alone does to a ratio
		{"origins", nearbyAsker(b, page)},
		{"origin", nearbyAsker(b, page, "Origin", page[0])},
		{"gzip", nearbyAsker(b, nil, "Accept-Encoding", "gzip")},
		{"zstd", nearbyAsker(b, nil, "Accept-Encoding", "zstd")},
	}
	took, sent := make([]time.Duration, len(forms)), make([]int, len(forms))
	const perTurn = 20
	for b.Loop() {
		for i, form := range forms {
			began := time.Now()
			for range perTurn {
				sent[i] = form.ask()
			}
			if d := time.Since(began); took[i] == 0 || d < took[i] {
				took[i] = d
			}
		}
	}
	b.ReportMetric(float64(took[0].Nanoseconds())/perTurn, "plain-ns")
	for i, form := range forms[1:] {
		b.ReportMetric(float64(took[i+1])/float64(took[0]), form.name+"-ratio")
	}
	b.ReportMetric(float64(sent[0]), "plain-bytes")
	b.ReportMetric(float64(sent[4]), "gzip-bytes")
	b.ReportMetric(float64(sent[5]), "zstd-bytes")
}

// A request that asks for neither costs no memory for CORS or compression. Under the
// race detector, pools lose some on purpose.
func TestNearby_PlainAllocations(t *testing.T) {
	count := func(ask func() int) float64 { return testing.AllocsPerRun(1000, func() { ask() }) }
	without, with := count(nearbyAsker(t, nil)), count(nearbyAsker(t, page))
	if with > without+2 {
		t.Errorf("a server with origins makes %v allocations for a plain request; without %v", with, without)
	}
}
