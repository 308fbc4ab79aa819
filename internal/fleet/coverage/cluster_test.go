package coverage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

func TestClusters_TotalsAtEveryZoom(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	for _, n := range []int{1, 30, 2000} {
		discs := world(random, n)
		snapshot := planted(t, discs).Snapshot()
		boxes := append(lines(random, discs)[:3], geo.Box{North: 90, South: -90, East: 180, West: -180})
		for _, box := range boxes {
			count, online := snapshot.Count(box)
			before := 0
			for zoom := range coverage.MaxZoom + 1 {
				clusters := snapshot.Clusters(box, zoom)
				checkClusters(t, clusters)
				if zoom%5 == 0 {
					checkMembers(t, box, discs, clusters)
				}
				gotCount, gotOnline := 0, 0
				for _, c := range clusters {
					gotCount, gotOnline = gotCount+c.Count, gotOnline+c.Online
				}
				if gotCount != count || gotOnline != online {
					t.Errorf("%d discs, zoom %d: clusters have %d, %d; want %d, %d", n, zoom, gotCount, gotOnline, count, online)
				}
				if len(clusters) < before && before < coverage.MaxClusters/4 {
					t.Errorf("%d clusters at zoom %d, %d farther away", len(clusters), zoom, before)
				}
				before = len(clusters)
			}
		}
	}
}

// A cluster is pending where a map without the pending discs has none.
func TestClusters_Pending(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 18))
	all := world(random, 200)
	var others []disc
	for i := range all {
		if i%3 > 0 {
			all[i].Item, all[i].Online = "pending "+all[i].Item, false
			continue
		}
		others = append(others, all[i])
	}
	box := geo.Box{North: 90, South: -90, East: 180, West: -180}
	tr := planted(t, all)
	pending := 0
	for zoom := range coverage.MaxZoom + 1 {
		known := map[string]bool{}
		for _, c := range planted(t, others).Snapshot().Clusters(box, zoom) {
			known[c.ID] = true
		}
		for _, c := range tr.Snapshot().Clusters(box, zoom) {
			if c.Pending == known[c.ID] {
				t.Errorf("zoom %d: %+v", zoom, c)
			}
			if c.Pending && c.Count > 1 {
				pending++
			}
		}
	}
	if pending < 10 {
		t.Errorf("%d clusters are pending: the test hardly asks anything", pending)
	}
}

// checkClusters holds what is true of each cluster by itself.
func checkClusters(t *testing.T, clusters []coverage.Cluster) {
	t.Helper()
	if len(clusters) > coverage.MaxClusters {
		t.Errorf("%d clusters", len(clusters))
	}
	seen := map[string]bool{}
	for _, c := range clusters {
		if seen[c.ID] || !strings.HasPrefix(c.ID, "cl_") {
			t.Errorf("the ID %q", c.ID)
		}
		seen[c.ID] = true
		if !c.Center.Valid() || c.Count < 1 || c.Online < 0 || c.Online > c.Count || !(c.RadiusM > 0) {
			t.Errorf("%+v", c)
		}
	}
}

// checkMembers holds that every cluster reaches as many discs as it counts.
func checkMembers(t *testing.T, box geo.Box, discs []disc, clusters []coverage.Cluster) {
	t.Helper()
	var vecs []geo.Vec
	var radii []float64
	for _, d := range discs {
		if box.Contains(d.Place) {
			vecs, radii = append(vecs, d.Place.Vec()), append(radii, d.RadiusM)
		}
	}
	for _, c := range clusters {
		within, at := 0, c.Center.Vec()
		for i := range vecs {
			if at.Meters(vecs[i])+radii[i] <= c.RadiusM+1e-3 {
				within++
			}
		}
		if within < c.Count {
			t.Errorf("%+v reaches only %d discs", c, within)
		}
	}
}

// One alone is where it is, and as large.
func TestClusters_One(t *testing.T) {
	d := disc{"a", geo.Point{Lat: 40.712345678, Lng: -74.00612345}, 83.3, true}
	snapshot := planted(t, []disc{d}).Snapshot()
	for zoom := range coverage.MaxZoom + 1 {
		clusters := snapshot.Clusters(geo.Box{North: 90, South: -90, East: 180, West: -180}, zoom)
		if len(clusters) != 1 || clusters[0].Center != d.Place || clusters[0].RadiusM != d.RadiusM {
			t.Errorf("zoom %d: %+v", zoom, clusters)
		}
	}
}

