package fleet

import (
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
)

// Map is a map of chosen hotspots, for readers who may not see all of them. It is safe for
// concurrent use. Use NewMap.
type Map struct {
	tree *coverage.Tree[*Hotspot]

	mu    sync.Mutex // serializes Draw
	drawn []MapItem
}

// NewMap returns an empty map.
func NewMap() *Map { return &Map{tree: coverage.New[*Hotspot]()} }

// Draw makes the map show these items, which are in the order of their ids. It keeps the
// slice, and draws only what differs from the last one.
func (m *Map) Draw(items []MapItem) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var put, remove []coverage.Disc[*Hotspot]
	old := m.drawn
	for i := range items {
		item := &items[i]
		for len(old) > 0 && old[0].Hotspot.ID() < item.Hotspot.ID() {
			remove = append(remove, old[0].disc())
			old = old[1:]
		}
		if len(old) > 0 && old[0].Hotspot.ID() == item.Hotspot.ID() {
			was := old[0]
			old = old[1:]
			if was == *item {
				continue
			}
			if was.Place != item.Place {
				remove = append(remove, was.disc())
			}
		}
		put = append(put, item.disc())
	}
	for i := range old {
		remove = append(remove, old[i].disc())
	}
	if err := m.tree.Apply(put, remove); err != nil {
		return err
	}
	m.drawn = items
	return nil
}

func (m *MapItem) disc() coverage.Disc[*Hotspot] {
	return coverage.Disc[*Hotspot]{Item: m.Hotspot, Place: m.Place, RadiusM: m.Hotspot.radius, Online: m.Status == beacon.Online}
}

// Tile returns what the map shows of a valid tile.
func (m *Map) Tile(t Tile) Items { return tileOf(m.tree.Snapshot(), t) }
