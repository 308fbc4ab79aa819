package demo

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Hotspots is the total number of hotspots.
const Hotspots = 3167

//go:embed data/places.csv.gz
var placesFile []byte

// place is a public hotspot as the city lists it, or a home; see livedIn.
type place struct {
	number       int // its line in the list
	borough      string
	neighborhood string
	name         string
	address      string
	point        geo.Point
	placement    string
	provider     string
	ssid         string
	odd          oddity // in a lively network
}

// places returns the first count places, in an order in which any few are spread over
// the whole city. The featured operator's come first, so that a small demonstration
// has them too.
func places(c City, count int) ([]place, error) {
	all, err := c.places()
	if err != nil {
		return nil, fmt.Errorf("read the places of the demo: %w", err)
	}
	rank := func(p place) int64 {
		if p.provider == featured {
			return int64(hash(p.key())) - 1<<32 // before all others
		}
		return int64(hash(p.key()))
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(rank(a), rank(b)) })
	markOdd(all, c.crowd)
	return all[:min(count, len(all))], nil
}

func (p place) key() string { return strconv.Itoa(p.number) + p.address }

// hash returns a number for spreading things.
func hash(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum32()
}

func readPlaces() ([]place, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(placesFile))
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(unpacked).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []place
	for i, row := range rows[1:] {
		lat, errLat := strconv.ParseFloat(row[4], 64)
		lng, errLng := strconv.ParseFloat(row[5], 64)
		if errLat != nil || errLng != nil {
			return nil, fmt.Errorf("line %d has no coordinates", i+2)
		}
		p := place{
			number: i, borough: row[0], neighborhood: row[1], name: row[2], address: row[3],
			point: geo.Point{Lat: lat, Lng: lng}, placement: row[6], provider: row[7], ssid: row[8],
		}
		if livedIn(p) {
			p = asHome(p)
		}
		all = append(all, p)
	}
	return all, nil
}

// livedIn reports whether a place is taken for a home. The city lists public places only,
// and a community's network has homes: all of the housing authority's, and a few others of
// the featured operator and of the streets.
func livedIn(p place) bool {
	switch {
	case p.provider == "NYCHA":
		return true
	case p.provider == featured:
		return hash("home "+p.key())%8 == 0
	}
	return p.placement == kiosk && !strings.HasPrefix(p.neighborhood, "park-") && hash("home "+p.key())%20 == 0
}

// asHome returns the place as someone's home. Its name says no more than the part of the
// city, as docs/privacy.md recommends. Whoever lives at a street operates it.
func asHome(p place) place {
	area, _, _ := strings.Cut(p.neighborhood, "-")
	p.name, p.ssid = "Home in "+area, fmt.Sprintf("home-%04d", p.number)
	if p.placement == kiosk {
		p.provider = "home " + strconv.Itoa(p.number)
	}
	p.placement = home
	return p
}

// featured is the operator whose key is printed: neither large nor small, and with
// all of its hotspots within walking distance.
const featured = "Chelsea"

// operatorOf returns who runs a place: the provider in the city's list; a large
// provider is split by part of the city.
func operatorOf(p place) string {
	switch p.provider {
	case "LinkNYC - Citybridge":
		parts := map[string]uint32{"Manhattan": 9, "Brooklyn": 4, "Queens": 4, "Bronx": 2}[p.borough]
		return fmt.Sprintf("streets of %s %d", p.borough, hash(p.neighborhood)%max(parts, 1))
	case "SPECTRUM", "Transit Wireless", "ALTICEUSA", "NYPL":
		return p.provider + " " + p.borough
	}
	return p.provider
}
