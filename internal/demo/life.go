package demo

import (
	"math/rand/v2"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// life is when things happen to a hotspot. What lies in the future never happens.
type life struct {
	created, verified, linked time.Time
	dark, deleted             time.Time // zero: never
	late                      bool      // it joined after the launch
	generation                int       // of the device at its place
	move                      *move     // how it came to its place; nil: it was always there
}

// plan decides what happens to a hotspot. Most exist from the first day, the others
// join one by one, a few are still pending, and a few are out of order for good.
func (n *Network) plan(random *rand.Rand, p place) (l life) {
	if n.Lively && p.odd != usual {
		return n.oddLife(random, p)
	}
	switch roll := random.Float64(); {
	case roll < 0.70:
		l = n.atLaunch(random)
	case roll < 0.985 || p.provider == featured:
		l = n.later(random, n.launch+1+beacon.Day(random.IntN(max(n.Days-2, 1))))
	default:
		l = n.waiting(random)
	}
	if broken(p, macOf(n.Seed, p.number, 0)) {
		l.dark = n.Now.Add(-time.Duration(random.Int64N(int64(25 * 24 * time.Hour))))
	}
	return l
}

// atLaunch is registered and verified in the two weeks before the network's first
// day, and linked on it.
func (n *Network) atLaunch(random *rand.Rand) (l life) {
	l.created = n.atWork(random, n.launch-14+beacon.Day(random.IntN(10)))
	l.verified = l.created.Add(time.Hour + time.Duration(random.Int64N(int64(70*time.Hour))))
	l.linked = n.launch.Time().Add(12*time.Hour + time.Duration(random.Int64N(int64(8*time.Hour)))).Truncate(time.Second)
	return l
}

// later is registered on a given day.
func (n *Network) later(random *rand.Rand, day beacon.Day) (l life) {
	l.late = true
	l.created = n.atWork(random, day)
	if l.created.After(n.Now.Add(-20 * time.Minute)) { // today, and earlier than people work
		l.created = n.Now.Add(-20*time.Minute - time.Duration(random.Int64N(int64(8*time.Hour)))).Truncate(time.Millisecond)
	}
	l.verified = l.created.Add(time.Hour + time.Duration(random.Int64N(int64(40*time.Hour))))
	l.linked = l.verified.Add(10*time.Minute + time.Duration(random.Int64N(int64(20*time.Hour))))
	return l
}

// waiting was registered recently, and is not verified, not linked, or neither.
func (n *Network) waiting(random *rand.Rand) (l life) {
	l = n.later(random, beacon.DayOf(n.Now)-beacon.Day(random.IntN(9)))
	never := n.Now.Add(time.Hour)
	switch random.IntN(4) {
	case 0:
		l.linked = never
	case 1:
		l.linked, l.verified = l.verified, never
	default:
		l.linked, l.verified = never, never
	}
	return l
}

// atWork returns a time of a day at which people work in the city.
func (n *Network) atWork(random *rand.Rand, day beacon.Day) time.Time {
	return day.Time().Add(13*time.Hour - n.in.east + time.Duration(random.Int64N(int64(9*time.Hour)))).Truncate(time.Millisecond)
}

// maintenance is when the service itself was down, one morning not long ago.
func (n *Network) maintenance() beacon.Period {
	from := (n.launch + beacon.Day(n.Days*9/10)).Time().Add(8*time.Hour + 30*time.Minute)
	return beacon.Period{From: from, Until: from.Add(45 * time.Minute)}
}

// powerCut is some hours without power in a part of the city.
type powerCut struct {
	neighborhood string
	beacon.Period
}

// powerCuts returns the power cuts, which are the same for everyone.
func (n *Network) powerCuts() (cuts []powerCut) {
	random := sourceOf(n.Seed, "power")
	for _, where := range []string{
		"Hudson Yards-Chelsea-Flatiron-Union Square", "Astoria", "Park Slope-Gowanus", "Morrisania-Melrose", "Central Harlem South",
		featuredQuarter, "Quarter 4", // of a made-up city
	} {
		day := n.launch + 3 + beacon.Day(random.IntN(max(n.Days-6, 1)))
		from := day.Time().Add(time.Duration(14*60+random.IntN(360)) * time.Minute)
		until := from.Add(time.Duration(70+random.IntN(300)) * time.Minute)
		cuts = append(cuts, powerCut{where, beacon.Period{From: from, Until: until}})
	}
	return cuts
}
