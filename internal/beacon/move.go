package beacon

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// moved is the reason for which a place that its operator changed is not verified.
const moved = "its operator has moved it"

// apply merges a patch into a location. The verification is left to follow.
func (form LocationForm) apply(l *Location, f *Faults) {
	if lat, ok := Optional(form.Lat, "location.lat", f); ok {
		l.Point.Lat = positiveZero(lat)
		if !(geo.Point{Lat: lat}).Valid() {
			f.Add("location.lat", "must be -90 to 90")
		}
	}
	if lng, ok := Optional(form.Lng, "location.lng", f); ok {
		l.Point.Lng = positiveZero(lng)
		if !(geo.Point{Lng: lng}).Valid() {
			f.Add("location.lng", "must be -180 to 180")
		}
	}
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