// What is at 180° and what is at -180° are neighbours.
func TestClusters_AcrossAntimeridian(t *testing.T) {
	snapshot := planted(t, []disc{
		{"a", geo.Point{Lat: 1, Lng: 180}, 50, true}, {"b", geo.Point{Lat: 1, Lng: -179.999}, 75, false},
	}).Snapshot()
	clusters := snapshot.Clusters(geo.Box{North: 2, South: 0, West: 179, East: -179}, 3)
	if len(clusters) != 1 || clusters[0].Count != 2 || clusters[0].Online != 1 || clusters[0].RadiusM > 500 {
		t.Errorf("%+v", clusters)
	}
}

// A map that moves shows the same clusters under the same names, and what is on
// the side that no change touched stays as it is.
func TestClusters_Stable(t *testing.T) {
	discs := city(2000, newYork, 10_000)
	tr := planted(t, discs)
	const zoom = 12
	left, right := boxAround(newYork, 8000, 8000), boxAround(newYork, 8000, 8000)
	right.West += 0.01
	right.East += 0.01
	named := func(box geo.Box) map[string]coverage.Cluster {
		all := map[string]coverage.Cluster{}
		for _, c := range tr.Snapshot().Clusters(box, zoom) {
			all[c.ID] = c
		}
		return all
	}
	a, b, same := named(left), named(right), 0
	for id, c := range a {
		if b[id] == c {
			same++
		}
	}
	if same < len(a)/2 {
		t.Errorf("of %d clusters only %d are the same after a small move", len(a), same)
	}
	gone := discs[slices.IndexFunc(discs, func(d disc) bool { return left.Contains(d.Place) })]
	apply(t, tr, nil, []disc{gone})
	changed := 0
	after := named(left)
	for id, c := range a {
		if after[id] != c {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d clusters changed with one disc", changed)
	}
}

// tileOf is the tile that a place is in, by the formula that every map library
// has. It says nothing about places that lie on a line.
func tileOf(p geo.Point, zoom int) coverage.Tile {
	count := math.Exp2(float64(zoom))
	rad := p.Lat * math.Pi / 180
	return coverage.Tile{
		Z: zoom,
		X: int(math.Floor((p.Lng + 180) / 360 * count)),
		Y: int(math.Floor((1 - math.Log(math.Tan(rad)+1/math.Cos(rad))/math.Pi) / 2 * count)),
	}
}

// onLine reports whether a place is on a line of the deepest tiles, or nearly so.
func onLine(p geo.Point) bool {
	x, y := coverage.Tile{Z: coverage.MaxZoom}.Position(p)
	near := func(v float64) bool { return math.Abs(v-math.Round(v)) < 1e-4 }
	return near(x) || near(y)
}

func TestTile_EveryDiscIsInOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	var discs []disc
	for _, d := range world(random, 6000) {
		if math.Abs(d.Place.Lat) < 85 && !onLine(d.Place) {
			discs = append(discs, d)
		}
	}
	if len(discs) < 3000 {
		t.Fatalf("only %d discs", len(discs))
	}
	snapshot := planted(t, discs).Snapshot()
	for zoom := range coverage.MaxZoom + 1 {
		want := map[coverage.Tile][]string{}
		for _, d := range discs {
			tile := tileOf(d.Place, zoom)
			want[tile] = append(want[tile], d.Item.ID())
		}
		for tile, ids := range want {
			if !tile.Valid() {
				t.Fatalf("%v", tile)
			}
			var got []string
			snapshot.TileEach(tile, func(d disc) bool {
				got = append(got, d.Item.ID())
				return true
			})
			slices.Sort(got)
			slices.Sort(ids)
			if !slices.Equal(got, ids) || snapshot.TileCount(tile) != len(ids) {
				t.Fatalf("tile %v has %d, by TileEach %d; want %d", tile, snapshot.TileCount(tile), len(got), len(ids))
			}
			checkTile(t, snapshot.TileClusters(tile), tile, len(ids))
		}
	}
}

