package fleet

import (
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Census is how all hotspots are at one moment.
type Census struct {
	Online, Offline, Pending int

	ToVisit  int // of those that are pending: whose place staff have neither verified nor rejected
	Rejected int
	New      int // with the id that was asked for, or a higher one: those registered since

	// Silent are offline hotspots, those first that were heard from least recently, and
	// before them those that never were.
	Silent []*Hotspot
}

// Census examines all hotspots, in some hundredths of a second for a million. Silent has at
// most the given number of them.
func (f *Fleet) Census(now time.Time, since beacon.HotspotID, silent int) (c Census) {
	f.All(func(s *Hotspot) bool {
		switch s.StatusAt(now) {
		case beacon.Online:
			c.Online++
		case beacon.Offline:
			c.Offline++
			c.Silent = keepSilent(c.Silent, s, silent)
		case beacon.Pending:
			c.Pending++
		}
		if s.Rejected() {
			c.Rejected++
		} else if !s.Verified() {
			c.ToVisit++
		}
		if s.ID() >= string(since) {
			c.New++
		}
		return true
	})
	return c
}

// keepSilent adds a hotspot to the most silent ones, in their order, if it is one of them.
func keepSilent(kept []*Hotspot, s *Hotspot, most int) []*Hotspot {
	at := len(kept)
	for at > 0 && moreSilent(s, kept[at-1]) {
		at--
	}
	if at == most {
		return kept
	}
	if len(kept) == most {
		kept = kept[:most-1]
	}
	return slices.Insert(kept, at, s)
}

// moreSilent orders hotspots by when they were last heard from, then by id: by registration.
func moreSilent(a, b *Hotspot) bool {
	x, y := a.live.Seen(), b.live.Seen()
	return x < y || x == y && a.ID() < b.ID()
}
