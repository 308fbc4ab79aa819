package coverage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

var newYork = geo.Point{Lat: 40.7, Lng: -74}

// usual is a radius as hotspots have it: home, business, public.
func usual(random *rand.Rand) float64 { return []float64{50, 75, 100}[random.IntN(3)] }

// city spreads n discs evenly over a square of that many metres.
func city(n int, middle geo.Point, meters float64) []disc {
	random := rand.New(rand.NewPCG(uint64(n), 8))
	discs := make([]disc, n)
	for i := range discs {
		place := away(middle, (random.Float64()-0.5)*meters, (random.Float64()-0.5)*meters)
		discs[i] = disc{name(fmt.Sprintf("hs_%026d", i)), place, usual(random), true}
	}
	return discs
}

// towns makes n discs clustered like cities, 2,000 to a town, whose density is
// the same however many there are.
func towns(n int) []disc {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	discs := make([]disc, n)
	var middle geo.Point
	for i := range discs {
		if i%2000 == 0 {
			middle = geo.Point{Lat: random.Float64()*120 - 60, Lng: random.Float64()*340 - 170}
		}
		place := away(middle, 3000*random.NormFloat64(), 3000*random.NormFloat64())
		discs[i] = disc{name(fmt.Sprintf("hs_%026d", i)), place, usual(random), i%10 != 0}
	}
	return discs
}

// spread makes n discs far apart from one another.
func spread(n int) []disc {
	random := rand.New(rand.NewPCG(uint64(n), 9))
	discs := make([]disc, n)
	for i := range discs {
		place := geo.Point{Lat: random.Float64()*120 - 60, Lng: random.Float64()*360 - 180}
		discs[i] = disc{name(fmt.Sprintf("hs_%026d", i)), place, usual(random), true}
	}
	return discs
}

