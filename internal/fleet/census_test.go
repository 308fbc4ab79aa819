package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

// A census counts every hotspot once, and names those that are silent for longest in their
// order, whatever the order in which they are found.
func TestCensus(t *testing.T) {
	f := newFleet()
	minutesAgo := map[string]int{"online": 4, "c": 6, "b": 60, "a": 7, "never": -1, "e": 6, "d": 600}
	for name, ago := range minutesAgo {
		h := serving()
		h.Name = name
		mustApply(t, f, h)
		if ago >= 0 {
			f.Replay([]heartbeat.Beat{beatOf(h, noon.Add(-time.Duration(ago)*time.Minute), 1)})
		}
	}
	waiting, rejected, unlinked, old := serving(), serving(), serving(), serving()
	waiting.Location.VerifiedAt, rejected.Location.VerifiedAt = time.Time{}, time.Time{}
	rejected.Location.UnverifiedReason = "no radio"
	unlinked.Device.LinkedAt = time.Time{}
	old.Name, old.ID = "old", beacon.HotspotID(id.New(beacon.HotspotPrefix, noon.Add(-time.Hour)))
	mustApply(t, f, waiting, rejected, unlinked, old)

	since := beacon.HotspotID(id.Format(beacon.HotspotPrefix, noon, 0, 0))
	for most, want := range map[int]string{0: "", 3: "old never d", 5: "old never d b a", 99: "old never d b a c e"} {
		c := f.Census(noon, since, most)
		var names []string
		for _, s := range c.Silent {
			names = append(names, strings.Fields(s.Encoded())[1])
		}
		got := strings.ReplaceAll(strings.Join(names, " "), "e c", "c e") // heard at one time: by id, which is random
		if got != want {
			t.Errorf("silent for longest are %q; want %q", got, want)
		}
		c.Silent = nil
		if is, want := fmt.Sprint(c), fmt.Sprint(fleet.Census{Online: 1, Offline: 7, Pending: 3, ToVisit: 1, Rejected: 1, New: 10}); is != want {
			t.Errorf("counted %s; want %s", is, want)
		}
	}
}
