package spatial_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// spot is the item of these tests.
type spot struct {
	id   string
	at   geo.Point
	tags spatial.Tags
}

func (s *spot) ID() string         { return s.id }
func (s *spot) Place() geo.Point   { return s.at }
func (s *spot) Tags() spatial.Tags { return s.tags }

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func apply(tb testing.TB, ix *spatial.Index[*spot], puts []*spot, deletes []string) {
	tb.Helper()
	if err := ix.Apply(puts, deletes); err != nil {
		tb.Fatal(err)
	}
}

// haversine is the oracle's own distance: by another formula, from the degrees.
func haversine(a, b geo.Point) float64 {
	const radians = math.Pi / 180
	lat := math.Sin((b.Lat - a.Lat) * radians / 2)
	lng := math.Sin((b.Lng - a.Lng) * radians / 2)
	h := lat*lat + math.Cos(a.Lat*radians)*math.Cos(b.Lat*radians)*lng*lng
	return 2 * 6_371_008.8 * math.Atan2(math.Sqrt(h), math.Sqrt(max(0, 1-h)))
}

// tolerance is how far the distances of index and oracle may be apart: the index
// rounds to micrometres, and near the antipode haversine itself is off by more.
func tolerance(meters float64) float64 {
	if meters > 19_000_000 {
		return 0.5
	}
	return 2e-6
}

// check holds the answer to a query against a loop over all spots. Where the
// oracle cannot tell two distances apart, any order of the two is right, unless
// they are at one place: then the lower ID comes first.
func check(tb failer, all map[string]*spot, q spatial.Query, keep func(*spot) bool, got []spatial.Hit[*spot]) {
	tb.Helper()
	var want []*spot
	for _, s := range all {
		wanted := (q.Tags == 0 || s.tags&q.Tags != 0) && (keep == nil || keep(s))
		meters := haversine(q.Center, s.at)
		if wanted && meters <= q.Radius+tolerance(meters) {
			want = append(want, s)
		}
	}
	slices.SortFunc(want, func(a, b *spot) int {
		return cmp.Or(cmp.Compare(haversine(q.Center, a.at), haversine(q.Center, b.at)), cmp.Compare(a.id, b.id))
	})
	sure := 0
	for sure < len(want) && haversine(q.Center, want[sure].at) < q.Radius-tolerance(q.Radius) {
		sure++
	}
	if len(got) < min(sure, q.Limit) || len(got) > min(len(want), q.Limit) {
		tb.Fatalf("%+v: %d hits; want %d, and up to %d on the border", q, len(got), min(sure, q.Limit), min(len(want), q.Limit))
	}
	seen := map[string]bool{}
	for i, hit := range got {
		s, meters := hit.Item, haversine(q.Center, hit.Item.at)
		switch {
		case all[s.id] != s || seen[s.id]:
			tb.Fatalf("%+v: hit %d, %v, is stale or came twice", q, i, *s)
		case keep != nil && !keep(s), q.Tags != 0 && s.tags&q.Tags == 0:
			tb.Fatalf("%+v: hit %d, %v, is not wanted", q, i, *s)
		case math.Abs(hit.Meters-meters) > tolerance(meters):
			tb.Fatalf("%+v: hit %d, %v, is %v m away; want %v", q, i, *s, hit.Meters, meters)
		case math.Abs(meters-haversine(q.Center, want[i].at)) > tolerance(meters):
			tb.Fatalf("%+v: hit %d is %v, %v m away; want %v, %v m", q, i, *s, meters, *want[i], haversine(q.Center, want[i].at))
		}
		if i > 0 && !inOrder(got[i-1], hit) {
			tb.Fatalf("%+v: %v, %v m, comes before %v, %v m", q, *got[i-1].Item, got[i-1].Meters, *s, hit.Meters)
		}
		seen[s.id] = true
	}
	checkTies(tb, all, q, keep, got)
}

func inOrder(a, b spatial.Hit[*spot]) bool {
	return a.Meters < b.Meters || (a.Meters == b.Meters && a.Item.id < b.Item.id)
}

// checkTies finds a spot that was left out although it shares the place of a
// hit and has a lower ID.
func checkTies(tb failer, all map[string]*spot, q spatial.Query, keep func(*spot) bool, got []spatial.Hit[*spot]) {
	tb.Helper()
	if len(got) == 0 {
		return
	}
	last := got[len(got)-1].Item
	for _, s := range all {
		wanted := (q.Tags == 0 || s.tags&q.Tags != 0) && (keep == nil || keep(s))
		if wanted && s.at == last.at && s.id < last.id && !slices.ContainsFunc(got, func(h spatial.Hit[*spot]) bool { return h.Item == s }) {
			tb.Fatalf("%+v: %v was left out, but %v at the same place was not", q, *s, *last)
		}
	}
}

// randomPlace favours the places where indexes break.
func randomPlace(random *rand.Rand) geo.Point {
	p := geo.Point{Lat: random.Float64()*180 - 90, Lng: random.Float64()*360 - 180}
	switch random.IntN(8) {
	case 0: // at a pole or within a hundred metres of it
		p.Lat = math.Copysign(90-math.Round(random.Float64()*2)*random.Float64()*1e-3, p.Lat)
	case 1: // around ±180°
		p.Lat, p.Lng = random.NormFloat64()*1e-3, math.Copysign(180-math.Round(random.Float64()*2)*random.Float64()*1e-3, p.Lng)
	case 2: // one of a few places, for many
		p = geo.Point{Lat: float64(random.IntN(4)/3) * 1e-4, Lng: float64(random.IntN(4)/3) * 1e-4}
	case 3, 4, 5: // a city
		p = geo.Point{Lat: 40.7 + random.NormFloat64()*0.01, Lng: -74 + random.NormFloat64()*0.01}
	case 6: // a street along a parallel: equal on one axis
		p = geo.Point{Lat: 51.5, Lng: float64(random.IntN(1000)) * 1e-5}
	}
	return p
}

// randomTags are mostly 1; the others are so rare that parts of a tree lack them.
func randomTags(random *rand.Rand) spatial.Tags {
	return spatial.Tags([...]int{0: 2, 1: 4, 99: 0}[random.IntN(100)] | 1)
}

func randomSpots(random *rand.Rand, n int) map[string]*spot {
	all := map[string]*spot{}
	for i := range n {
		id := fmt.Sprintf("hs_%05d", i)
		all[id] = &spot{id, randomPlace(random), randomTags(random)}
	}
	return all
}

func randomQuery(random *rand.Rand) spatial.Query {
	radii := []float64{0, 0.5, 12, 150, 1000, 10_000, 500_000, 9_000_000, 21_000_000}
	return spatial.Query{
		Center: randomPlace(random),
		Radius: radii[random.IntN(len(radii))] * (1 + random.Float64()),
		Limit:  1 + random.IntN(50),
		Tags:   spatial.Tags(random.IntN(4) * 2),
	}
}
