package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// peerWorld is a world with places that have enough hotspots nearby: cities, not
// their outskirts.
type peerWorld struct {
	world
	scale    float64
	subject  *process // Beacon, once it serves this world
	requests []string // to it, for each place
}

// newPeerWorld makes a world of n hotspots that stand as close as a million do
// in the world of BenchmarkNearby, in cities that are that much smaller.
func newPeerWorld(b *testing.B, n int) *peerWorld {
	b.Helper()
	if n == 1_000_000 {
		return &peerWorld{world: newWorld(b, n), scale: 1}
	}
	scale := math.Sqrt(float64(n) / 1e6)
	return &peerWorld{world: newWorldScaled(b, fmt.Sprintf("dense-%d.db", n), n, scale), scale: scale}
}

// choosePlaces finds many places in cities, so that no one is asked the same too
// often.
func (w *peerWorld) choosePlaces(b *testing.B) {
	b.Helper()
	const candidates = 10_000
	all := citiesScaled(rand.New(rand.NewPCG(1, 2)), w.scale)
	random := rand.New(rand.NewPCG(3, 4))
	w.places = nil
	for range candidates {
		at := place(random, all)
		request := get(fmt.Sprintf("/v1/hotspots/nearby?lat=%.6f&lng=%.6f&status=all", at.Lat, at.Lng), "Authorization: Bearer "+w.key)
		answer := string(fetch(b, w.subject, request).Body)
		if strings.Count(answer, `"distance_m"`) == nearbyLimit {
			w.places, w.requests = append(w.places, at), append(w.requests, request)
		}
	}
	if len(w.places) < candidates/10 {
		b.Fatalf("only %d places of %d have %d hotspots nearby", len(w.places), candidates, nearbyLimit)
	}
}

// item is a hotspot as others keep it.
type item struct {
	id   string
	at   geo.Point
	json string
}

// items reads all hotspots and encodes each once, as an answer of Beacon's says
// it without the distance.
func (w *peerWorld) items(b *testing.B) []item {
	b.Helper()
	db := open(b, w.file, time.Now())
	defer db.Close()
	var mu sync.Mutex
	var all []item
	err := db.Hotspots.EachHotspot(b.Context(), time.Time{}, func(h beacon.Hotspot) error {
		one := item{string(h.ID), h.Location.Point, itemJSON(h)}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, one)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

var radii = map[beacon.Type]int{beacon.Home: 50, beacon.Business: 75, beacon.Public: 100}

func itemJSON(h beacon.Hotspot) string {
	return fmt.Sprintf(`{"id":"%s","name":"%s","type":"%s","location":{"lat":%s,"lng":%s,"address":"%s"},`+
		`"status":"pending","coverage_radius_m":%d,"signal_quality":"unknown","performance_tier":"standard","current_load":0,"uptime_30d":0}`,
		h.ID, h.Name, h.Type, degrees(h.Location.Point.Lat), degrees(h.Location.Point.Lng), h.Location.Address, radii[h.Type])
}

var distanceMember = regexp.MustCompile(`"distance_m":([0-9.]+),`)

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}
