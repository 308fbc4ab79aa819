package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// The placements of the city's list that are distinguished, and one that is not in it.
const (
	kiosk   = "Outdoor Kiosk"
	station = "Subway Station"
	library = "Library"
	aerial  = "Outdoor TWC Aerial"
	indoor  = "Indoor" // followed by where in the building
	home    = "Home"
)

// venue is the kind of place that a hotspot serves.
type venue struct {
	kind   beacon.Type
	rhythm string
	crowd  float64 // mean number of clients
	hours  func(*rand.Rand) *beacon.OperatingHours
}

func venueOf(p place) venue {
	switch {
	case p.placement == kiosk:
		return venue{beacon.Public, simulate.Street, 11, always}
	case p.placement == station:
		return venue{beacon.Public, simulate.Station, 19, always}
	case p.placement == library:
		return venue{beacon.Public, simulate.Library, 17, libraryHours}
	case strings.HasPrefix(p.placement, indoor):
		return venue{beacon.Business, simulate.Business, 9, indoorHours}
	case p.placement == home:
		return venue{beacon.Home, simulate.Home, 4, always}
	case p.placement == aerial, p.provider == "ALTICEUSA", p.provider == "SPECTRUM", p.provider == "AT&T", p.provider == "Partner":
		return venue{beacon.Public, simulate.Park, 8, parkHours}
	case p.provider == featured && hash(p.key())%3 == 0:
		return venue{beacon.Business, simulate.Business, 12, indoorHours}
	}
	return venue{beacon.Public, simulate.Street, 9, always}
}

// character describes the device of a place. It depends only on the MAC address, so
// that a device can continue with another key.
func character(in City, p place, mac beacon.MAC) simulate.Character {
	v := venueOf(p)
	random := rand.New(rand.NewPCG(uint64(hash(mac.Canonical())), 7))
	c := simulate.Character{
		Seed: random.Uint64(), Place: v.rhythm,
		Crowd:    v.crowd * math.Exp(0.45*random.NormFloat64()),
		DBM:      -76 + 30*random.Float64(),
		Appetite: 2_500 + 22_000*random.Float64(),
		Line:     lineAt(p.point),
		East:     in.east,
	}
	c.Crowd = min(c.Crowd, float64(beacon.DefaultSettings(v.kind).MaxConnections)/3.5)
	line := lines[lineOf(random.Float64())]
	c.Uplink = simulate.Uplink{Down: line[0], Up: line[1], Latency: line[2]}
	switch roll := random.Float64(); {
	case roll < 0.45:
		c.Fails, c.Repair = 80*24*time.Hour, 30*time.Minute
	case roll < 0.84:
		c.Fails, c.Repair = 16*24*time.Hour, 40*time.Minute
	case roll < 0.96:
		c.Fails, c.Repair = 50*time.Hour, 50*time.Minute
	default: // fails all the time
		c.Fails, c.Repair = 7*time.Hour, 2*time.Hour
	}
	if generationOf(mac)&oddDevice != 0 {
		p.odd.equip(&c)
	}
	return c
}

// lineAt returns the number of the line at a point, by which devices get addresses of their
// own. Devices at one point share it, as in a building.
func lineAt(at geo.Point) int { return 1 + int(hash(fmt.Sprint(at))%15_000_000) }

// broken reports whether a device is one of the few that are out of order for good.
func broken(p place, mac string) bool { return p.provider != featured && hash("broken "+mac)%50 == 0 }

// lines are the speeds of uplinks: Mbit/s down and up, and milliseconds.
var lines = [][3]float64{{480, 60, 8}, {230, 24, 14}, {135, 14, 19}, {78, 8.5, 36}, {62, 7, 44}, {26, 3, 61}}

func lineOf(roll float64) (line int) {
	for _, upTo := range []float64{0.10, 0.28, 0.42, 0.62, 0.80} {
		if roll < upTo {
			return line
		}
		line++
	}
	return line
}

var weekdays = []beacon.Weekday{"mon", "tue", "wed", "thu", "fri"}

const (
	newYork = "America/New_York"
	hour    = 60 // in minutes
)

func weekly(spans ...beacon.WeeklySpan) *beacon.OperatingHours {
	return &beacon.OperatingHours{Timezone: newYork, Weekly: spans}
}

// clocked returns hours by the clock of the city.
func (c City) clocked(hours *beacon.OperatingHours) *beacon.OperatingHours {
	if hours != nil {
		hours.Timezone = c.Zone
	}
	return hours
}

func always(*rand.Rand) *beacon.OperatingHours { return nil }

func libraryHours(random *rand.Rand) *beacon.OperatingHours {
	late := random.IntN(3) * hour
	spans := []beacon.WeeklySpan{
		{Days: weekdays, Open: 10 * hour, Close: 18*hour + late},
		{Days: []beacon.Weekday{"sat"}, Open: 10 * hour, Close: 17 * hour},
	}
	if random.IntN(4) == 0 {
		spans = append(spans, beacon.WeeklySpan{Days: []beacon.Weekday{"sun"}, Open: 12 * hour, Close: 17 * hour})
	}
	return weekly(spans...)
}

func parkHours(random *rand.Rand) *beacon.OperatingHours {
	if random.IntN(3) == 0 {
		return nil
	}
	return weekly(beacon.WeeklySpan{
		Days: append([]beacon.Weekday{"sat", "sun"}, weekdays...), Open: 6 * hour, Close: (21 + random.IntN(2)) * hour,
	})
}

func indoorHours(random *rand.Rand) *beacon.OperatingHours {
	if random.IntN(2) == 0 {
		return nil
	}
	return weekly(
		beacon.WeeklySpan{Days: weekdays, Open: (7 + random.IntN(3)) * hour, Close: (20 + random.IntN(3)) * hour},
		beacon.WeeklySpan{Days: []beacon.Weekday{"sat", "sun"}, Open: 9 * hour, Close: 18 * hour},
	)
}
