//go:build linux

package endtoend_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestCoverageReplicas: at two servers of one database, hotspots come, beat,
// change and go until each of that has happened often enough, while others look at
// maps. Then both come to answer byte by byte the same, tiles and their tags
// included, and that is what the hotspots say one by one. The clock stands still:
// nobody goes offline by himself.
func TestCoverageReplicas(t *testing.T) {
	t.Parallel() // it mostly waits
	db := storetest.Postgres(t)
	clock := harness.NewHeldClock(t, time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC))
	w := &turmoil{servers: [2]*harness.Server{clock.Start(t, db), clock.Start(t, db)}, counts: map[string]*atomic.Int64{}}
	admin := harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	w.scene = newScene(t, admin)
	for range 3 {
		w.clump(12, cityLat, cityLng, 400)
	}
	for _, what := range []string{"register", "verify", "link", "beat", "resize", "unlink", "remove", "look"} {
		w.counts[what] = new(atomic.Int64)
	}
	boxes := w.boxes()

	load, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	seed := level.Seed(t)
	const workers = 6
	for first := range workers {
		working.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(first)+2))
			for load.Err() == nil && !t.Failed() {
				at := w.sites[first+workers*random.IntN(len(w.sites)/workers)] // whom nobody else changes
				w.act(t, random, at)
				pause(random)
			}
		})
	}
	for i, s := range w.servers {
		random := rand.New(rand.NewPCG(seed, uint64(i)+workers+2))
		working.Go(func() { w.look(load, t, s, random, boxes) })
	}
	enough := int64(level.Rounds(5, 30, 100))
	for what, n := range w.counts {
		harness.Eventually(t, what+" was done often enough", func() bool { return n.Load() >= enough || t.Failed() })
	}
	harness.Eventually(t, "enough hotspots are online to cover some ground", func() bool {
		return mustChart(t, admin, w.servers[0], wholeWorld, anyZoom).online() >= 10+2*workers || t.Failed()
	})
	stop()
	working.Wait()
	for what, n := range w.counts {
		t.Logf("%s: %d", what, n.Load())
	}

	// Until both know of everything, a tile may change between two requests.
	var both [2]map[string]string
	harness.Eventually(t, "both servers know of all changes", func() bool {
		var world [2]string
		for i, s := range w.servers {
			_, a, err := chart(t.Context(), admin, s, wholeWorld, anyZoom)
			if err != nil {
				t.Fatal(err)
			}
			world[i] = string(a.Data)
		}
		return world[0] == world[1]
	})
	took := harness.Eventually(t, "both servers answer the same", func() bool {
		for i, s := range w.servers {
			both[i] = record(t, admin, s, boxes)
		}
		return maps.Equal(both[0], both[1]) || t.Failed()
	})
	t.Logf("both servers answered the same after %v", took)
	for _, s := range w.servers {
		all := plot(t, admin, s, w.hotspots())
		if len(discsOf(all)) < 10 || len(discsOf(all)) == len(all) {
			t.Errorf("of %d hotspots %d are online: that proves too little", len(all), len(discsOf(all)))
		}
		for _, box := range boxes {
			mustChart(t, admin, s, box, anyZoom).expect(t, box, all)
		}
	}
}

// pause is that of a client, not a wait for anything.
func pause(random *rand.Rand) { time.Sleep(time.Duration(random.IntN(12)) * time.Millisecond) }

// turmoil is a scene that changes at two servers.
type turmoil struct {
	*scene
	servers [2]*harness.Server
	counts  map[string]*atomic.Int64 // what was done
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

// look asks for boxes and tiles as long as the load lasts.
func (w *turmoil) look(load context.Context, t *testing.T, s *harness.Server, random *rand.Rand, boxes []groundBox) {
	for load.Err() == nil && !t.Failed() {
		if _, _, err := chart(t.Context(), w.admin, s, boxes[random.IntN(len(boxes))], random.IntN(24)-1); err != nil {
			t.Error(err)
		}
		if got, err := fetchTile(t.Context(), w.admin, s, 1, 0, 0); err != nil || got.status != http.StatusOK {
			t.Errorf("a tile was answered %d %v", got.status, err)
		}
		w.counts["look"].Add(1)
		pause(random)
	}
}