func offline(discs []disc) []disc {
	for i := range discs {
		discs[i].Online = false
	}
	return discs
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// named is an item as a server has it: a pointer to what it shows.
type named struct {
	id      string
	pending bool
}

func (n *named) ID() string    { return n.id }
func (n *named) Pending() bool { return n.pending }

func pointers(discs []disc) []coverage.Disc[*named] {
	all := make([]coverage.Disc[*named], len(discs))
	for i, d := range discs {
		all[i] = coverage.Disc[*named]{Item: &named{id: string(d.Item)}, Place: d.Place, RadiusM: d.RadiusM, Online: d.Online}
	}
	return all
}

func BenchmarkBuild(b *testing.B) {
	for _, tt := range []struct {
		name  string
		discs func() []disc
	}{
		{"100k towns", func() []disc { return towns(100_000) }},
		{"1M towns", func() []disc { return towns(1_000_000) }},
		{"1M city", func() []disc { return city(1_000_000, newYork, 40_000) }},
		{"1M spread over the land", func() []disc { return spread(1_000_000) }},
		{"1M offline", func() []disc { return offline(towns(1_000_000)) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			discs := pointers(tt.discs())
			var bytes int64
			used := cpu(b)
			for b.Loop() {
				b.StopTimer()
				before := heapInUse()
				b.StartTimer()
				t := coverage.New[*named]()
				if err := t.Apply(discs, nil); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				bytes = heapInUse() - before
				runtime.KeepAlive(t)
				runtime.KeepAlive(discs)
				b.StartTimer()
			}
			used()
			b.ReportMetric(float64(bytes)/float64(len(discs)), "B/disc")
		})
	}
}

// The same box over a city with more and more discs in it, over a city that is
// that much larger, and with ten times the discs within the same border.
func BenchmarkArea(b *testing.B) {
	for _, tt := range []struct {
		name   string
		n      int
		meters float64
	}{
		{"10k in 40 km", 10_000, 40_000},
		{"100k in 40 km", 100_000, 40_000},
		{"1M in 40 km", 1_000_000, 40_000},
		{"1M in 126 km", 1_000_000, 126_000},
	} {
		b.Run(tt.name, func(b *testing.B) {
			snapshot := planted(b, city(tt.n, newYork, tt.meters)).Snapshot()
			box := boxAround(newYork, tt.meters*0.999, tt.meters*0.999)
			b.ReportAllocs()
			used := cpu(b)
			for b.Loop() {
				snapshot.Area(box)
			}
			used()
			b.ReportMetric(snapshot.Area(box)/(box.Area()/1e6), "covered")
		})
	}
	b.Run("100k in 40 km and 900k within", func(b *testing.B) {
		discs := city(100_000, newYork, 40_000)
		for i, d := range city(900_000, newYork, 38_000) {
			d.Item = name(fmt.Sprintf("in_%026d", i))
			discs = append(discs, d)
		}
		snapshot := planted(b, discs).Snapshot()
		box := boxAround(newYork, 40_000*0.999, 40_000*0.999)
		used := cpu(b)
		for b.Loop() {
			snapshot.Area(box)
		}
		used()
	})
	b.Run("140k in 47 km, 100k in the box", func(b *testing.B) {
		snapshot := planted(b, city(140_000, newYork, 47_000)).Snapshot()
		box := boxAround(newYork, 40_000, 40_000)
		used := cpu(b)
		for b.Loop() {
			snapshot.Area(box)
		}
		used()
	})
	b.Run("1M in towns, 100k in the box", func(b *testing.B) {
		snapshot := planted(b, towns(1_000_000)).Snapshot()
		box := geo.Box{South: -20, North: 20, West: -60, East: 42}
		b.ReportAllocs()
		used := cpu(b)
		for b.Loop() {
			snapshot.Area(box)
		}
		used()
	})
}

// One disc goes offline and online again, each time published on its own.
func BenchmarkApply(b *testing.B) {
	for _, tt := range []struct {
		name   string
		n      int
		meters float64
	}{
		{"depth 0.5", 5_000, 15_000},
		{"depth 2", 20_000, 15_000},
		{"depth 5", 50_000, 15_000},
		{"depth 10", 100_000, 15_000},
		{"depth 20", 200_000, 15_000},
		{"depth 60", 600_000, 15_000},
		{"300 in a tower", 300, 40},
	} {
		b.Run(tt.name, func(b *testing.B) {
			discs := city(tt.n, newYork, tt.meters)
			t := planted(b, discs)
			i := 0
			b.ReportAllocs()
			used := cpu(b)
			for b.Loop() {
				d := &discs[i/2*7919%len(discs)]
				d.Online = i%2 == 1
				apply(b, t, []disc{*d}, nil)
				i++
			}
			used()
			covered := 0.0
			for _, d := range discs {
				covered += math.Pi * d.RadiusM * d.RadiusM
			}
			b.ReportMetric(covered/(tt.meters*tt.meters), "depth")
		})
	}
}

// Of a million, many go offline at once and come back, as in an outage.
func BenchmarkApplyMany(b *testing.B) {
	discs := towns(1_000_000)
	t := planted(b, discs)
	for _, n := range []int{1, 1000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			i, used := 0, cpu(b)
			for b.Loop() {
				at := i / 2 * 7919 * n % (len(discs) - n)
				batch := discs[at : at+n]
				for j := range batch {
					batch[j].Online = i%2 == 1
				}
				apply(b, t, batch, nil)
				i++
			}
			used()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/disc")
		})
	}
}

// What a map asks for, in a box with about 100,000 discs of a million.
func BenchmarkMap(b *testing.B) {
	snapshot := planted(b, towns(1_000_000)).Snapshot()
	box := geo.Box{South: -20, North: 20, West: -60, East: 42}
	add := []disc{{"new", geo.Point{Lat: 10, Lng: 10}, 100, true}}
	b.Run("Count", func(b *testing.B) {
		for b.Loop() {
			snapshot.Count(box)
		}
	})
	for _, zoom := range []int{2, 6, 14, coverage.MaxZoom} {
		b.Run(fmt.Sprint("Clusters at zoom ", zoom), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(snapshot.Clusters(box, zoom))
			}
			b.ReportMetric(float64(n), "clusters")
		})
	}
	b.Run("AreaWith", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := snapshot.AreaWith(box, add); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// cpu reports the processor time of an operation, of the collector too: on a
// busy machine the clock says little.
func cpu(b *testing.B) func() {
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := spent()
	return func() { b.ReportMetric(float64((spent()-start).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}
