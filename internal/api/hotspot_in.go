package api

import (
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func decodeRegistration(w http.ResponseWriter, r *http.Request) (registry.Registration, error) {
	var in registry.Registration
	key, err := idempotencyKey(r)
	if err != nil {
		return in, err
	}
	o, body, err := readBody(w, r)
	if err != nil {
		return in, err
	}
	in.Once = registry.IdempotencyKey{Key: key, Fingerprint: sha256.Sum256(canonical(body)), Verbatim: sha256.Sum256(body)}
	in.Form = beacon.Registration{
		Name:     o.text("name"),
		Type:     o.text("type"),
		Location: inner(o, "location", readLocation),
		Device:   inner(o, "device", readDevice),
		Settings: inner(o, "settings", readSettings),
	}
	return in, o.settle(func() error {
		_, err := in.Form.Validate("", "", time.Time{})
		return err
	})
}

func readLocation(o *object) beacon.LocationForm {
	return beacon.LocationForm{Lat: o.number("lat"), Lng: o.number("lng"), Address: o.text("address")}
}

func readDevice(o *object) beacon.DeviceForm {
	return beacon.DeviceForm{SSID: o.text("ssid"), MAC: o.text("mac_address")}
}

func readSettings(o *object) beacon.SettingsForm {
	return beacon.SettingsForm{
		MaxConnections:     o.number("max_connections"),
		BandwidthLimitMbps: o.number("bandwidth_limit_mbps"),
		OperatingHours:     inner(o, "operating_hours", readHours),
		CoverageRadiusM:    o.number("coverage_radius_m"),
		ShowSSID:           o.flag("show_ssid"),
	}
}

func readHours(o *object) beacon.HoursForm {
	return beacon.HoursForm{
		Timezone: o.text("timezone"),
		Weekly: objects(o, "weekly", func(o *object) beacon.SpanForm {
			return beacon.SpanForm{Days: o.texts("days"), Open: o.text("open"), Close: o.text("close")}
		}),
		Exceptions: objects(o, "exceptions", func(o *object) beacon.ExceptionForm {
			return beacon.ExceptionForm{Date: o.text("date"), Closed: o.flag("closed"), Open: o.text("open"), Close: o.text("close")}
		}),
	}
}

func decodeDeletion(_ http.ResponseWriter, r *http.Request) (registry.Deletion, error) {
	return registry.Deletion{Hotspot: beacon.HotspotID(r.PathValue("id")), Versions: ifMatch(r)}, nil
}

func decodeChange(r *http.Request, o *object) (registry.Change, error) {
	in := registry.Change{Hotspot: beacon.HotspotID(r.PathValue("id")), Versions: ifMatch(r)}
	in.Patch = beacon.Patch{
		Name: o.text("name"), Settings: inner(o, "settings", readSettings),
		Location: inner(o, "location", readLocation), Device: inner(o, "device", readDevice),
	}
	return in, o.settle(in.Patch.Validate)
}

// noVersion stands for an entity tag that is not ours: no hotspot has this version.
const noVersion = -1

// ifMatch returns the versions that a client is willing to change (decision N11). It
// returns nil without the header, or if the header accepts any version.
func ifMatch(r *http.Request) []int64 {
	var versions []int64
	for _, line := range r.Header.Values("If-Match") {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" {
				return nil
			}
			versions = append(versions, versionOf(tag))
		}
	}
	return versions
}

// tagOf returns the entity tag of a version of a hotspot; versionOf is its inverse.
func tagOf(version int64) string { return `"v` + strconv.FormatInt(version, 10) + `"` }

func versionOf(tag string) int64 {
	text, ok := strings.CutPrefix(tag, `"v`)
	text, closed := strings.CutSuffix(text, `"`)
	version, err := strconv.ParseInt(text, 10, 64)
	if !ok || !closed || err != nil || tagOf(version) != tag {
		return noVersion
	}
	return version
}
