package beacon

import "time"

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
	name, settings, location, device := h.Name, h.Settings, h.Location, h.Device
	if raw, ok := Optional(p.Name, "name", &f); ok {
		name = checkName(raw, &f)
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
	changed = name != h.Name || !settings.Equal(h.Settings) || location != h.Location || device != h.Device
	h.Name, h.Settings, h.Location, h.Device = name, settings, location, device
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
