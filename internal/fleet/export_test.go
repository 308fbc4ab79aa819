package fleet

import "github.com/beacon-wifi/beacon/internal/beacon"

// Revive is what a record or a heartbeat does to a hotspot that had no device. It
// reports whether the fleet knows the hotspot.
func (f *Fleet) Revive(id beacon.HotspotID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.revive(id) != nil
}

// Openings returns how many operating hours the fleet keeps in memory.
func (f *Fleet) Openings() int {
	f.openings.mu.Lock()
	defer f.openings.mu.Unlock()
	return len(f.openings.byKey)
}
