package bench

import (
	"math"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Nothing is measured that does not do the job. All know the same hotspots, but
// measure the Earth in their own way: Beacon as a sphere; Redis as a slightly
// larger one on which it rounds places to cells of 0.3 by 0.6 m; PostGIS as the
// spheroid, which is up to 0.7 % longer one way than another. So distances may
// differ by that, and hotspots that are as good as equally far may change places.
// Of 20 that are spread evenly, 1.4 % of the area at the border hold 0.3: more
// than one in fifty must not be another.
const (
	modelShare  = 0.0075
	modelMeters = 0.8
	leastCommon = 0.98
)

// agree compares the answers of a peer with ours.
func agree(b *testing.B, ours, peer *contestant, places []geo.Point) {
	b.Helper()
	common, all := 0, 0
	for _, at := range places[:min(len(places), 500)] {
		want, err := ours.ask(at)
		if err != nil || len(want) != nearbyLimit {
			b.Fatalf("Beacon found %d, %v", len(want), err)
		}
		got, err := peer.ask(at)
		if err != nil || len(got) == 0 {
			b.Fatalf("%s found %d, %v", peer.name, len(got), err)
		}
		known := map[string]neighbour{}
		for _, n := range want {
			known[n.id] = n
		}
		border := want[len(want)-1].meters
		for i, n := range got {
			if i > 0 && n.meters < got[i-1].meters {
				b.Fatalf("%s: %s comes after one that is farther", peer.name, n.id)
			}
			// The one in this place is as far as ours in this place.
			if slack := modelShare*n.meters + modelMeters; math.Abs(n.meters-want[i].meters) > slack {
				b.Fatalf("%s: number %d is %.2f m away, Beacon's is %.2f m", peer.name, i, n.meters, want[i].meters)
			}
			w, ok := known[n.id]
			if ok {
				common++
			} else if n.meters < border*(1-modelShare)-modelMeters {
				b.Fatalf("%s found %s at %.2f m; the last of Beacon's is at %.2f m", peer.name, n.id, n.meters, border)
			}
			if ok && n.item != w.item {
				b.Fatalf("%s says of one hotspot\n%s\nand Beacon\n%s", peer.name, n.item, w.item)
			}
		}
		all += len(want)
	}
	share := float64(common) / float64(all)
	b.Logf("%s finds %.2f %% of what Beacon finds, of %d", peer.name, 100*share, all)
	if share < leastCommon {
		b.Fatalf("%s has %.1f %% in common with Beacon; want %.0f %%", peer.name, 100*share, 100*leastCommon)
	}
}
