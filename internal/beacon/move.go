package beacon

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

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
	}
	if h.Location.Point != before.Location.Point && !h.unverify(moved, now) && h.Location.UnverifiedReason != "" {
		h.Location.UnverifiedReason = moved // the earlier reason was about the earlier place
	}
	if h.Device.MAC.Canonical() != before.Device.MAC.Canonical() {
		h.EndService(now)
		h.Device.Unlink()
	}
}
