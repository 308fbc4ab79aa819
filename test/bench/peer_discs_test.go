package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

type discName string

func (n discName) ID() string    { return string(n) }
func (n discName) Pending() bool { return false }

type disc = coverage.Disc[discName]

var middle = geo.Point{Lat: 40.7, Lng: -74}

// ground is a part of the Earth with discs on it, and a box to ask about.
type ground struct {
	name  string
	discs []disc
	box   geo.Box
	tree  *coverage.Tree[discName]
}

// away is a place that many metres away, as on a map.
func away(p geo.Point, north, east float64) geo.Point {
	const perDegree = 111_195.08
	return geo.Point{Lat: p.Lat + north/perDegree, Lng: p.Lng + east/perDegree/math.Cos(p.Lat*math.Pi/180)}
}

// boxOf is a box of about that many metres around the middle.
func boxOf(meters float64) geo.Box {
	low, high := away(middle, -meters/2, -meters/2), away(middle, meters/2, meters/2)
	return geo.Box{South: low.Lat, West: low.Lng, North: high.Lat, East: high.Lng}
}

// somewhere is a place in a square of that many metres.
func somewhere(random *rand.Rand, meters float64) geo.Point {
	return away(middle, (random.Float64()-0.5)*meters, (random.Float64()-0.5)*meters)
}

func newDisc(random *rand.Rand, prefix string, i int, at geo.Point) disc {
	return disc{
		Item: discName(fmt.Sprintf("%s_%026d", prefix, i)), Place: at,
		RadiusM: []float64{50, 75, 100}[random.IntN(3)], Online: true,
	}
}

// evenCity spreads n discs evenly over a square of that many metres.
func evenCity(prefix string, n int, meters float64) []disc {
	random := rand.New(rand.NewPCG(uint64(n), 8))
	discs := make([]disc, n)
	for i := range discs {
		discs[i] = newDisc(random, prefix, i, somewhere(random, meters))
	}
	return discs
}

// towns makes n discs that stand close in towns of 2,000, which lie anywhere in
// a square of that many metres. Every tenth disc is not online.
func towns(n int, meters float64) []disc {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	discs := make([]disc, n)
	var town geo.Point
	for i := range discs {
		if i%2000 == 0 {
			town = somewhere(random, meters)
		}
		discs[i] = newDisc(random, "hs", i, away(town, 3000*random.NormFloat64(), 3000*random.NormFloat64()))
		discs[i].Online = i%10 != 0
	}
	return discs
}

func (g *ground) plant(b *testing.B) *ground {
	b.Helper()
	g.tree = coverage.New[discName]()
	if err := g.tree.Apply(g.discs, nil); err != nil {
		b.Fatal(err)
	}
	return g
}

// held is how many online discs have their middle in the box.
func (g *ground) held() (n int) {
	for _, d := range g.discs {
		if d.Online && g.box.Contains(d.Place) {
			n++
		}
	}
	return n
}

func (g *ground) area() float64 { return g.tree.Snapshot().Area(g.box) }

// spell does something again and again, until that much of this process's CPU
// time is gone, and gives the seconds for once.
func spell(b *testing.B, atLeast float64, once func(i int)) float64 {
	b.Helper()
	self := process{pid: os.Getpid()}
	began := self.cpu(b)
	for i, batch := 0, 1; ; batch *= 2 {
		for range batch {
			once(i)
			i++
		}
		if used := self.cpu(b) - began; used >= atLeast {
			return used / float64(i)
		}
	}
}
