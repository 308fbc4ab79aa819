package ground_test

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// A day of 100,000 hotspots. The processor's time is reported, because on a busy
// machine the clock says little.
func BenchmarkDivide(b *testing.B) {
	const n = 100_000
	for _, where := range []struct {
		name   string
		places []ground.Place
	}{
		{"towns", towns(n)},
		{"625 a km²", square(n, 12_650)},
		{"10,000 a km²", square(n, 3_162)},
		{"2,000 within 10 m, 50 times", crowds(n)},
		{"all within 300 m", square(n, 300)},
	} {
		for _, when := range []struct {
			name   string
			served func(r *rand.Rand) *beacon.Minutes
		}{
			{"whole days", wholeDays},
			{"flapping", flapping},
			{"one minute", oneMinute},
		} {
			b.Run(where.name+", "+when.name, func(b *testing.B) { benchmarkDivide(b, dayOf(where.places, when.served)) })
		}
	}
}

// A million hotspots in a city of 40 km × 40 km: most on the air all day, or all
// flapping.
func BenchmarkDivide_Million(b *testing.B) {
	places := square(1_000_000, 40_000)
	b.Run("most", func(b *testing.B) { benchmarkDivide(b, dayOf(places, mostly)) })
	b.Run("flapping", func(b *testing.B) { benchmarkDivide(b, dayOf(places, flapping)) })
}

func benchmarkDivide(b *testing.B, day []ground.Hotspot) {
	b.Helper()
	b.ReportAllocs()
	total, before := int64(0), processor(b)
	for b.Loop() {
		for _, s := range divide(b, day, 50) {
			total += s.Weight()
		}
	}
	all := float64(b.N * len(day))
	b.ReportMetric((processor(b)-before)/all/1000, "cpu-µs/hotspot")
	b.ReportMetric(float64(total)/all/1e6, "minutes/hotspot")
}

func processor(b *testing.B) (ns float64) {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func dayOf(places []ground.Place, served func(r *rand.Rand) *beacon.Minutes) []ground.Hotspot {
	r := rand.New(rand.NewPCG(1, uint64(len(places))))
	day := make([]ground.Hotspot, len(places))
	for i := range day {
		day[i] = ground.Hotspot{Place: places[i], Served: served(r)}
	}
	return day
}

var allDay = minutes(0, beacon.MinutesADay)

func wholeDays(*rand.Rand) *beacon.Minutes { return allDay }

// mostly is a day as most hotspots have it: one in five is closed at night or was
// off.
func mostly(r *rand.Rand) *beacon.Minutes {
	if r.IntN(5) > 0 {
		return allDay
	}
	from := r.IntN(beacon.MinutesADay)
	return minutes(from, from+r.IntN(beacon.MinutesADay-from)+1)
}

// flapping is a day of random runs of a few minutes each.
func flapping(r *rand.Rand) *beacon.Minutes {
	var m beacon.Minutes
	for i := range m {
		m[i] = allDay[i] & (r.Uint64() | r.Uint64()&r.Uint64())
	}
	return &m
}

func oneMinute(r *rand.Rand) *beacon.Minutes {
	i := r.IntN(beacon.MinutesADay)
	return minutes(i, i+1)
}

// metersAway is a place so many metres north and east of another, roughly.
func metersAway(from ground.Place, north, east float64) ground.Place {
	const perMeter = 1e7 / 111_195.08
	lat := float64(from.Lat) + north*perMeter
	lng := float64(from.Lng) + east*perMeter/max(math.Cos(lat/1e7*math.Pi/180), 1e-3)
	switch {
	case lng > 180e7:
		lng -= 360e7
	case lng < -180e7:
		lng += 360e7
	}
	return ground.Place{Lat: int32(lat), Lng: int32(lng)}
}

var newYork = ground.Place{Lat: 407_000_000, Lng: -740_000_000}

// square spreads n hotspots evenly over a square of New York of that many metres.
func square(n int, meters float64) []ground.Place {
	r := rand.New(rand.NewPCG(uint64(n), 8))
	places := make([]ground.Place, n)
	for i := range places {
		places[i] = metersAway(newYork, (r.Float64()-0.5)*meters, (r.Float64()-0.5)*meters)
	}
	return places
}

// towns has 2,000 hotspots in each town, as a million of a network may stand.
func towns(n int) []ground.Place {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	places := make([]ground.Place, n)
	var middle ground.Place
	for i := range places {
		if i%2000 == 0 {
			middle = ground.Place{Lat: r.Int32N(1_200_000_000) - 600_000_000, Lng: r.Int32N(2_000_000_000) - 1_000_000_000}
		}
		places[i] = metersAway(middle, 3000*r.NormFloat64(), 3000*r.NormFloat64())
	}
	r.Shuffle(n, func(i, j int) { places[i], places[j] = places[j], places[i] })
	return places
}

// crowds has 2,000 hotspots within 10 m at each place.
func crowds(n int) []ground.Place {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	places := make([]ground.Place, n)
	for i := range places {
		middle := metersAway(newYork, float64(i%(n/2000))*1000, 0)
		places[i] = metersAway(middle, 20*r.Float64()-10, 20*r.Float64()-10)
	}
	return places
}
