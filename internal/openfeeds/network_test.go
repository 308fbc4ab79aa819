package openfeeds_test

import (
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

var noon = time.Date(2026, 11, 16, 12, 0, 20, 0, time.UTC)

// network is a network with open feeds.
type network struct {
	fleet  *fleet.Fleet
	feeds  *openfeeds.Feeds
	url    string
	who    beacon.Identity
	limits edge.Limits
	plan   openfeeds.Plan
	now    time.Time
	off    bool // rewards
	count  int
}

func newNetwork(limits edge.Limits, url string) *network {
	n := &network{fleet: fleet.New(fragments.Summarize), now: noon, url: url, limits: limits, plan: planned}
	n.serve(limits, nil)
	return n
}

// serve makes new feeds.
func (n *network) serve(limits edge.Limits, traffic openfeeds.Traffic) {
	now := func() time.Time { return n.now }
	interfaces := api.New(api.Config{Fleet: n.fleet, Limits: limits, Now: now, Log: slog.New(slog.DiscardHandler)})
	n.feeds = openfeeds.New(openfeeds.Config{API: interfaces, Fleet: n.fleet, PublicURL: n.url, Now: now, Traffic: traffic, Plan: n.plan, Identity: func() beacon.Identity { return n.who }, Rewards: func() bool { return !n.off }})
}

// add registers a hotspot in service. Its id depends only on its number.
func (n *network) add(t testing.TB, kind beacon.Type, number int, at geo.Point, change ...func(*beacon.Hotspot)) beacon.Hotspot {
	t.Helper()
	h := beacon.Hotspot{
		ID: beacon.HotspotID(fmt.Sprintf("hs_01m7fh87h4ephbpxmpvwb%05d", number)), Version: 1, Type: kind, Operator: "usr_secret",
		Name: fmt.Sprintf("%s %d \"<b>", kind, number), Location: beacon.Location{Point: at, Address: fmt.Sprintf("%d %s street", number, kind), VerifiedAt: noon.Add(-time.Hour)},
		Device:   beacon.Device{SSID: fmt.Sprintf("ssid-%s-%d", kind, number), MAC: "02:00:5e:10:00:01", LinkedAt: noon.Add(-time.Hour)},
		Settings: beacon.Settings{MaxConnections: 10, BandwidthLimitMbps: 10},
	}
	for _, c := range change {
		c(&h)
	}
	n.put(t, h)
	return h
}

func (n *network) put(t testing.TB, h beacon.Hotspot) {
	t.Helper()
	if err := n.fleet.Apply(h); err != nil {
		t.Fatal(err)
	}
}

// beat makes a hotspot online.
func (n *network) beat(h beacon.Hotspot) { n.serving(h, 0) }

// serving makes a hotspot online that has so many clients.
func (n *network) serving(h beacon.Hotspot, clients int) {
	n.count++
	raw, _ := id.Parse(beacon.HotspotPrefix, string(h.ID))
	n.fleet.Replay([]heartbeat.Beat{{Hotspot: raw, At: n.now.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: 1, Seq: uint64(n.count), Clients: clients}}})
}

// town has hotspots of all kinds, some online, some pending and, if wanted, homes.
func town(t testing.TB, homes bool) *network {
	t.Helper()
	n := newNetwork(edge.Limits{}, "http://x")
	for i := range 40 {
		at := geo.Point{Lat: 40.7 + float64(i)/1000, Lng: -74 + float64(i%7)/500}
		kind := []beacon.Type{beacon.Business, beacon.Public}[i%2]
		h := n.add(t, kind, i, at, func(h *beacon.Hotspot) {
			if i%5 == 0 {
				h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC"} // never open
			}
		})
		if i%3 != 0 {
			n.beat(h)
		}
		if !homes {
			continue
		}
		n.beat(n.add(t, beacon.Home, 100+i, geo.Point{Lat: at.Lat + 0.0003, Lng: at.Lng}))
		n.add(t, beacon.Public, 200+i, geo.Point{Lat: 10, Lng: 10}, func(h *beacon.Hotspot) { h.Location.VerifiedAt = time.Time{} })
		n.add(t, "", 300+i, at)
	}
	return n
}

func (n *network) get(path string, header ...string) *httptest.ResponseRecorder {
	return n.call("GET", path, header...)
}

func (n *network) call(method, path string, header ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	n.feeds.ServeHTTP(connection{w}, r)
	return w
}

// connection is a recorder with deadlines, which it ignores.
type connection struct{ *httptest.ResponseRecorder }

func (connection) SetWriteDeadline(time.Time) error { return nil }

// files are the paths that need no parameter.
var files = []string{
	"/open", "/open/", "/open/api", "/open/conformance", "/open/collections", "/open/collections/hotspots", "/open/collections/hotspots/items",
	"/open/network.json", "/open/tiles.json", "/open/hotspots.geojson", "/open/meshviewer.json", "/open/nodelist.json", "/open/openstreetmap.geojson",
}

// paths are the files, and tiles of the town at all zooms.
func paths() []string {
	all := slices.Clone(files)
	for z := range fleet.MaxZoom + 1 {
		for i := range 40 {
			x, y := tileAt(z, 40.7+float64(i)/1000, -74+float64(i%7)/500)
			if path := fmt.Sprintf("/open/tiles/%d/%d/%d.mvt", z, x, y); !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	return append(all, "/open/collections/hotspots/items?limit=7&bbox=-74,40.7,-73.99,40.72",
		"/open/nearest?lat=40.7103&lng=-73.99", "/open/estimate?lat=40.7103&lng=-73.99", "/open/nearest?lat=40.7103&lng=-73.99&q=home+street&limit=100")
}

// hours opens a hotspot on Mondays.
func hours(open, closing int) func(*beacon.Hotspot) {
	return func(h *beacon.Hotspot) {
		h.Settings.OperatingHours = &beacon.OperatingHours{
			Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: open * 60, Close: closing * 60}},
		}
	}
}

// all returns the bodies of all files but the API definition.
func (n *network) all() string {
	var text strings.Builder
	for _, path := range files {
		if path != "/open/api" {
			text.Write(n.get(path).Body.Bytes())
		}
	}
	return text.String()
}

// tileAt returns the tile of a place, by the formula of web maps.
func tileAt(z int, lat, lng float64) (x, y int) {
	count, phi := math.Exp2(float64(z)), lat*math.Pi/180
	return int((lng + 180) / 360 * count), int((1 - math.Asinh(math.Tan(phi))/math.Pi) / 2 * count)
}
