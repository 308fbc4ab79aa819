package telemetry_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

// BenchmarkFacts asks for the open day of 10,000 hotspots that beat for hours.
func BenchmarkFacts(b *testing.B) {
	c := &clock{at: morning}
	n := start(b, onSQLite(b), c, nil)
	ids := n.register(b, 10_000, morning)
	for minute := range 300 {
		for _, hotspot := range ids {
			n.fleet.Replay([]heartbeat.Beat{{
				Hotspot: rawID(b, hotspot), At: c.now().UnixMicro(),
				Heartbeat: beacon.Heartbeat{Boot: 7, Seq: uint64(minute), Bytes: uint64(minute) * 16_777_259, Clients: 3, Signal: beacon.GoodSignal},
			}})
		}
		c.pass(time.Minute)
	}
	n.must(b, n.Fold)
	b.ReportAllocs()
	for b.Loop() {
		facts, err := n.Facts(b.Context(), beacon.DayOf(morning), ids)
		if err != nil || len(facts) != len(ids) || facts[ids[7]].Served != 301 {
			b.Fatal(len(facts), facts[ids[7]], err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/hotspot")
}

func rawID(t testing.TB, hotspot beacon.HotspotID) id.Raw {
	t.Helper()
	raw, ok := id.Parse(beacon.HotspotPrefix, string(hotspot))
	if !ok {
		t.Fatalf("%s is no id", hotspot)
	}
	return raw
}
