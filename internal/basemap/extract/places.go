package extract

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// Place is a city with the box around it.
type Place struct {
	Name string
	Box  pmtiles.Bounds
}

// Places are the cities whose names can be given instead of a box.
var Places = []Place{
	{"Accra", pmtiles.Bounds{West: -0.35, South: 5.48, East: 0.02, North: 5.72}},
	{"Amsterdam", pmtiles.Bounds{West: 4.72, South: 52.27, East: 5.08, North: 52.44}},
	{"Athens", pmtiles.Bounds{West: 23.6, South: 37.83, East: 23.9, North: 38.11}},
	{"Bangkok", pmtiles.Bounds{West: 100.3, South: 13.5, East: 100.95, North: 14.0}},
	{"Barcelona", pmtiles.Bounds{West: 2.03, South: 41.29, East: 2.28, North: 41.5}},
	{"Berlin", pmtiles.Bounds{West: 13.08, South: 52.33, East: 13.77, North: 52.68}},
	{"Bogotá", pmtiles.Bounds{West: -74.25, South: 4.45, East: -73.98, North: 4.85}},
	{"Boston", pmtiles.Bounds{West: -71.2, South: 42.22, East: -70.9, North: 42.45}},
	{"Buenos Aires", pmtiles.Bounds{West: -58.65, South: -34.8, East: -58.2, North: -34.45}},
	{"Cape Town", pmtiles.Bounds{West: 18.3, South: -34.36, East: 18.9, North: -33.7}},
	{"Chicago", pmtiles.Bounds{West: -87.95, South: 41.63, East: -87.5, North: 42.05}},
	{"Delhi", pmtiles.Bounds{West: 76.83, South: 28.4, East: 77.35, North: 28.89}},
	{"Detroit", pmtiles.Bounds{West: -83.3, South: 42.24, East: -82.9, North: 42.46}},
	{"Hamburg", pmtiles.Bounds{West: 9.72, South: 53.39, East: 10.33, North: 53.75}},
	{"Istanbul", pmtiles.Bounds{West: 28.6, South: 40.8, East: 29.4, North: 41.3}},
	{"Jakarta", pmtiles.Bounds{West: 106.68, South: -6.38, East: 106.98, North: -6.08}},
	{"Johannesburg", pmtiles.Bounds{West: 27.85, South: -26.4, East: 28.2, North: -25.95}},
	{"Kampala", pmtiles.Bounds{West: 32.48, South: 0.2, East: 32.72, North: 0.42}},
	{"Lagos", pmtiles.Bounds{West: 3.1, South: 6.35, East: 3.7, North: 6.75}},
	{"Lisbon", pmtiles.Bounds{West: -9.25, South: 38.68, East: -9.05, North: 38.81}},
	{"London", pmtiles.Bounds{West: -0.52, South: 51.28, East: 0.34, North: 51.7}},
	{"Los Angeles", pmtiles.Bounds{West: -118.68, South: 33.7, East: -118.14, North: 34.35}},
	{"Madrid", pmtiles.Bounds{West: -3.9, South: 40.3, East: -3.5, North: 40.57}},
	{"Melbourne", pmtiles.Bounds{West: 144.7, South: -38.1, East: 145.4, North: -37.6}},
	{"Mexico City", pmtiles.Bounds{West: -99.37, South: 19.1, East: -98.93, North: 19.6}},
	{"Mumbai", pmtiles.Bounds{West: 72.77, South: 18.87, East: 73.0, North: 19.29}},
	{"Nairobi", pmtiles.Bounds{West: 36.65, South: -1.45, East: 37.1, North: -1.15}},
	{"New York", pmtiles.Bounds{West: -74.27, South: 40.48, East: -73.68, North: 40.93}},
	{"Paris", pmtiles.Bounds{West: 2.22, South: 48.8, East: 2.48, North: 48.92}},
	{"Rome", pmtiles.Bounds{West: 12.35, South: 41.77, East: 12.65, North: 42.02}},
	{"San Francisco", pmtiles.Bounds{West: -122.53, South: 37.69, East: -122.34, North: 37.84}},
	{"Santiago", pmtiles.Bounds{West: -70.85, South: -33.65, East: -70.45, North: -33.3}},
	{"São Paulo", pmtiles.Bounds{West: -46.85, South: -23.8, East: -46.35, North: -23.35}},
	{"Seattle", pmtiles.Bounds{West: -122.46, South: 47.48, East: -122.22, North: 47.74}},
	{"Seoul", pmtiles.Bounds{West: 126.76, South: 37.42, East: 127.19, North: 37.71}},
	{"Singapore", pmtiles.Bounds{West: 103.6, South: 1.16, East: 104.1, North: 1.48}},
	{"Sydney", pmtiles.Bounds{West: 150.9, South: -34.05, East: 151.35, North: -33.7}},
	{"Tokyo", pmtiles.Bounds{West: 139.55, South: 35.5, East: 139.95, North: 35.83}},
	{"Toronto", pmtiles.Bounds{West: -79.64, South: 43.58, East: -79.11, North: 43.86}},
	{"Vienna", pmtiles.Bounds{West: 16.18, South: 48.11, East: 16.58, North: 48.33}},
	{"Warsaw", pmtiles.Bounds{West: 20.85, South: 52.09, East: 21.28, North: 52.37}},
}

// howToSay says what a region may be.
const howToSay = "give a box in degrees, west,south,east,north, such as 13.08,52.33,13.77,52.68"

// Region returns the box that a text names: the name of a city, or its edges in degrees.
func Region(text string) (pmtiles.Bounds, error) {
	text = strings.TrimSpace(text)
	for _, p := range Places {
		if letters(p.Name) == letters(text) {
			return p.Box, nil
		}
	}
	parts := strings.Split(text, ",")
	if strings.IndexFunc(text, unicode.IsDigit) < 0 {
		names := make([]string, len(Places))
		for i, p := range Places {
			names[i] = p.Name
		}
		return pmtiles.Bounds{}, fmt.Errorf("%q is not one of the cities that are known: %s, or one of %s", text, howToSay, strings.Join(names, ", "))
	}
	var edges [4]float64
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || len(parts) != len(edges) {
			return pmtiles.Bounds{}, fmt.Errorf("%q is not a box: %s", text, howToSay)
		}
		edges[i] = v
	}
	b := pmtiles.Bounds{West: edges[0], South: edges[1], East: edges[2], North: edges[3]}
	switch {
	case min(b.West, b.East) < -180 || max(b.West, b.East) > 180 || min(b.South, b.North) < -90 || max(b.South, b.North) > 90:
		return b, fmt.Errorf("%q reaches beyond the Earth: %s", text, howToSay)
	case b.South >= b.North:
		return b, fmt.Errorf("the south of %q is not below its north: %s", text, howToSay)
	case b.West >= b.East:
		return b, fmt.Errorf("the west of %q is not left of its east: %s. A file cannot cross 180°: take the side where your hotspots are", text, howToSay)
	}
	return b, nil
}

// letters returns a name as it may be typed: without accents, spaces and capitals.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		if unicode.IsDigit(r) || r == ',' || r == '.' {
			return r // so that no box has a name
		}
		return -1
	}, norm.NFKD.String(name))
}
