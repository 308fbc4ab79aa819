package beacon

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Enrolment says what a key with the scope DevicesEnrol may link. It never
// changes. The zero value is that of all other keys.
type Enrolment struct {
	Most     int         // devices
	Hotspots []HotspotID // the only ones that may get a device; empty: all of the key's user
	Register bool        // an unknown MAC address registers a hotspot
}

// Limits of an enrolment key.
const (
	MaxEnrolments        = 100_000
	MaxEnrolmentHotspots = 1000
	MaxEnrolmentLasts    = 366 * 24 * time.Hour // a year, and some tolerance for clocks
)

// Permits reports whether a hotspot of the key's user may get a device.
func (e *Enrolment) Permits(h HotspotID) bool {
	return len(e.Hotspots) == 0 || slices.Contains(e.Hotspots, h)
}

const (
	mostWord     = "most="
	registerWord = "register"
	hotspotWord  = "hotspot="
)

// String returns the enrolment as words with blanks between, as databases store it.
func (e *Enrolment) String() string {
	if e.Most == 0 {
		return ""
	}
	words := []string{mostWord + strconv.Itoa(e.Most)}
	if e.Register {
		words = append(words, registerWord)
	}
	for _, h := range e.Hotspots {
		words = append(words, hotspotWord+string(h))
	}
	return strings.Join(words, " ")
}

// ParseEnrolment reads what String returned. An unknown word is an error: a key must not do
// what a newer version would refuse it.
func ParseEnrolment(text string) (e Enrolment, err error) {
	for word := range strings.FieldsSeq(text) {
		most, isMost := strings.CutPrefix(word, mostWord)
		hotspot, isHotspot := strings.CutPrefix(word, hotspotWord)
		switch {
		case word == registerWord:
			e.Register = true
		case isMost:
			if e.Most, err = strconv.Atoi(most); err != nil {
				return e, err
			}
		case isHotspot:
			e.Hotspots = append(e.Hotspots, HotspotID(hotspot))
		default:
			return e, fmt.Errorf("an unknown word of an enrolment %.40q", word)
		}
	}
	return e, nil
}

// Enrolling is what one use of an enrolment key finds in the database.
type Enrolling struct {
	Key Key // as it is now; zero if it does not exist

	// If the key may register hotspots: how many of its user wait to be verified, how many
	// were deleted in the day before without having been, and how many may wait.
	Waiting, Discarded, Quota int
}

// EnrolForm is what a device sent to be enrolled. All but the first two are of use only if
// the device registers a hotspot.
type EnrolForm struct {
	MAC              Opt[string]
	Agent            Opt[AgentForm]
	Name, SSID, Type Opt[string]
	Location         Opt[PointForm]
}

// PointForm is a point as sent by a device.
type PointForm struct {
	Latitude, Longitude Opt[float64]
}

// Validate lists the faults of the form that do not depend on whether a hotspot is registered.
func (form EnrolForm) Validate() error {
	var f Faults
	checkAgent(form.Agent, &f)
	form.apply(new(Hotspot), &f)
	return f.Err()
}

var errLocationMissing = errors.New("is required, since no hotspot has this MAC address yet: send latitude and longitude")

// Hotspot returns the hotspot that the form registers, in its first version: neither verified
// nor linked. What was not sent gets a value that can be corrected: a home, whose place
// strangers may not see, with the end of its id as its name.
func (form EnrolForm) Hotspot(id HotspotID, operator UserID, now time.Time) (Hotspot, error) {
	var f Faults
	label := "Hotspot " + strings.ToUpper(string(id[max(0, len(id)-6):]))
	h := Hotspot{
		ID: id, Operator: operator, Name: label, Type: Home, Device: Device{SSID: label},
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if !form.Location.Set {
		f.Note(FieldError{Field: "location", Message: errLocationMissing.Error(), Missing: true})
	}
	form.apply(&h, &f)
	h.Settings = DefaultSettings(h.Type)
	return h, f.Err()
}

// apply copies what was sent to a hotspot.
func (form EnrolForm) apply(h *Hotspot, f *Faults) {
	if text, ok := Required(form.MAC, "mac_address", f); ok {
		mac, err := ParseMAC(text)
		f.Check("mac_address", err)
		h.Device.MAC = mac
	}
	if name, ok := Optional(form.Name, "name", f); ok {
		h.Name = checkName(name, f)
	}
	if ssid, ok := Optional(form.SSID, "ssid", f); ok {
		f.Check("ssid", CheckSSID(ssid))
		h.Device.SSID = ssid
	}
	if kind, ok := Optional(form.Type, "type", f); ok {
		h.Type = checkType(kind, f)
	}
	if place, ok := Optional(form.Location, "location", f); ok {
		h.Location.Point = place.point(f)
	}
}

func (form PointForm) point(f *Faults) (p geo.Point) {
	p.Lat = coordinate(form.Latitude, "location.latitude", 90, f)
	p.Lng = coordinate(form.Longitude, "location.longitude", 180, f)
	return p
}

func coordinate(o Opt[float64], field string, most float64, f *Faults) float64 {
	v, ok := Required(o, field, f)
	if ok {
		f.Check(field, checkRange(v, -most, most))
	}
	return positiveZero(v)
}
