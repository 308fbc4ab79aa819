package coverage_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// Every batch moves all walkers from one town to the other and back, together. A
// reader that saw half a batch, or a cell not yet measured, would tell.
func TestSnapshot_ConsistentWhileWriting(t *testing.T) {
	const walkers, batches = 30, 200
	towns := [2]geo.Point{newYork, {Lat: -17, Lng: 180}}
	boxes := [2]geo.Box{boxAround(newYork, 4000, 4000), {North: -16.9, South: -17.1, West: 179.9, East: -179.9}}
	at := func(n int) []disc {
		all := make([]disc, walkers)
		for i := range all {
			all[i] = disc{name(fmt.Sprint("w", i)), away(towns[n%2], float64(i)*20, 0), 75, true}
		}
		return all
	}
	tr := planted(t, at(0))
	want := tr.Snapshot().Area(boxes[0])
	apply(t, tr, at(1), at(0))
	wantOther := tr.Snapshot().Area(boxes[1])
	apply(t, tr, at(0), at(1))

	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for checked := false; ; checked = true {
				select {
				case <-done:
					if checked {
						return
					}
				default:
				}
				if text := look(tr.Snapshot(), boxes, [2]float64{want, wantOther}); text != "" {
					t.Error(text)
					return
				}
			}
		})
	}
	for n := range batches {
		apply(t, tr, at(n+1), at(n))
	}
	close(done)
	readers.Wait()
}

// look tells what is wrong with a snapshot that has all walkers in one town.
func look(s *coverage.Snapshot[name], boxes [2]geo.Box, want [2]float64) string {
	var counts [2]int
	var areas [2]float64
	for i, box := range boxes {
		counts[i], _ = s.Count(box)
		areas[i] = s.Area(box)
	}
	switch {
	case counts[0] == 30 && counts[1] == 0 && areas[0] == want[0] && areas[1] == 0:
	case counts[1] == 30 && counts[0] == 0 && areas[1] == want[1] && areas[0] == 0:
	default:
		return fmt.Sprintf("one snapshot has %v walkers in the two towns, and %v km²; want %v", counts, areas, want)
	}
	return ""
}
