package fleet

import "github.com/beacon-wifi/beacon/internal/beacon"

// Searches, maps and coverage use the public place of a hotspot for everyone, so that no
// set of queries with any set of keys tells more than its public place does (decision
// D142). What is paid for is found by true places: see Around.

// SetBlur sets what strangers see of homes, from the next hotspot on that Apply or Load
// takes over. Call Reshow with all the others.
func (f *Fleet) SetBlur(b beacon.Blur) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.Homes == beacon.HomesBlurred {
		f.displaced.Store(true) // for good: when the setting changes, some stay displaced for a while
	}
	f.blur.Store(&b)
}

// Blur returns what strangers see of homes.
func (f *Fleet) Blur() *beacon.Blur { return f.blur.Load() }

// Reshow shows hotspots as SetBlur wants them, unless a newer version is known.
func (f *Fleet) Reshow(hotspots ...beacon.Hotspot) error { return f.apply(hotspots, true) }

// publicOf returns a hotspot as strangers see it, or nil if that is the same.
func (f *Fleet) publicOf(h beacon.Hotspot) *beacon.Hotspot {
	blur := f.blur.Load()
	if !blur.Hides(h.Type) {
		return nil
	}
	public := blur.Public(h)
	return &public
}

// Hidden reports whether strangers do not see the hotspot as it is.
func (s *Hotspot) Hidden() bool { return s.hidden }
