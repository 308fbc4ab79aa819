package simulate

import (
	"fmt"
	"math"

	"github.com/beacon-wifi/beacon/client"
)

// neighbourhoods are places in New York where hotspots cluster.
var neighbourhoods = [][2]float64{
	{40.8116, -73.9465},
	{40.7549, -73.9840},
	{40.7158, -73.9970},
	{40.7644, -73.9235},
	{40.7557, -73.8831},
	{40.7027, -73.7890},
	{40.7081, -73.9571},
	{40.6710, -73.9814},
	{40.6455, -74.0124},
	{40.6415, -73.9594},
	{40.8593, -73.8985},
	{40.6437, -74.0736},
}

// register makes the registration of a device.
func register(c *chance, seed uint64, number int, around Around) client.Registration {
	r := client.Registration{
		Location: around.place(c),
		Device:   client.AccessPoint{MACAddress: macOf(seed, number), SSID: simulatedSSID},
	}
	switch roll := c.unit(); {
	case roll < 0.55:
		r.Type = client.Home
	case roll < 0.85:
		r.Type = client.Business
	default:
		r.Type = client.Public
	}
	r.Name = fmt.Sprintf("Simulated %s %d", r.Type, number+1)
	return r
}

// hoursOf returns opening hours for some places, or nil.
func hoursOf(c *chance, kind, zone string) *client.SettingsForm {
	if kind == Home || c.unit() > 0.4 {
		return nil
	}
	weekdays, weekend := []string{"mon", "tue", "wed", "thu", "fri"}, []string{"sat", "sun"}
	open := 6 + c.one(4)
	return &client.SettingsForm{OperatingHours: &client.OperatingHours{Timezone: zone, Weekly: []client.WeeklyHours{
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
