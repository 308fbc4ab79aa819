package spatial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// towns makes n spots clustered like cities: so many people to a town, most of
// them near its middle. However large n is, the density within a town is the
// same: about 110 spots within a kilometre of its middle when each has 2,000.
func towns(n, each int) []*spot {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	const spread = 3000.0 / 111_195 // degrees of latitude
	spots := make([]*spot, n)
	var middle geo.Point
	for i := range spots {
		if i%each == 0 {
			middle = geo.Point{Lat: random.Float64()*120 - 60, Lng: random.Float64()*340 - 170}
		}
		spots[i] = &spot{id: fmt.Sprintf("hs_%026d", i), tags: 1, at: geo.Point{
			Lat: middle.Lat + spread*random.NormFloat64(),
			Lng: middle.Lng + spread*random.NormFloat64()/math.Cos(middle.Lat*math.Pi/180),
		}}
	}
	random.Shuffle(n, func(i, j int) { spots[i], spots[j] = spots[j], spots[i] })
	return spots
}

func filled(tb testing.TB, spots []*spot) *spatial.Index[*spot] {
	tb.Helper()
	ix := spatial.New[*spot]()
	if err := ix.Apply(spots, nil); err != nil {
		tb.Fatal(err)
	}
	return ix
}

func BenchmarkNearest(b *testing.B) {
	for _, tt := range []struct {
		name    string
		n, each int
	}{
		{"10k", 10_000, 2000},
		{"100k", 100_000, 2000},
		{"1M", 1_000_000, 2000},
		{"1M/dense", 1_000_000, 100_000},
	} {
		b.Run(tt.name, func(b *testing.B) {
			spots := towns(tt.n, tt.each)
			snapshot := filled(b, spots).Snapshot()
			centers := make([]geo.Point, 100_000)
			for i := range centers {
				centers[i] = spots[i*7919%len(spots)].at
				centers[i].Lat += 0.0003
			}
			q := spatial.Query{Radius: 1000, Limit: 20}
			out := make([]spatial.Hit[*spot], 0, 20)
			found, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 1) % len(centers)
				q.Center = centers[i]
				out = snapshot.Nearest(q, nil, out)
				found += len(out)
			}
			b.ReportMetric(float64(found)/float64(b.N), "hits/op")
		})
	}
}

// A filter that rejects nearly all of the 100,000 around: by its function, which
// must be asked about each, and by a tag, which need not.
func BenchmarkNearest_Rejecting(b *testing.B) {
	spots := towns(100_000, 100_000)
	for i := range 10 {
		spots[i*1000].tags = 2
	}
	snapshot := filled(b, spots).Snapshot()
	q := spatial.Query{Center: spots[0].at, Radius: 10_000, Limit: 20}
	rare := func(s *spot) bool { return s.tags == 2 }
	out := make([]spatial.Hit[*spot], 0, 20)
	b.Run("function", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out = snapshot.Nearest(q, rare, out)
		}
	})
	q.Tags = 2
	b.Run("tag", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out = snapshot.Nearest(q, nil, out)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	spots := towns(1_000_000, 2000)
	var bytes int64
	for b.Loop() {
		b.StopTimer()
		before := heapInUse()
		b.StartTimer()
		ix := filled(b, spots)
		b.StopTimer()
		bytes = heapInUse() - before
		runtime.KeepAlive(ix)
		b.StartTimer()
	}
	b.ReportMetric(float64(bytes)/float64(len(spots)), "B/item")
}

// Each change is published on its own.
func BenchmarkApply(b *testing.B) {
	spots := towns(1_000_000, 2000)
	ix := filled(b, spots)
	next := 0
	pick := func() *spot {
		next = (next + 7919) % len(spots)
		return spots[next]
	}
	b.Run("replace", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			same := *pick()
			apply(b, ix, []*spot{&same}, nil)
		}
	})
	b.Run("move", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			moved := *pick()
			moved.at.Lat += 0.001
			apply(b, ix, []*spot{&moved}, nil)
		}
	})
	b.Run("delete and put", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := pick()
			apply(b, ix, nil, []string{s.id})
			apply(b, ix, []*spot{s}, nil)
		}
	})
	b.Run("replace in batches of 1000", func(b *testing.B) {
		batch := make([]*spot, 0, 1000)
		for b.Loop() {
			same := *pick()
			if batch = append(batch, &same); len(batch) == cap(batch) {
				apply(b, ix, batch, nil)
				batch = batch[:0]
			}
		}
	})
}

func BenchmarkApply_NewTowns(b *testing.B) {
	spots := towns(1_000_000, 2000)
	ix := filled(b, spots[:500_000])
	i := 500_000
	for b.Loop() {
		apply(b, ix, spots[i:i+1], nil)
		if i++; i == len(spots) {
			b.StopTimer()
			ix, i = filled(b, spots[:500_000]), 500_000
			b.StartTimer()
		}
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
