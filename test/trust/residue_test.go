package trust_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// TestResidue_OldestForAnHour: one that comes first, and serves for an hour a day, takes that
// hour and leaves the rest to a newcomer at the same door.
func TestResidue_OldestForAnHour(t *testing.T) {
	door := at(0, span(0, 1440))
	hour, all := span(600, 660), span(0, 1440)
	shares, err := ground.Divide(t.Context(), []ground.Hotspot{{Place: door.place, Served: &hour}, {Place: door.place, Served: &all}}, int(radius))
	if err != nil || shares[0].Weight() != 60*1_000_000 || shares[1].Weight() != 1380*1_000_000 {
		t.Errorf("the oldest has %d, the newcomer %d millionths of minutes, %v", shares[0].Weight(), shares[1].Weight(), err)
	}
}
