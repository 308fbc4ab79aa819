//go:build linux

package endtoend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// scene is hotspots of every kind in places of every kind, made over HTTP.
type scene struct {
	admin  *harness.Client
	random *rand.Rand
	sites  []*site
}

// site is where a hotspot stands, and how far it has come.
type site struct {
	*harness.Device
	n        int
	lat, lng float64
	radiusM  float64 // 0: that of its type
	stage    stage
}

// stage is what has happened to a hotspot.
type stage int

const (
	registered stage = iota
	verified
	linked
	beaten
)

// clump puts hotspots around a place. On a map they touch, overlap, hide each
// other and stand apart.
func (sc *scene) clump(count int, lat, lng, spreadM float64) {
	const metre = 1 / (sphereM * degree)
	for range count {
		at := &site{n: len(sc.sites), lat: lat + sc.random.NormFloat64()*spreadM*metre}
		at.lng = math.Remainder(lng+sc.random.NormFloat64()*spreadM*metre/math.Cos(lat*degree), 360)
		if sc.random.IntN(2) == 0 {
			at.radiusM = 10 + math.Floor(sc.random.Float64()*4900)/10
		}
		at.stage = []stage{registered, verified, linked, beaten, beaten, beaten, beaten}[at.n%7]
		sc.sites = append(sc.sites, at)
	}
}

func (sc *scene) put(lat, lng, radiusM float64) {
	sc.sites = append(sc.sites, &site{n: len(sc.sites), lat: lat, lng: lng, radiusM: radiusM, stage: beaten})
}

// The places of a scene, in which the tests have their boxes.
const (
	cityLat, cityLng = 40.7128, -74.006
	dateLat          = -16.5
	poleLat          = 89.9985 // 167 m from the pole
)

// emptyScene has no hotspots yet.
func emptyScene(t testing.TB, admin *harness.Client) *scene {
	return &scene{admin: admin, random: rand.New(rand.NewPCG(level.Seed(t), 1))}
}

func newScene(t testing.TB, admin *harness.Client) *scene {
	sc := emptyScene(t, admin)
	sc.clump(18, cityLat, cityLng, 250)
	sc.clump(8, dateLat, 180, 200)
	sc.clump(3, poleLat, 20, 50)
	sc.put(poleLat, 37, 200)       // over the pole
	sc.put(90-310e-5, -120.5, 300) // and beside it: 345 m
	sc.put(-90, 77, 450)
	sc.put(dateLat, 180, 140)
	sc.put(dateLat, -180, 90)      // in the same place, by its other name
	sc.put(12.25, 55.25, 60)       // two in one place
	sc.put(12.25, 55.25, 60)       //
	sc.put(12.25, 55.25, 25)       // a third within
	sc.put(0.0001, 0.0001, 500)    // over a corner of everything
	sc.put(-33.9, 151.2, 100)      // all on its own
	sc.put(-33.9, 151.200005, 100) // nearly so
	return sc
}

// build brings every hotspot as far as its site says, many at a time.
func (sc *scene) build(t testing.TB, s *harness.Server) {
	t.Helper()
	work := make(chan *site)
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for at := range work {
				sc.advance(t, s, at)
			}
		})
	}
	for _, at := range sc.sites {
		work <- at
	}
	close(work)
	working.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (sc *scene) advance(t testing.TB, s *harness.Server, at *site) {
	body := harness.Registration(at.n)
	body["location"] = harness.Fields{"lat": at.lat, "lng": at.lng}
	if at.radiusM != 0 {
		body["settings"] = harness.Fields{"coverage_radius_m": at.radiusM}
	}
	at.Device = &harness.Device{SSID: fmt.Sprintf("net-%d", at.n), MAC: harness.MACOf(at.n)}
	at.Hotspot, _ = sc.ask(t, http.MethodPost, s.URL+"/v1/hotspots", body)["id"].(string)
	if at.stage >= verified {
		sc.ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+at.Hotspot+"/verification",
			harness.Fields{"lat": at.lat, "lng": at.lng, "accuracy_m": 5, "method": "gps"})
	}
	if at.stage >= linked {
		sc.link(t, s, at)
	}
	if at.stage >= beaten {
		sc.beat(t, s, at)
	}
}

// link links a device, for the first time or again.
func (sc *scene) link(t testing.TB, s *harness.Server, at *site) {
	code := sc.ask(t, http.MethodPost, s.URL+"/v1/hotspots/"+at.Hotspot+"/link-code", nil)["code"]
	at.Key, _ = sc.ask(t, http.MethodPost, s.URL+"/v1/devices/link", harness.Fields{"code": code, "mac_address": at.MAC})["device_key"].(string)
	at.Reboot()
}

func (sc *scene) beat(t testing.TB, s *harness.Server, at *site) {
	if a := at.Device.Beat(t.Context(), sc.admin, s); a.Status != http.StatusOK {
		t.Errorf("a beat was answered %d %s %v", a.Status, a.Code, a.Err)
	}
}

// resize changes how far a hotspot reaches.
func (sc *scene) resize(t testing.TB, s *harness.Server, at *site) {
	sc.ask(t, http.MethodPatch, s.URL+"/v1/hotspots/"+at.Hotspot, harness.Fields{"settings": harness.Fields{"coverage_radius_m": 10 + sc.random.IntN(491)}})
}

// unlink takes a hotspot's device away: it is pending again.
func (sc *scene) unlink(t testing.TB, s *harness.Server, at *site) {
	sc.ask(t, http.MethodDelete, s.URL+"/v1/hotspots/"+at.Hotspot+"/device", nil)
}

// remove deletes a hotspot.
func (sc *scene) remove(t testing.TB, s *harness.Server, at *site) {
	sc.ask(t, http.MethodDelete, s.URL+"/v1/hotspots/"+at.Hotspot, nil)
}

// ask makes a request that must succeed.
func (sc *scene) ask(t testing.TB, method, url string, body any) harness.Fields {
	a := insist(t.Context(), sc.admin, method, url, body)
	switch {
	case a.Status == http.StatusNoContent:
		return nil
	case a.Status >= 200 && a.Status <= 299:
		return a.Fields(t)
	}
	t.Errorf("%s %s answered %d %s %v", method, url, a.Status, a.Code, a.Err)
	return nil
}

// hotspots are the ids of all that were made, those that are gone included.
func (sc *scene) hotspots() (ids []string) {
	for _, at := range sc.sites {
		if at.Device != nil {
			ids = append(ids, at.Hotspot)
		}
	}
	return ids
}
