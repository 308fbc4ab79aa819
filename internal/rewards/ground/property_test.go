package ground_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// somewhere favours the places where formulas break.
func somewhere(r *rand.Rand) ground.Place {
	p := ground.Place{Lat: r.Int32N(1_600_000_000) - 800_000_000, Lng: int32(r.Int64N(3_600_000_001) - 1_800_000_000)}
	pole := []int32{-900_000_000, 900_000_000}[r.IntN(2)]
	switch r.IntN(8) {
	case 0:
		p.Lat = pole
	case 1: // within a kilometre of a pole
		p.Lat = pole - pole/900_000_000*r.Int32N(90_000)
	case 2: // within 400 m
		p.Lat = pole - pole/900_000_000*r.Int32N(36_000)
	case 3: // about ±180°
		p.Lng = []int32{-1_800_000_000, 1_800_000_000}[r.IntN(2)]
	case 4:
		p.Lat = r.Int32N(2000) - 1000
	}
	return p
}

// nearby is a place up to so many metres from another.
func nearby(r *rand.Rand, p ground.Place, meters float64) ground.Place {
	at := vectorOf(p)
	scale := meters / oracleEarth
	for {
		v := at
		for i := range v {
			v[i] += (2*r.Float64() - 1) * scale
		}
		if q := v.place(); vectorOf(q).meters(at) <= meters {
			return q
		}
	}
}

func anyMinutes(r *rand.Rand) *beacon.Minutes {
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return flapping(r)
	case 2:
		return oneMinute(r)
	case 3:
		return mostly(r)
	default:
		return allDay
	}
}

// scene is a day of a few hotspots that are close together.
func scene(r *rand.Rand) (day []ground.Hotspot, radiusM int) {
	middle, meters := somewhere(r), []float64{3, 30, 100, 200}[r.IntN(4)]
	for range 1 + r.IntN(12) {
		day = append(day, ground.Hotspot{Place: nearby(r, middle, meters), Served: anyMinutes(r)})
	}
	return day, []int{50, 50, ground.MinRadiusM, ground.MaxRadiusM, 33}[r.IntN(5)]
}

func eachScene(t *testing.T, scenes int, fn func(r *rand.Rand, day []ground.Hotspot, radiusM int)) {
	t.Helper()
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	for range scenes {
		day, radiusM := scene(r)
		fn(r, day, radiusM)
		if t.Failed() {
			t.Fatalf("radius %d m, %+v", radiusM, day)
		}
	}
}

func TestDivide_AsTheOracle(t *testing.T) {
	level.Repeats(t)
	shared := 0
	eachScene(t, level.Rounds(60, 150, 3000), func(_ *rand.Rand, day []ground.Hotspot, radiusM int) {
		shares := divide(t, day, radiusM)
		want, union := oracle(day, radiusM)
		owned := 0
		for i, s := range shares {
			if s != want[i] {
				t.Errorf("hotspot %d got %+v; want %+v", i, s, want[i])
			}
			if n := served(day[i]); s.Weight() > 1_000_000*int64(n) || int(s.Minutes) > n {
				t.Errorf("hotspot %d served %d minutes and got %+v", i, n, s)
			}
			owned += int(s.Owned)
			shared += int(s.Minutes)
		}
		if owned != union {
			t.Errorf("%d square-minutes are owned; want those that were served, %d", owned, union)
		}
	})
	if shared == 0 {
		t.Error("no scene had hotspots that share ground")
	}
}

func served(h ground.Hotspot) (n int) {
	for m := range beacon.MinutesADay {
		if servedIn(h, m) {
			n++
		}
	}
	return n
}

// The share of a hotspot depends on the older ones alone, in any order, and not on
// what is farther off than two radii.
func TestDivide_OlderAlone(t *testing.T) {
	level.Repeats(t)
	eachScene(t, level.Rounds(300, 1000, 30_000), func(r *rand.Rand, day []ground.Hotspot, radiusM int) {
		shares := divide(t, day, radiusM)
		for i, h := range day {
			var older []ground.Hotspot
			for _, other := range day[:i] {
				if vectorOf(other.Place).meters(vectorOf(h.Place)) <= 2*float64(radiusM)+0.001 {
					older = append(older, other)
				}
			}
			r.Shuffle(len(older), func(i, j int) { older[i], older[j] = older[j], older[i] })
			alone := divide(t, append(older, h), radiusM)
			if got := alone[len(older)]; got != shares[i] {
				t.Errorf("alone, hotspot %d gets %+v; among all %+v", i, got, shares[i])
			}
		}
	})
}

