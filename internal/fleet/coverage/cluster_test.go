package coverage_test

import (
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
