package beacon

import (
	"errors"
	"time"
)

// Registration is what a client sent to register a hotspot. It has the shape of the
// request, so that every fault names its field.
type Registration struct {
	Name     Opt[string]
	Type     Opt[string]
	Location Opt[LocationForm]
	Device   Opt[DeviceForm]
	Settings Opt[SettingsForm]
}

// LocationForm is a place as sent by a client.
type LocationForm struct {
	Lat, Lng Opt[float64]
	Address  Opt[string]
}

// DeviceForm is an access point as sent by a client.
type DeviceForm struct {
	SSID Opt[string]
	MAC  Opt[string]
}

var errType = errors.New("must be home, business or public")

// Validate returns the hotspot that the registration asks for, in its first version:
// neither verified nor linked. Its error lists all the faulty fields.
func (r Registration) Validate(id HotspotID, operator UserID, now time.Time) (Hotspot, error) {
	var f Faults
	h := Hotspot{ID: id, Operator: operator, CreatedAt: now, UpdatedAt: now, Version: 1}
	if name, ok := Required(r.Name, "name", &f); ok {
		h.Name = checkName(name, &f)
	}
	if kind, ok := Required(r.Type, "type", &f); ok {
		h.Type = checkType(kind, &f)
	}
	// If the location or the device is absent, its required fields are reported as missing;
	// if it is null, only that is reported.
	if location, _ := Optional(r.Location, "location", &f); !r.Location.Null {
		location.apply(&h.Location, Required[float64], &f)
	}
	if device, _ := Optional(r.Device, "device", &f); !r.Device.Null {
		device.apply(&h.Device, Required[string], &f)
	}
	h.Settings = DefaultSettings(h.Type)
	if settings, ok := Optional(r.Settings, "settings", &f); ok {
		settings.apply(&h.Settings, &f)
	}
	if err := f.Err(); err != nil {
		return Hotspot{}, err
	}
	return h, nil
}

func checkName(raw string, f *Faults) string {
	name, err := CleanName(raw)
	if err == nil {
		err = checkHidden(name)
	}
	f.Check("name", err)
	return name
}

func checkType(raw string, f *Faults) Type {
	kind := Type(raw)
	if !kind.Valid() {
		f.Check("type", errType)
	}
	return kind
}

// positiveZero turns -0 into 0: SQLite keeps no sign on a zero, PostgreSQL does, and
// both must give the same responses.
func positiveZero(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}
