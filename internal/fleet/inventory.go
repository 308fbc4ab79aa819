package fleet

import (
	"cmp"
	"slices"
	"unique"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Inventory is what the devices of the network run.
type Inventory struct {
	Linked    int // hotspots with a device
	Reporting int // those whose device says what it runs
	Groups    []InventoryGroup
}

// InventoryGroup is the number of devices that run the same.
type InventoryGroup struct {
	beacon.AgentKind
	Count int
}

// Inventory counts devices by what they run: the largest groups first, and at most limit
// of them. Charge is called before the work with its cost, as for List.
func (f *Fleet) Inventory(limit int, charge func(cost int) error) (all Inventory, err error) {
	if err := charge(f.Len() * checkCost); err != nil {
		return Inventory{}, err
	}
	counts := map[unique.Handle[beacon.AgentKind]]int{}
	f.All(func(s *Hotspot) bool {
		if s.Linked() {
			all.Linked++
			counts[s.agent]++
		}
		return true
	})
	delete(counts, unique.Make(beacon.AgentKind{}))
	for kind, n := range counts {
		all.Reporting += n
		all.Groups = append(all.Groups, InventoryGroup{kind.Value(), n})
	}
	slices.SortFunc(all.Groups, func(a, b InventoryGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Firmware, b.Firmware), cmp.Compare(a.Version, b.Version))
	})
	all.Groups = all.Groups[:min(len(all.Groups), limit)]
	return all, nil
}
