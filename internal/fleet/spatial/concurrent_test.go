package spatial_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// Every batch moves all walkers from one city to the other and back, together.
// A reader that saw half a batch would find them in both.
func TestSnapshot_ConsistentWhileWriting(t *testing.T) {
	const walkers, batches = 40, 400
	cities := [2]geo.Point{{Lat: 40.7, Lng: -74}, {Lat: -17, Lng: 180}}
	ix := filled(t, towns(5000, 500))
	step := func(n int) []*spot {
		all := make([]*spot, walkers)
		for i := range all {
			at := cities[n%2]
			at.Lat += float64(i) * 1e-6
			all[i] = &spot{id: fmt.Sprintf("walker_%02d", i), at: at, tags: spatial.Tags(1 + n%2)}
		}
		return all
	}
	apply(t, ix, step(0), nil)

	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var out []spatial.Hit[*spot]
			for checked := false; ; checked = true {
				select {
				case <-done:
					if checked {
						return
					}
				default:
				}
				snapshot := ix.Snapshot()
				var found [2]int
				for i, city := range cities {
					out = snapshot.Nearest(spatial.Query{Center: city, Radius: 100, Limit: 100}, nil, out)
					found[i] = len(out)
				}
				if found != [2]int{walkers, 0} && found != [2]int{0, walkers} {
					t.Errorf("one snapshot has %v walkers in the two cities", found)
					return
				}
			}
		})
	}
	for n := range batches {
		apply(t, ix, step(n+1), nil)
	}
	close(done)
	readers.Wait()
}
