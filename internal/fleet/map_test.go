package fleet_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// Whatever a map showed before, it shows what it would if these items were its first.
func TestMap_AnyHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	f, _ := town(t, 60)
	var all []fleet.MapItem
	f.All(func(s *fleet.Hotspot) bool {
		all = append(all, fleet.MapItem{Hotspot: s})
		return true
	})
	slices.SortFunc(all, func(a, b fleet.MapItem) int {
		if a.Hotspot.ID() < b.Hotspot.ID() {
			return -1
		}
		return 1
	})
	m := fleet.NewMap()
	for range 100 {
		var items []fleet.MapItem
		for _, item := range all {
			item.Place = geo.Point{Lat: item.Hotspot.Place().Lat + float64(random.IntN(2)), Lng: item.Hotspot.Place().Lng}
			item.Status = []beacon.Status{beacon.Online, beacon.Offline}[random.IntN(2)]
			if random.IntN(3) > 0 {
				items = append(items, item)
			}
		}
		fresh := fleet.NewMap()
		for _, each := range []*fleet.Map{m, fresh} {
			if err := each.Draw(items); err != nil {
				t.Fatal(err)
			}
		}
		for _, tile := range []fleet.Tile{{}, {Z: 5, X: 16, Y: 15}, {Z: 14, X: 8214, Y: 8169}} {
			got, want := m.Tile(tile), fresh.Tile(tile)
			count := len(want.Marks)
			for _, c := range want.Clusters {
				count += c.Count
			}
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *fleet.Hotspot) bool { return a == b })); diff != "" || tile.Z == 0 && count != len(items) {
				t.Fatalf("%v shows %d of %d:\n%s", tile, count, len(items), diff)
			}
		}
	}
}
