package demo

import (
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

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

// userOf returns the id of a user.
func userOf(seed uint64, name string, since time.Time) beacon.UserID {
	return beacon.UserID(idOf(seed, beacon.UserPrefix, name, since))
}

// idOf returns an id that is the same for the same seed.
func idOf(seed uint64, prefix, name string, at time.Time) string {
	random := sourceOf(seed, prefix+name)
	return id.Format(prefix, at, random.Uint64(), random.Uint64())
}