// checkTile holds what is true of the clusters of a tile.
func checkTile(t *testing.T, clusters []coverage.Cluster, tile coverage.Tile, count int) {
	t.Helper()
	checkClusters(t, clusters)
	total := 0
	for _, c := range clusters {
		total += c.Count
		x, y := tile.Position(c.Center)
		if x < -1e-6 || x > 1+1e-6 || y < -1e-6 || y > 1+1e-6 { // bounds are kept in little memory
			t.Errorf("tile %v: %+v is shown at %v, %v", tile, c, x, y)
		}
		if !strings.HasPrefix(c.ID, fmt.Sprintf("cl_%d_", tile.Z+3)) {
			t.Errorf("tile %v has the cluster %s", tile, c.ID)
		}
	}
	if total != count || len(clusters) > 64 {
		t.Errorf("tile %v: %d clusters of %d; want %d", tile, len(clusters), total, count)
	}
}

func TestTile_SaysWhatClustersSay(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	var discs []disc
	for _, d := range world(random, 500) {
		if math.Abs(d.Place.Lat) < 85 {
			discs = append(discs, d)
		}
	}
	snapshot := planted(t, discs).Snapshot()
	all := snapshot.Clusters(geo.Box{North: 85, South: -85, East: 180, West: -180}, 2)
	var tiled []coverage.Cluster
	for x := range 4 {
		for y := range 4 {
			tiled = append(tiled, snapshot.TileClusters(coverage.Tile{Z: 2, X: x, Y: y})...)
		}
	}
	byID := func(a, b coverage.Cluster) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(all, byID)
	slices.SortFunc(tiled, byID)
	if len(all) < 50 || !slices.Equal(all, tiled) {
		t.Errorf("%d clusters of the world, %d of its tiles, and they differ", len(all), len(tiled))
	}
}

func TestTile_LinesBelongToOne(t *testing.T) {
	corner := geo.Point{Lat: 0, Lng: 0} // where four tiles meet, at each zoom from 1 on
	discs := []disc{{Item: name("corner"), Place: corner, RadiusM: 50, Online: true}, {Item: name("far"), Place: geo.Point{Lat: 12, Lng: 180}, RadiusM: 50}}
	snapshot := planted(t, discs).Snapshot()
	for zoom := 1; zoom <= coverage.MaxZoom; zoom++ {
		half := 1 << (zoom - 1)
		if n := snapshot.TileCount(coverage.Tile{Z: zoom, X: half, Y: half - 1}); n != 1 {
			t.Errorf("zoom %d: %d in the tile north and east of 0°, 0°", zoom, n)
		}
		total := 0
		for _, x := range []int{half - 1, half} {
			for _, y := range []int{half - 1, half} {
				tile := coverage.Tile{Z: zoom, X: x, Y: y}
				snapshot.TileEach(tile, func(d disc) bool {
					if d.Item.ID() == "corner" {
						total++
					}
					return true
				})
			}
		}
		if total != 1 {
			t.Errorf("zoom %d: the corner is in %d tiles", zoom, total)
		}
	}
	if n := snapshot.TileCount(coverage.Tile{Z: 3, X: 0, Y: 3}); n != 1 {
		t.Errorf("%d at 180° E in the first column", n)
	}
	if x, _ := (coverage.Tile{Z: 3, X: 0, Y: 3}).Position(discs[1].Place); x != 0 {
		t.Errorf("180° E is shown at %v of the first column", x)
	}
}

func TestTile_Valid(t *testing.T) {
	for tile, want := range map[coverage.Tile]bool{
		{0, 0, 0}: true, {22, 1<<22 - 1, 1<<22 - 1}: true, {23, 0, 0}: false, {-1, 0, 0}: false,
		{3, 8, 0}: false, {3, 0, 8}: false, {3, -1, 0}: false, {3, 0, -1}: false, {3, 7, 7}: true,
	} {
		if tile.Valid() != want {
			t.Errorf("%v: valid %v", tile, !want)
		}
	}
}
