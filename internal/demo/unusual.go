package demo

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// oddity is what is unusual about a hotspot of a network that is to be shown: it needs
// its operator's attention, or staff are asked to look at it. They find that by their own
// rules: nothing says so in the database.
type oddity int

const (
	usual oddity = iota

	// The featured operator's.
	uncounted // its device carries traffic and counts no clients; its earnings are held
	silent    // its device has stopped two days ago
	carried   // it was moved down the street yesterday, and nobody has been there yet
	unlinked  // it was registered yesterday, and waits for a visit and a device
	weak      // its device fails several times a day
	outdated  // its device runs an old agent

	// Those of others.
	far      // its operator claims a radius that no device reaches; the operator answers a hold
	brief    // it is open for minutes a day, and never late
	restless // its device restarts every few minutes; it was held, and released
	crowded  // staff visited it and its neighbours, of several accounts, within an hour
)

// oddFeatured are those of the featured operator's hotspots that are in the street, the
// first first.
var oddFeatured = []oddity{uncounted, silent, carried, unlinked, weak, outdated, outdated}

// oddOthers are those of the first hotspots of others that are in the street.
var oddOthers = []oddity{far, brief, restless}

// crowdedM is around what is crowded.
const crowdedM = 100

// markOdd says what is unusual about the places of a city, which are in their order; crowd is
// where it is crowded.
func markOdd(all []place, crowd geo.Point) {
	of, others := slices.Clone(oddFeatured), slices.Clone(oddOthers)
	for i := range all {
		p := &all[i]
		next := &others
		if p.provider == featured {
			next = &of
		}
		switch public := venueOf(*p).kind == beacon.Public; {
		case p.provider != featured && geo.Distance(p.point, crowd) <= crowdedM:
			p.odd = crowded
		case public && len(*next) > 0:
			p.odd, *next = (*next)[0], (*next)[1:]
		}
	}
}

// oddDevice is set in the generation of a device whose hotspot is unusual, so that Known
// finds it again.
const oddDevice = 8

// oddLife is the life of a hotspot that is unusual. All but one exist from the first day.
func (n *Network) oddLife(random *rand.Rand, p place) life {
	l := n.atLaunch(random)
	l.generation = oddDevice
	switch p.odd {
	case silent:
		l.dark = beacon.Later(n.Now.Add(-51*time.Hour), l.linked.Add(time.Hour))
	case carried:
		off := n.Now.Add(-26 * time.Hour).Truncate(time.Second)
		l.move = &move{from: p.point.Toward(70, 340), off: off, on: off.Add(35 * time.Minute), registered: off.Add(-2 * time.Hour)}
	case unlinked:
		l.created = n.Now.Add(-23 * time.Hour).Truncate(time.Millisecond)
		l.verified, l.linked = n.Now.Add(time.Hour), n.Now.Add(time.Hour)
	case crowded:
		l.verified = (n.launch - 2).Time().Add(15*time.Hour + time.Duration(random.IntN(40))*time.Minute)
	}
	return l
}

// set changes the settings of a hotspot that is unusual.
func (o oddity) set(s *beacon.Settings) {
	switch o {
	case far:
		s.CoverageRadiusM = 450
	case brief:
		s.OperatingHours = weekly(beacon.WeeklySpan{Days: weekdays, Open: 12 * hour, Close: 12*hour + 45})
	}
}

// equip changes the device of a hotspot that is unusual.
func (o oddity) equip(c *simulate.Character) {
	switch o {
	case uncounted:
		c.Crowd, c.Appetite = 0.2, 600_000
	case weak:
		c.Fails, c.Repair = 5*time.Hour, 100*time.Minute
	case restless:
		c.Fails, c.Repair = 6*time.Minute, 20*time.Second
	}
}
