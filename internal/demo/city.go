package demo

import (
	"fmt"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// City is where a network is. The hotspots of New York stand where real ones do. In any other
// city only its middle and its clock are real: its hotspots are made up, within a plain circle
// that is no outline of anything.
type City struct {
	Key    string // as on a command line
	Name   string
	Middle geo.Point // of where the featured operator's hotspots are
	Zone   string

	radius float64       // metres; 0: the places are real
	east   time.Duration // how far its clock is ahead of New York's, without daylight saving
	crowd  geo.Point     // a street corner at which the hotspots of several accounts stand
}

// NewYork is the key of the city with real places.
const NewYork = "new-york"

// cities are those that a network can be in. All but New York are inland, so that no hotspot
// stands in the sea.
var cities = []City{
	{Key: NewYork, Name: "New York", Middle: geo.Point{Lat: 40.7423, Lng: -74.0060}, Zone: newYork, crowd: geo.Point{Lat: 40.764212, Lng: -73.984545}},
	{Key: "berlin", Name: "Berlin", Middle: geo.Point{Lat: 52.5200, Lng: 13.4050}, Zone: "Europe/Berlin", radius: 9000, east: 6 * time.Hour},
	{Key: "nairobi", Name: "Nairobi", Middle: geo.Point{Lat: -1.2864, Lng: 36.8172}, Zone: "Africa/Nairobi", radius: 8000, east: 8 * time.Hour},
	{Key: "paris", Name: "Paris", Middle: geo.Point{Lat: 48.8566, Lng: 2.3522}, Zone: "Europe/Paris", radius: 5500, east: 6 * time.Hour},
	{Key: "mexico-city", Name: "Mexico City", Middle: geo.Point{Lat: 19.4326, Lng: -99.1332}, Zone: "America/Mexico_City", radius: 9000, east: -time.Hour},
}

// CityOf returns the city of a key; "" is New York.
func CityOf(key string) (City, error) {
	for _, c := range cities {
		if c.Key == key || key == "" && c.Key == NewYork {
			if c.radius > 0 {
				c.crowd = c.Middle.Toward(60, 1600)
			}
			return c, nil
		}
	}
	return City{}, fmt.Errorf("there is no city %q", key)
}

// cityAt returns the city that a hotspot is in: the one that is nearest.
func cityAt(p geo.Point) City {
	nearest := cities[0]
	for _, c := range cities[1:] {
		if geo.Distance(p, c.Middle) < geo.Distance(p, nearest.Middle) {
			nearest = c
		}
	}
	c, _ := CityOf(nearest.Key)
	return c
}

// places returns all places of the city, by number.
func (c City) places() ([]place, error) {
	if c.radius == 0 {
		return readPlaces()
	}
	all := make([]place, Hotspots)
	for i := range all {
		if all[i] = c.place(i); livedIn(all[i]) {
			all[i] = asHome(all[i])
		}
	}
	return all, nil
}

const (
	ofFeatured = 30 // places, within ownRadius of the middle
	ownRadius  = 550
	ofCrowd    = 12 // places, within a street's width of each other
)

// place makes up a place. There are more of them near the middle.
func (c City) place(number int) place {
	random := sourceOf(uint64(number), "place of "+c.Key)
	bearing, share := 360*random.Float64(), math.Pow(random.Float64(), 0.7)
	p := place{
		number: number, borough: c.Name, address: fmt.Sprintf("Made-up place %d", number+1), ssid: "Free Wi-Fi " + c.Name,
		neighborhood: fmt.Sprintf("Quarter %d", 1+int(bearing/45)+8*int(2*share)),
		point:        c.Middle.Toward(bearing, share*c.radius),
	}
	kind, operator := random.IntN(100), random.IntN(100)
	p.provider = fmt.Sprintf("operator %d", operator*operator/100) // few have many
	switch {
	case number < ofFeatured:
		p.provider, p.neighborhood, p.point = featured, featuredQuarter, c.Middle.Toward(bearing, share*ownRadius)
		p.name = fmt.Sprintf("Corner %d", number+1)
	case number < ofFeatured+ofCrowd:
		p.provider, p.point = fmt.Sprintf("operator %d", 90+number%4), c.crowd.Toward(bearing, 45*share)
		p.name = fmt.Sprintf("Market stall %d", number+1)
	case kind < 55:
		p.placement = kiosk
	case kind < 70:
		p.placement, p.name = station, fmt.Sprintf("Station %d", number+1)
	case kind < 78:
		p.placement, p.name = library, fmt.Sprintf("Library %d", number+1)
	case kind < 90:
		p.placement, p.name = indoor, fmt.Sprintf("Café %d", number+1)
	default:
		p.placement, p.name = aerial, fmt.Sprintf("Park %d", number+1)
	}
	p.point = geo.Point{Lat: math.Round(p.point.Lat*1e6) / 1e6, Lng: math.Round(p.point.Lng*1e6) / 1e6}
	return p
}

// featuredQuarter is the part of a made-up city in which the featured operator is.
const featuredQuarter = "Old Town"
