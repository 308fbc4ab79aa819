package telemetry_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// More hotspots than a reader draws by himself are on maps after the next
// refresh.
func TestRefresh_DrawsMaps(t *testing.T) {
	c := &testClock{at: morning}
	n := start(t, onSQLite(t), c, nil)
	defer n.stop()
	if err := n.fleet.BuildMap(c.now()); err != nil {
		t.Fatal(err)
	}
	var crowd []beacon.Hotspot
	for range 1500 {
		crowd = append(crowd, beacon.Hotspot{ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, c.now())), Version: 1})
	}
	if err := n.fleet.Apply(crowd...); err != nil {
		t.Fatal(err)
	}
	box := geo.Box{North: 1, South: -1, East: 1, West: -1}
	if got := n.fleet.Survey(box, fleet.AnyZoom, c.now()).Count; got != 0 {
		t.Fatalf("a reader drew %d: the test needs more", got)
	}
	n.must(t, n.Refresh)
	if got := n.fleet.Survey(box, fleet.AnyZoom, c.now()).Count; got != len(crowd) {
		t.Errorf("%d are on maps; want %d", got, len(crowd))
	}
}
