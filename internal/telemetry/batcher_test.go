package telemetry

import (
	"runtime"
	"testing"
	"weak"

	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// The memory of a large batch serves the small ones after it, and does not keep what it
// had: a hotspot that is deleted is no longer in memory.
func TestBatcher_ForgetsHotspots(t *testing.T) {
	g := newBatcher(appendTimeout)
	fill := func(beats int) weak.Pointer[fleet.Hotspot] {
		hotspot := &fleet.Hotspot{}
		for range beats {
			if _, err := g.add(hotspot, heartbeat.Beat{}); err != nil {
				t.Fatal(err)
			}
		}
		<-g.wake
		return weak.Make(hotspot)
	}
	large := fill(100)
	b := g.next(&batch{})
	for range 3 {
		b.expiry.Stop()
		fill(1)
		b = g.next(b)
	}
	runtime.GC()
	if large.Value() != nil {
		t.Error("the hotspot of a batch that is over is still in memory")
	}
	runtime.KeepAlive(g)
	runtime.KeepAlive(b)
}
