package simulate

import (
	"fmt"
	"math"

	"github.com/beacon-wifi/beacon/client"
)

// neighbourhood is a place where hotspots cluster.
type neighbourhood struct {
	name     string
	lat, lng float64
}

var neighbourhoods = []neighbourhood{
	{"Harlem", 40.8116, -73.9465},
	{"Upper West Side", 40.7870, -73.9754},
	{"Midtown", 40.7549, -73.9840},
	{"Chelsea", 40.7465, -74.0014},
	{"East Village", 40.7265, -73.9815},
	{"Chinatown", 40.7158, -73.9970},
	{"Astoria", 40.7644, -73.9235},
	{"Flushing", 40.7674, -73.8331},
	{"Jackson Heights", 40.7557, -73.8831},
	{"Jamaica", 40.7027, -73.7890},
	{"Forest Hills", 40.7181, -73.8448},
	{"Long Island City", 40.7447, -73.9485},
	{"Williamsburg", 40.7081, -73.9571},
	{"Greenpoint", 40.7305, -73.9515},
	{"Bushwick", 40.6944, -73.9213},
	{"Park Slope", 40.6710, -73.9814},
	{"Red Hook", 40.6734, -74.0083},
	{"Sunset Park", 40.6455, -74.0124},
	{"Bay Ridge", 40.6263, -74.0329},
	{"Flatbush", 40.6415, -73.9594},
	{"Mott Haven", 40.8091, -73.9229},
	{"Fordham", 40.8593, -73.8985},
	{"Riverdale", 40.9005, -73.9063},
	{"St. George", 40.6437, -74.0736},
}

var (
	owners  = []string{"Ada", "Bo", "Carla", "Dmitri", "Esi", "Farid", "Grace", "Hao", "Ines", "Jamal", "Kira", "Leo", "Mina", "Noor", "Otis", "Priya"}
	shops   = []string{"Bakery", "Books", "Barber", "Coffee", "Deli", "Diner", "Flowers", "Gym", "Laundry", "Pharmacy", "Pizza", "Records", "Tailor", "Tea House"}
	commons = []string{"Community Garden", "Library", "Playground", "Plaza", "Recreation Center", "Senior Center", "Square", "Station"}
	streets = []string{"Main Street", "Broadway", "Second Avenue", "Church Street", "Park Place", "Grand Street", "Bridge Road", "Court Street"}
)

// register makes the registration of a device.
func register(c *chance, seed uint64, number int) client.Registration {
	where := pick(c, neighbourhoods)
	r := client.Registration{
		Location: client.Place{
			Lat:     roundTo(where.lat+0.006*c.normal(), 6),
			Lng:     roundTo(where.lng+0.008*c.normal(), 6),
			Address: fmt.Sprintf("%d %s, %s, New York", 1+c.one(400), pick(c, streets), where.name),
		},
		Device: client.AccessPoint{MACAddress: macOf(seed, number)},
	}
	switch roll := c.unit(); {
	case roll < 0.55:
		owner := pick(c, owners)
		r.Type, r.Name, r.Device.SSID = client.Home, owner+"'s Wi-Fi, "+where.name, owner+" shares"
	case roll < 0.85:
		shop := pick(c, owners) + "'s " + pick(c, shops)
		r.Type, r.Name, r.Device.SSID = client.Business, shop+", "+where.name, shop
	default:
		common := pick(c, commons)
		r.Type, r.Name, r.Device.SSID = client.Public, where.name+" "+common, common+" Wi-Fi"
	}
	return r
}

// hoursOf returns opening hours for some places, or nil. Hours are local to New York.
func hoursOf(c *chance, kind string) *client.SettingsForm {
	if kind == Home || c.unit() > 0.4 {
		return nil
	}
	weekdays, weekend := []string{"mon", "tue", "wed", "thu", "fri"}, []string{"sat", "sun"}
	open := 6 + c.one(4)
	return &client.SettingsForm{OperatingHours: &client.OperatingHours{Timezone: "America/New_York", Weekly: []client.WeeklyHours{
		{Days: weekdays, Open: fmt.Sprintf("%02d:00", open), Close: fmt.Sprintf("%02d:00", 18+c.one(6))},
		{Days: weekend, Open: fmt.Sprintf("%02d:00", open+2), Close: fmt.Sprintf("%02d:00", 16+c.one(6))},
	}}}
}

// macOf returns a MAC address that no real device has. Devices of one seed never
// share one, and of two seeds hardly ever.
func macOf(seed uint64, number int) string {
	c := chanceOf(seed, 0)
	of := c.next()
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", byte(of>>8), byte(of), byte(number>>16), byte(number>>8), byte(number))
}

func roundTo(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}
