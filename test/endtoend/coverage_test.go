//go:build linux

package endtoend_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// offlineAfter is how long who is silent is online (decision N15).
const offlineAfter = 240 * time.Second

// TestCoverageReplicas: at two servers of one database, hotspots come, beat,
// change and go until each of that has happened often enough, while others look at
// maps. Then both come to answer byte by byte the same, tiles and their tags
// included, and so does a server that draws its maps from the database alone. The
// clock stands still: nobody goes offline by himself. That the areas are right is for
// internal/fleet/coverage and for TestF22_Model.
func TestCoverageReplicas(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC))
	w := newTurmoil(t, harness.NewClient(t, harness.CreateKey(t, db, "admin").Key), [2]*harness.Server{clock.Start(t, db), clock.Start(t, db)})
	load, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	seed := level.Seed(t)
	const workers = 6
	for first := range workers {
		working.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(first)+2))
			for load.Err() == nil && !t.Failed() {
				w.act(t, random, w.sites[first+workers*random.IntN(len(w.sites)/workers)]) // whom nobody else changes
				pause(random)
			}
		})
	}
	for i, s := range w.servers {
		random := rand.New(rand.NewPCG(seed, uint64(i)+workers+2))
		working.Go(func() {
			for load.Err() == nil && !t.Failed() {
				w.get(t, s, shown[random.IntN(len(shown))])
				w.counts["look"].Add(1)
				pause(random)
			}
		})
	}
	enough := int64(level.Rounds(5, 30, 100))
	for what, n := range w.counts {
		harness.Eventually(t, what+" was done often enough", func() bool { return n.Load() >= enough || t.Failed() })
	}
	harness.Eventually(t, "enough hotspots are online to cover some ground", func() bool { return w.online(t) >= 2*workers || t.Failed() })
	stop()
	working.Wait()
	var both [2]map[string]string
	harness.Eventually(t, "both servers answer the same", func() bool {
		for i, s := range w.servers {
			both[i] = w.record(t, s)
		}
		return maps.Equal(both[0], both[1]) || t.Failed()
	})
	fresh := clock.Start(t, db)
	for path, got := range w.record(t, fresh) {
		if got != both[0][path] {
			t.Errorf("%s: a server that has just started answers %.300q; the others %.300q", path, got, both[0][path])
		}
	}
}

// pause is that of a client, not a wait for anything.
func pause(random *rand.Rand) { time.Sleep(time.Duration(random.IntN(12)) * time.Millisecond) }

// The places where hotspots stand, and maps that show them, whole and in part.
var (
	places = [][2]float64{{40.7128, -74.006}, {-16.5, 180}, {89.9985, 20}}
	shown  = mapPaths()
)

func mapPaths() (paths []string) {
	for _, box := range []string{
		"north=90&south=-90&east=180&west=-180",
		"north=40.7328&south=40.6928&east=-73.986&west=-74.026", // all of the city
		"north=40.7148&south=40.7128&east=-74.005&west=-74.01",  // through it
		"north=-16.48&south=-16.52&east=-179.98&west=179.98",
		"north=90&south=89.99&east=60&west=-30",
	} {
		paths = append(paths, "/v1/coverage?"+box)
		for _, zoom := range []int{0, 3, 9, 13, 14, 22} {
			paths = append(paths, fmt.Sprintf("/v1/coverage?%s&zoom=%d", box, zoom))
		}
	}
	for _, z := range []int{0, 1, 5, 10, 13, 14, 16, 18, 22} {
		row := (1 - math.Asinh(math.Tan(places[0][0]*math.Pi/180))/math.Pi) / 2
		count := math.Exp2(float64(z))
		paths = append(paths, fmt.Sprintf("/v1/coverage/tiles/%d/%d/%d.mvt", z, int((places[0][1]+180)/360*count), int(row*count)))
	}
	return paths
}

// turmoil is hotspots that change at two servers.
type turmoil struct {
	admin   *harness.Client
	servers [2]*harness.Server
	sites   []*site
	counts  map[string]*atomic.Int64 // what was done
}

