package api_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// An operator who knows the rules lets staff find 14 hotspots of its own around a hidden home,
// each on the air at another time. Before these exact visits explain says nothing that depends
// on the home, and after them shares in tens of minutes and of per cent. The amounts that are
// paid are exact, and tell more. TestDivide_TellsOfHomes measures both for many homes, and
// docs/privacy.md has the figures.
func TestHomePrivacy_ExactVisits(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	const pins, minutes = 14, 12
	w := newWorld(t, 0)
	stored := w.stored(t)
	home := stored[0].Location.Point
	if string(stored[0].ID) != w.public[0].id {
		home = stored[1].Location.Point
	}
	w.advance(time.Minute)
	spy := w.anyone(t, "hotspots:write", "rewards:read")
	own, places := make([]machine, pins+1), make([]geo.Point, pins+1)
	for n := range own {
		places[n] = home.Toward(60, 25).Toward(float64(n)*137.5, 20+4*float64(n))
		own[n] = spy.install(t, 20+n, "location", at(`{"address":"x","lat":%v,"lng":%v}`, places[n].Lat, places[n].Lng))
		accuracy := 5
		if n == pins {
			accuracy = 80
		}
		w.anyone(t, "hotspots:verify").post(t, own[n].hotspot+"/verification",
			at(`{"lat":%v,"lng":%v,"accuracy_m":%d,"method":"gps"}`, places[n].Lat, places[n].Lng, accuracy)).want(t, http.StatusOK)
	}
	for _, d := range own {
		for range minutes / 4 { // a beat serves four minutes
			w.seq++
			for _, d := range []machine{w.homes[0], d} {
				d.beat(t, at(`{"boot_id":"b","seq":%d,"clients":0,"rx_bytes":0,"tx_bytes":0}`, w.seq)).want(t, http.StatusOK)
			}
			w.advance(4 * time.Minute)
		}
	}
	w.advance(5 * time.Minute)
	vague := spy.facts(t, own[pins].hotspot)
	if vague.Facts.Served != minutes || vague.Facts.Owned != 0 || vague.Facts.Shared != 0 || vague.Facts.With != 0 || vague.Earned.Total != 0 {
		t.Errorf("without an exact visit one is told %+v", vague)
	}
	own, places = own[:pins], places[:pins]

	told, paid := make([]float64, pins), make([]float64, pins)
	exact := spy.rewards(t, "current")
	shared := 0
	for n, d := range own {
		e := spy.facts(t, d.hotspot)
		served, tenths := e.Facts.Served, int64(0)
		if e.Facts.Shared > 0 {
			if shared++; e.Facts.Shared%10 != 0 {
				t.Errorf("it shared ground for %d minutes", e.Facts.Shared)
			}
			lost := int64(served)*1_000_000 - int64(e.Facts.Owned)
			if tenths = lost / int64(e.Facts.Shared); tenths%100_000 != 0 || !e.Approximate {
				t.Errorf("of its ground it lost %d millionths in a shared minute, which is approximate: %v", tenths, e.Approximate)
			}
		}
		told[n] = float64(tenths) / 1e6
		for _, h := range exact.Hotspots {
			if "/v1/hotspots/"+h.ID == d.hotspot {
				paid[n] = 1 - float64(h.Breakdown.Availability)*1440/1e6/float64(served)
			}
		}
	}
	if shared < pins/2 {
		t.Errorf("only %d of %d hotspots share ground with the home", shared, pins)
	}
	explains, pays := residue(t, home, places, told, 0.05), residue(t, home, places, paid, 0)
	t.Logf("with %d hotspots the home is within %.0f m of the middle of what explain leaves possible, and within %.0f m of what the amounts do", pins, explains, pays)
	if explains <= pays {
		t.Error("explain tells as much as the amounts")
	}
}

// residue returns how far the home may be from the middle of all places that explain what was
// lost by hotspots at some places, to within a rounding.
func residue(t *testing.T, home geo.Point, places []geo.Point, lost []float64, rounding float64) (within float64) {
	t.Helper()
	const grid, near = 3, 0.025 // metres, and what they make at most
	var left []geo.Point
	for north := -90.0; north <= 90; north += grid {
		for east := -90.0; east <= 90; east += grid {
			p, fits := home.Toward(0, north).Toward(90, east), true
			for n := 0; n < len(places) && fits; n++ {
				shares, err := ground.Divide(t.Context(), []ground.Hotspot{{Place: ground.PlaceOf(p), Served: allDay}, {Place: ground.PlaceOf(places[n]), Served: allDay}}, 50)
				if err != nil {
					t.Fatal(err)
				}
				fits = math.Abs(1-float64(shares[1].Weight())/1e6/beacon.MinutesADay-lost[n]) <= rounding+near
			}
			if fits {
				left = append(left, p)
			}
		}
	}
	if left == nil {
		t.Fatalf("no place explains %v", lost)
	}
	var middle geo.Point
	for _, p := range left {
		middle.Lat += p.Lat / float64(len(left))
		middle.Lng += p.Lng / float64(len(left))
	}
	for _, p := range left {
		within = max(within, geo.Distance(middle, p))
	}
	return within
}

var allDay = func() *beacon.Minutes { m := beacon.Schedule{}.OpenMask(0); return &m }()

// detailed is an explanation with what it says of the ground.
type detailed struct {
	Facts struct {
		Served int    `json:"served_minutes"`
		Owned  micros `json:"owned_minutes"`
		Shared int    `json:"shared_minutes"`
		With   int    `json:"shared_with"`
	} `json:"facts"`
	Earned      breakdown `json:"earned"`
	Approximate bool      `json:"approximate"`
}

func (c client) facts(t testing.TB, hotspot string) detailed {
	t.Helper()
	return data[detailed](t, c.get(t, hotspot+"/rewards/explain"), http.StatusOK)
}
