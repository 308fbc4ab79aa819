package trust_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// TestResidue_Outage: a hotspot that is off all day, with the best recent rate, is paid for
// the time in which we are down, and for nothing else.
func TestResidue_Outage(t *testing.T) {
	p := policy.BuiltIn()[1]
	for _, hours := range []int{0, 1, 24} {
		down := hours * 60
		f := beacon.Facts{Expected: 1440 - down, Excused: down, Ground: beacon.Ground{Recent: 1_000_000, Proof: 1_000_000}}
		if got, want := int64(p.Reward(f).Availability), int64(down)*1_000_000/1440; got != want {
			t.Errorf("down for %d h: it is paid %d millionths; want %d", hours, got, want)
		}
	}
}

// TestResidue_OldestForAnHour: one that has served on the most days, for an hour each, takes
// that hour and leaves the rest to a newcomer at the same door.
func TestResidue_OldestForAnHour(t *testing.T) {
	door := at(0, span(0, 1440))
	hour, all := span(600, 660), span(0, 1440)
	shares, err := ground.Divide(t.Context(), []ground.Hotspot{{Place: door.place, Served: &hour}, {Place: door.place, Served: &all}}, int(radius))
	if err != nil || shares[0].Weight() != 60*1_000_000 || shares[1].Weight() != 1380*1_000_000 {
		t.Errorf("the oldest has %d, the newcomer %d millionths of minutes, %v", shares[0].Weight(), shares[1].Weight(), err)
	}
}
