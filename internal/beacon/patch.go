package beacon

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// Opt is a field of a request that may be absent, null, or a value: three different
// things to a merge patch (decision N11). A latitude of 0 is not an absent one.
type Opt[T any] struct {
	Set  bool // the field is in the request
	Null bool // it is null
	V    T    // its value, if set and not null
}

// Some returns a field with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, V: v} }

// Null returns a field that was sent as null.
func Null[T any]() Opt[T] { return Opt[T]{Set: true, Null: true} }

// Required returns the value of a field that must be present.
func Required[T any](o Opt[T], field string, f *Faults) (v T, ok bool) {
	if !o.Set {
		f.Missing(field)
		return v, false
	}
	return Optional(o, field, f)
}

// Optional returns the value of a field that may be absent, but not null.
func Optional[T any](o Opt[T], field string, f *Faults) (v T, ok bool) {
	if o.Null {
		f.Check(field, errNull)
		return v, false
	}
	return o.V, o.Set
}

// Patch is what a client sent to change a hotspot: a merge patch (decision N11).
// Absent fields stay as they are. Null restores the default of the operating hours, their
// exceptions and the radius (decision D104), and is rejected elsewhere.
type Patch struct {
	Name     Opt[string]
	Type     Opt[string]
	Settings Opt[SettingsForm]
	Location Opt[LocationForm]
	Device   Opt[DeviceForm]
}

// Validate returns the faults of the patch that do not depend on the hotspot: a client
// learns of them before it learns whether the hotspot exists or belongs to it (decision
// N3). Apply may find one more: a part of hours that the hotspot does not have.
func (p Patch) Validate() error {
	_, err := p.Apply(&Hotspot{Settings: Settings{OperatingHours: new(OperatingHours)}})
	return err
}

// Apply changes the hotspot and reports whether anything is different now. On an
// error the hotspot is unchanged. Version and UpdatedAt are left to the caller, which
// updates them only on a change.
func (p Patch) Apply(h *Hotspot) (changed bool, err error) {
	var f Faults
	name, kind, settings, location, device := h.Name, h.Type, h.Settings, h.Location, h.Device
	if raw, ok := Optional(p.Name, "name", &f); ok {
		name = checkName(raw, &f)
	}
	if raw, ok := Optional(p.Type, "type", &f); ok {
		kind = checkType(raw, &f)
	}
	if form, ok := Optional(p.Settings, "settings", &f); ok {
		form.apply(&settings, &f)
	}
	if form, ok := Optional(p.Location, "location", &f); ok {
		form.apply(&location, Optional[float64], &f)
	}
	if form, ok := Optional(p.Device, "device", &f); ok {
		form.apply(&device, Optional[string], &f)
	}
	if err := f.Err(); err != nil {
		return false, err
	}
	changed = name != h.Name || !settings.Equal(h.Settings) || kind != h.Type || location != h.Location || device != h.Device
	h.Name, h.Type, h.Settings, h.Location, h.Device = name, kind, settings, location, device
	return changed, nil
}

// ApplyAt is Apply at a moment: operating hours that change are remembered, since
// minutes before it are judged by the hours in force then. A hotspot at another place,
// or with another MAC address, is pending: see follow.
func (p Patch) ApplyAt(h *Hotspot, now time.Time) (changed bool, err error) {
	before := *h
	if changed, err = p.Apply(h); err != nil {
		return false, err
	}
	h.follow(&before, now)
	old, hours := before.Settings.OperatingHours, h.Settings.OperatingHours
	if old.Equal(hours) {
		return changed, nil
	}
	if err = h.RetireHours(old, now); err != nil {
		*h = before
		return false, err
	}
	return changed, nil
}

// moved is the reason for which a place that its operator changed is not verified.
const moved = "its operator has moved it"

// readPoint reads coordinates, which are read as Required or Optional, into a point.
func readPoint(p *geo.Point, lat, lng Opt[float64], read func(Opt[float64], string, *Faults) (float64, bool), path string, f *Faults) {
	if v, ok := read(lat, path+"lat", f); ok {
		f.Check(path+"lat", checkRange(v, -90, 90))
		p.Lat = positiveZero(v)
	}
	if v, ok := read(lng, path+"lng", f); ok {
		f.Check(path+"lng", checkRange(v, -180, 180))
		p.Lng = positiveZero(v)
	}
}

// apply merges a form into a location, whose coordinates are read as Required or Optional.
// The verification is left to follow.
func (form LocationForm) apply(l *Location, read func(Opt[float64], string, *Faults) (float64, bool), f *Faults) {
	readPoint(&l.Point, form.Lat, form.Lng, read, "location.", f)
	if address, ok := Optional(form.Address, "location.address", f); ok {
		clean, err := CleanAddress(address)
		f.Check("location.address", err)
		l.Address = clean
	}
}

// apply merges a form into a device, whose fields are read as Required or Optional. The
// link is left to follow.
func (form DeviceForm) apply(d *Device, read func(Opt[string], string, *Faults) (string, bool), f *Faults) {
	if ssid, ok := read(form.SSID, "device.ssid", f); ok {
		f.Check("device.ssid", CheckSSID(ssid))
		d.SSID = ssid
	}
	if text, ok := read(form.MAC, "device.mac_address", f); ok {
		mac, err := ParseMAC(text)
		f.Check("device.mac_address", err)
		d.MAC = mac
	}
}

// follow draws the consequences of a patch: at another place, the hotspot is no longer
// verified (decision N15); with another MAC address, its device is no longer linked. It
// keeps all else, and the service until now counts.
func (h *Hotspot) follow(before *Hotspot, now time.Time) {
	if h.Location.Point != before.Location.Point {
		h.Visits = before.visits() // where it was
		if !h.unverify(moved, now) && h.Location.UnverifiedReason != "" {
			h.Location.UnverifiedReason = moved // the earlier reason was about the earlier place
		}
	}
	if h.Device.MAC.Canonical() != before.Device.MAC.Canonical() {
		h.EndService(now)
		h.Device.Unlink()
	}
}