// Hotspots of different scenes, put in any order that keeps the order within each,
// get what they get in their own scene.
func TestDivide_FarApart(t *testing.T) {
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	for range level.Rounds(3, 30, 300) {
		var all []ground.Hotspot
		var want []ground.Share
		for len(all) < 200 {
			day, _ := scene(r)
			all, want = append(all, day...), append(want, divide(t, day, 50)...)
		}
		// Scenes around the same pole may meet.
		keep := 0
		for i, h := range all {
			if max(h.Place.Lat, -h.Place.Lat) < 890_000_000 {
				all[keep], want[keep] = h, want[i]
				keep++
			}
		}
		all, want = all[:keep], want[:keep]
		// Deal them out: hotspot i comes at a random time, later than those before it
		// in its scene, which are close to it.
		times := make([]float64, len(all))
		for i := range all {
			times[i] = r.Float64()
			if i > 0 && vectorOf(all[i-1].Place).meters(vectorOf(all[i].Place)) < 1000 {
				times[i] = times[i-1] + r.Float64()
			}
		}
		order := make([]int, len(all))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			if times[a] < times[b] {
				return -1
			}
			return 1
		})
		dealt := make([]ground.Hotspot, len(all))
		for i, from := range order {
			dealt[i] = all[from]
		}
		for i, s := range divide(t, dealt, 50) {
			if s != want[order[i]] {
				t.Fatalf("hotspot at %v got %+v; in its scene %+v", dealt[i].Place, s, want[order[i]])
			}
		}
	}
}

// Clones within d metres of a place earn together at most (1 + d/R)² of one, for
// squares are counted once and all lie within R + d. Whole squares make the border of
// a circle rough: the area in squares is up to some percent off.
func TestDivide_Clones(t *testing.T) {
	const radiusM, rough = 50, 0.05
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	for range level.Rounds(30, 150, 3000) {
		middle, d := somewhere(r), 1+r.IntN(ground.MaxRadiusM-radiusM-1)
		day := make([]ground.Hotspot, 1+r.IntN(60))
		for i := range day {
			day[i] = ground.Hotspot{Place: nearby(r, middle, float64(d)-0.1), Served: anyMinutes(r)}
		}
		owned, weight := 0, int64(0)
		for _, s := range divide(t, day, radiusM) {
			owned += int(s.Owned)
			weight += s.Weight()
		}
		around := divide(t, []ground.Hotspot{{Place: middle, Served: allDay}}, radiusM+d)[0]
		if owned > int(around.Owned) {
			t.Errorf("%d clones within %d m of %v own %d square-minutes; around are %d", len(day), d, middle, owned, around.Owned)
		}
		one := float64(1_000_000 * beacon.MinutesADay)
		if most := math.Pow(1+float64(d)/radiusM, 2) * (1 + rough) * one; float64(weight) > most {
			t.Errorf("%d clones within %d m of %v earn %d; want at most %.0f", len(day), d, middle, weight, most)
		}
	}
}

// A hotspot just within two radii counts, also if it stands in another tile, and one
// just beyond does not.
func TestDivide_OlderAtTwoRadii(t *testing.T) {
	level.Repeats(t)
	const radiusM = ground.MaxRadiusM
	r := rand.New(rand.NewPCG(level.Seed(t), 1))
	for _, tt := range []struct {
		meters float64
		want   int32
	}{{2*radiusM - 0.05, 2}, {2*radiusM + 0.05, 1}} {
		for range level.Rounds(2000, 8000, 100_000) {
			place := somewhere(r)
			other := towards(place, tt.meters, r.Float64()*2*math.Pi)
			if r.IntN(2) == 0 { // tiles are narrow in this direction
				other = towards(place, tt.meters, math.Pi/2)
			}
			shares := divide(t, []ground.Hotspot{{place, allDay}, {other, allDay}, {place, allDay}}, radiusM)
			if got := shares[2].Older; got != tt.want {
				t.Fatalf("at %v and %v, %v m away: %d older; want %d", place, other, tt.meters, got, tt.want)
			}
		}
	}
}

// towards is the place so many metres from another in a direction: 0 is north.
func towards(p ground.Place, meters, direction float64) ground.Place {
	at := vectorOf(p)
	lat, lng := float64(p.Lat)/1e7*math.Pi/180, float64(p.Lng)/1e7*math.Pi/180
	north := vector{-math.Sin(lat) * math.Cos(lng), -math.Sin(lat) * math.Sin(lng), math.Cos(lat)}
	east := vector{-math.Sin(lng), math.Cos(lng), 0}
	sin, cos := math.Sincos(meters / oracleEarth)
	var v vector
	for i := range v {
		v[i] = cos*at[i] + sin*(math.Cos(direction)*north[i]+math.Sin(direction)*east[i])
	}
	return v.place()
}