// site is where a hotspot stands, and how far it has come.
type site struct {
	*harness.Device
	n        int
	lat, lng float64
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

// newTurmoil puts hotspots around places. On a map they touch, overlap, hide each other
// and stand apart.
func newTurmoil(t *testing.T, admin *harness.Client, servers [2]*harness.Server) *turmoil {
	w := &turmoil{admin: admin, servers: servers, counts: map[string]*atomic.Int64{}}
	for _, what := range []string{"register", "verify", "link", "beat", "resize", "unlink", "remove", "look"} {
		w.counts[what] = new(atomic.Int64)
	}
	const metre = 1 / 111_195.0
	random := rand.New(rand.NewPCG(level.Seed(t), 1))
	for n := range 72 {
		place := places[max(n%12-9, 0)] // most of them in the city
		lat, lng := place[0]+random.NormFloat64()*300*metre, place[1]+random.NormFloat64()*300*metre/math.Cos(place[0]*math.Pi/180)
		w.sites = append(w.sites, &site{n: n, lat: min(lat, 90), lng: math.Remainder(lng, 360)})
	}
	return w
}

// act does something to a hotspot at a random server. A server may not know yet
// what happened at the other a moment ago: it then says no.
func (w *turmoil) act(t *testing.T, random *rand.Rand, at *site) {
	s := w.servers[random.IntN(len(w.servers))]
	hotspot := ""
	if at.Device != nil {
		hotspot = s.URL + "/v1/hotspots/" + at.Hotspot
	}
	switch dice := random.IntN(20); {
	case at.Device == nil:
		body := harness.Registration(at.n)
		body["location"] = harness.Fields{"lat": at.lat, "lng": at.lng}
		if a, ok := w.try(t, "register", http.MethodPost, s.URL+"/v1/hotspots", body); ok {
			at.Device = &harness.Device{MAC: harness.MACOf(at.n)}
			at.Hotspot, _ = a.Fields(t)["id"].(string)
			at.stage = registered
		}
	case dice == 0:
		if _, ok := w.try(t, "remove", http.MethodDelete, hotspot, nil); ok {
			at.Device = nil
		}
	case dice < 6:
		w.try(t, "resize", http.MethodPatch, hotspot, harness.Fields{"settings": harness.Fields{"coverage_radius_m": 10 + random.IntN(491)}})
	case at.stage == registered:
		if _, ok := w.try(t, "verify", http.MethodPost, hotspot+"/verification", harness.Fields{"lat": at.lat, "lng": at.lng, "accuracy_m": 5, "method": "gps"}); ok {
			at.stage = verified
		}
	case at.stage == verified:
		w.linkAt(t, s, at)
	case dice == 6:
		if _, ok := w.try(t, "unlink", http.MethodDelete, hotspot+"/device", nil); ok {
			at.stage = verified
		}
	default:
		if a := at.Device.Beat(t.Context(), w.admin, s); w.took(t, "beat", a) {
			at.stage = beaten
		}
	}
}

// linkAt links a device; the code comes from the same server.
func (w *turmoil) linkAt(t *testing.T, s *harness.Server, at *site) {
	a, ok := w.try(t, "link", http.MethodPost, s.URL+"/v1/hotspots/"+at.Hotspot+"/link-code", nil)
	if !ok {
		return
	}
	body := harness.Fields{"code": a.Fields(t)["code"], "mac_address": at.MAC}
	if a, ok = w.try(t, "link", http.MethodPost, s.URL+"/v1/devices/link", body); ok {
		at.Key, _ = a.Fields(t)["device_key"].(string)
		at.stage = linked
		at.Reboot()
	}
}

func (w *turmoil) try(t *testing.T, what, method, url string, body any) (harness.Answer, bool) {
	a := w.admin.Do(t.Context(), method, url, body)
	return a, w.took(t, what, a)
}

// took counts what was done, and what must not be answered.
func (w *turmoil) took(t *testing.T, what string, a harness.Answer) bool {
	switch a.Outcome() {
	case harness.Done:
		w.counts[what].Add(1)
		return true
	case harness.Unknown:
		t.Errorf("%s was answered %d %s %v", what, a.Status, a.Code, a.Err)
	}
	return false
}

// record is what a server shows on all maps, byte by byte.
func (w *turmoil) record(t *testing.T, s *harness.Server) map[string]string {
	all := map[string]string{}
	for _, path := range shown {
		all[path] = w.get(t, s, path)
	}
	return all
}

// get returns what a server shows on a map; of a tile also the tag.
func (w *turmoil) get(t *testing.T, s *harness.Server, path string) string {
	if !strings.HasSuffix(path, ".mvt") {
		a := w.admin.Do(t.Context(), http.MethodGet, s.URL+path, nil)
		if a.Status != http.StatusOK {
			t.Errorf("%s: %d %s %v", path, a.Status, a.Code, a.Err)
		}
		return string(a.Data)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	request.Header.Set("Authorization", "Bearer "+w.admin.Key)
	response, err := w.admin.HTTP.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %v", path, response.StatusCode, err)
	}
	return response.Header.Get("ETag") + string(body)
}

// online is how many hotspots the map of the world shows online.
func (w *turmoil) online(t *testing.T) int {
	n, _ := w.admin.Ask(t, http.MethodGet, w.servers[0].URL+shown[0], nil)["online_count"].(float64)
	return int(n)
}
