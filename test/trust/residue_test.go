package trust_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
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

// TestResidue_AnnouncedOutage: ten at one place are all on in an hour, and each alone in a part of
// the others. If we are down in just that hour, each is paid for it by its mean share.
func TestResidue_AnnouncedOutage(t *testing.T) {
	const hour, part, ten = 60, (1440 - 60) / 9, 10
	door := at(0, span(0, 1440))
	served := [ten]beacon.Minutes{span(0, hour)}
	hotspots := []ground.Hotspot{{Place: door.place, Served: &served[0]}}
	for i := 1; i < ten; i++ {
		served[i] = span(hour+(i-1)*part, hour+i*part)
		for word, minutes := range span(0, hour) {
			served[i][word] |= minutes
		}
		hotspots = append(hotspots, ground.Hotspot{Place: door.place, Served: &served[i]})
	}
	shares, err := ground.Divide(t.Context(), hotspots, int(radius))
	if err != nil {
		t.Fatal(err)
	}
	rules, paid := policy.Newest(), 0.0
	for i, share := range shares {
		minutes := int64(hour)
		if i > 0 {
			minutes += part
		}
		f := beacon.Facts{Excused: hour, Outside: 1440 - hour}
		f.Ground = beacon.Ground{Counts: beacon.InMinutes, Due: hour * 1e6, Recent: share.Weight() / minutes, Proof: 1e6}
		paid += float64(rules.Reward(f).Availability) / 1e6
	}
	if times := paid / (hour / 1440.0); times < 7 || times > 7.5 || paid > 0.312 {
		t.Errorf("they earn %.4f credits, %.2f times what the place does", paid, times)
	}
}
