package fleet

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// packSize is how many hotspots share an allocation. It is freed when the last of its
// hotspots is gone, so it is small: some 16 KB.
const packSize = 64

// pack replaces the hotspots by copies, in which neighbours on the ground are neighbours
// in memory. What one response shows is then on a few pages instead of one page each,
// and the garbage collector has a hundredth of the objects to scan. The order of the
// entries stays: the directory sorts them by their ids, in which they were read.
func pack(hotspots []entry) {
	ordered := make([]celled, len(hotspots))
	for i, e := range hotspots {
		ordered[i] = celled{cell(e.Item.place), i}
	}
	slices.SortFunc(ordered, func(a, b celled) int { return cmp.Compare(a.cell, b.cell) })
	var workers sync.WaitGroup
	for share := range slices.Chunk(ordered, len(ordered)/runtime.GOMAXPROCS(0)+1) {
		workers.Go(func() {
			for group := range slices.Chunk(share, packSize) {
				packGroup(hotspots, group)
			}
		})
	}
	workers.Wait()
}

// celled is the cell of a hotspot, and which of all it is.
type celled struct {
	cell uint64
	at   int
}

// packGroup replaces each hotspot of a group by its copy in the shared allocation.
func packGroup(hotspots []entry, group []celled) {
	length := 0
	for _, c := range group {
		length += len(hotspots[c.at].Item.text)
	}
	var text strings.Builder
	text.Grow(length)
	for _, c := range group {
		text.WriteString(hotspots[c.at].Item.text)
	}
	rest := text.String()
	copies := make([]Hotspot, len(group))
	for i, c := range group {
		old := hotspots[c.at].Item
		copies[i] = *old
		copies[i].text, rest = rest[:len(old.text)], rest[len(old.text):]
		hotspots[c.at].Item = &copies[i]
	}
}

// cell numbers a place along a curve that keeps neighbours together: the interleaved
// bits of latitude and longitude (Morton order).
func cell(p geo.Point) uint64 {
	const steps = 1<<32 - 1
	lat := uint32((p.Lat + 90) / 180 * steps)
	lng := uint32((p.Lng + 180) / 360 * steps)
	return spread(lat)<<1 | spread(lng)
}

// spread inserts a zero between every two bits.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	x = (x | x<<1) & 0x5555555555555555
	return x
}
