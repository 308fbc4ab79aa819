package openfeeds

import (
	"io"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Shown returns the details that feeds show.
func Shown() []beacon.Detail { return slices.Concat(essential, slices.Collect(maps.Keys(others))) }

// Hide makes the feeds as if the table of audiences had one detail that is not public.
func (f *Feeds) Hide(d beacon.Detail) {
	f.editions.view = newView(func(other beacon.Detail) beacon.Audience {
		if other == d {
			return beacon.AnyKey
		}
		return other.Audience()
	})
}

// WriteGeoJSON writes the feed of all hotspots.
func (f *Feeds) WriteGeoJSON(w io.Writer) error {
	return f.write(w, hotspotsFeed, f.editions.current())
}

// The limits of downloads.
const (
	MaxReaders          = maxReaders
	MaxReadersAnAddress = maxReadersAnAddress
)

// HideUptime makes the pages as if the table of audiences did not make uptime public.
func (p *Pages) HideUptime() { p.showsUp = false }

// HideUptime makes the feeds as if the table of audiences did not make uptime public.
func (f *Feeds) HideUptime() { f.showsUp = false }

// SetIdentity sets how the network of the feeds presents itself.
func SetIdentity(f *Feeds, who func() beacon.Identity) { f.identity = who }
