package access

import (
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// validateEnrolment checks what only an enrolment key has. Such a key is on many devices: it
// ends, and may do nothing else.
func (in Creation) validateEnrolment(wanted *beacon.Key, now time.Time, f *beacon.Faults) {
	e := &wanted.Enrolment
	if len(wanted.Scopes) > 1 {
		f.Add("scopes", "must be devices:enrol alone for an enrolment key: create another key for the rest")
	}
	switch {
	case !in.ExpiresAt.Set:
		f.Note(beacon.FieldError{Field: "expires_at", Message: "is required for an enrolment key", Missing: true})
	case wanted.ExpiresAt.After(now.Add(beacon.MaxEnrolmentLasts)):
		f.Add("expires_at", "must be within a year for an enrolment key")
	}
	if most, ok := beacon.Required(in.MaxEnrolments, "max_enrolments", f); ok {
		if e.Most = int(most); float64(e.Most) != most || e.Most < 1 || e.Most > beacon.MaxEnrolments {
			f.Add("max_enrolments", fmt.Sprintf("must be a whole number of 1 to %d", beacon.MaxEnrolments))
		}
	}
	if texts, ok := beacon.Optional(in.Hotspots, "hotspots", f); ok {
		e.Hotspots = hotspotsOf(texts, f)
	}
	if register, ok := beacon.Optional(in.MayRegister, "may_register", f); ok {
		e.Register = register
	}
	if e.Register && len(e.Hotspots) > 0 {
		f.Add("may_register", "must be false for a key with hotspots: no others may be enrolled")
	}
}

// hotspotsOf reads hotspot ids, each once, sorted.
func hotspotsOf(texts []string, f *beacon.Faults) (all []beacon.HotspotID) {
	if len(texts) > beacon.MaxEnrolmentHotspots {
		f.Add("hotspots", fmt.Sprintf("must not be more than %d", beacon.MaxEnrolmentHotspots))
		return nil
	}
	for i, text := range texts {
		if !id.Valid(beacon.HotspotPrefix, text) {
			f.Add(fmt.Sprintf("hotspots[%d]", i), "must be a hotspot id (hs_…)")
		}
		all = append(all, beacon.HotspotID(text))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refuseEnrolment refuses for other keys what would have no effect.
func (in Creation) refuseEnrolment(f *beacon.Faults) {
	for _, given := range []struct {
		field string
		set   bool
	}{
		{"max_enrolments", in.MaxEnrolments.Set},
		{"hotspots", len(in.Hotspots.V) > 0},
		{"may_register", in.MayRegister.V},
	} {
		if given.set {
			f.Add(given.field, "is only for keys with the scope devices:enrol")
		}
	}
}
