package coverage_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

const metersADegree = math.Pi * geo.EarthRadius / 180

// Sides through the middle of a disc, and sides that touch its rim. Near the
// equator they do so to the last bit.
func TestArea_SidesThatTouch(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for i := range 400 {
		at := geo.Point{Lat: []float64{0.001, 0.01}[i%2] * (1 + random.Float64()/10), Lng: random.Float64()*340 - 170}
		if i%4 > 1 { // as people write them
			at.Lat, at.Lng = math.Round(at.Lat*1e5)/1e5, math.Round(at.Lng*1e5)/1e5
		}
		radius := []float64{50, 75, 100, 500}[random.IntN(4)]
		up := radius / metersADegree
		along := math.Asin(math.Sin(radius/geo.EarthRadius)/math.Cos(at.Lat*math.Pi/180)) * 180 / math.Pi
		if random.IntN(2) == 0 {
			along = up / math.Cos(at.Lat*math.Pi/180)
		}
		snapshot := planted(t, []disc{{"a", at, radius, true}}).Snapshot()
		for _, box := range []geo.Box{
			{North: at.Lat + up, South: at.Lat, West: at.Lng, East: at.Lng + along},
			{North: at.Lat + up, South: at.Lat, West: at.Lng - along, East: at.Lng},
			{North: at.Lat, South: at.Lat - up, West: at.Lng, East: at.Lng + along},
			{North: at.Lat, South: at.Lat - up, West: at.Lng - along, East: at.Lng},
			{North: at.Lat + up, South: at.Lat - up, West: at.Lng, East: at.Lng + along},
			{North: at.Lat + up, South: at.Lat - up, West: at.Lng - along, East: at.Lng + along},
			{North: at.Lat + up, South: at.Lat - 1, West: at.Lng, East: at.Lng + 1},
			{North: at.Lat + 1, South: at.Lat - up, West: at.Lng - 1, East: at.Lng},
		} {
			got := snapshot.Area(box) * 1e6
			if want := oracleArea(box, []oracleDisc{{at, radius}}); math.Abs(got/want-1) > 1e-6 {
				t.Fatalf("%v m around %+v in %+v: %v m²; want %v", radius, at, box, got, want)
			}
		}
	}
}

// The rim of a disc at a pole is a parallel, and so is a side of a box.
func TestArea_RimIsTheSide(t *testing.T) {
	for radius := 10.0; radius <= 500; radius++ {
		for _, pole := range []float64{90, -90} {
			box := geo.Box{North: 90, South: 90 - radius/metersADegree, East: 120}
			if pole < 0 {
				box.North, box.South = -box.South, -box.North
			}
			snapshot := planted(t, []disc{{"a", geo.Point{Lat: pole}, radius, true}}).Snapshot()
			if got, want := snapshot.Area(box)*1e6, box.Area(); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%v m around %v°: %v m² of a box of %v", radius, pole, got, want)
			}
		}
	}
}
