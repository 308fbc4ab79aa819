package beacon

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// What remains of visits says on each day since when the hotspot was at its place and
// whether that was proven, as before, but nothing of where it was.
func TestErase_KeepsStandings(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 17))
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 200 {
		h := Hotspot{Type: Home, Name: "Smith", Location: Location{Point: geo.Point{Lat: 40.7, Lng: -74}, Address: "1 Main Street", VerifiedAt: start, UnverifiedReason: "x"}}
		h.Device = Device{SSID: "Smith", MAC: "02:00:5e:00:00:01", LinkedAt: start, KeyHash: [32]byte{1}, Agent: Agent{Version: "1"}}
		h.PastHours, h.PastService = []PastHours{{Until: start}}, []Period{{From: start}}
		at := start
		for n := range random.IntN(8) {
			at = at.AddDate(0, 0, random.IntN(9))
			v := Visit{At: at, AccuracyM: []float64{5, 60}[random.IntN(2)], Proves: random.IntN(2) == 0}
			v.Point = h.Location.Point.Toward(random.Float64()*360, []float64{0, 10, 29, 31, 300}[random.IntN(5)])
			if n > 0 && random.IntN(3) == 0 {
				k := random.IntN(n)
				earlier := placeOn(h.Visits[:k+1], DayOf(h.Visits[k].At)+1)
				v.Point, v.AccuracyM, v.Again = earlier.Point, 5, earlier.Measured
			}
			h.Visits = append(h.Visits, v)
		}
		h.Vouches = []time.Time{start.AddDate(0, 0, random.IntN(60))}
		erased := h
		erased.Erase()
		erased.ErasePlace()
		for day := DayOf(start) - 2; day < DayOf(start)+90; day++ {
			was, is := h.PlaceOn(day), erased.PlaceOn(day)
			if is.Since != was.Since || is.Began != was.Began || is.Measured != was.Measured || is.Proven(day) != was.Proven(day) || is.Visited(day) != was.Visited(day) {
				t.Fatalf("on %s the place was %+v and is %+v", day, was, is)
			}
			if is.Point.Lat != 0 || is.Point.Lng != math.Trunc(is.Point.Lng) || is.AccuracyM != 0 {
				t.Fatalf("it is still at %v", is.Point)
			}
		}
		if erased.Name == h.Name || erased.Location.Address != "" || erased.Location.UnverifiedReason != "" || erased.Device.SSID == h.Device.SSID ||
			erased.Device.MAC != MaskedMAC || erased.Device.Agent != (Agent{}) || erased.PastHours != nil || erased.PastService != nil {
			t.Fatalf("it is still told: %+v", erased)
		}
		again := erased
		again.Erase()
		again.ErasePlace()
		if !reflect.DeepEqual(again, erased) {
			t.Fatalf("erased again, it differs:\n%+v\n%+v", erased, again)
		}
	}
}
