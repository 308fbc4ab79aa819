package hotspots

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func DecodeRegistration(_ *http.Request, o *edge.Object) (beacon.Registration, error) {
	form := beacon.Registration{
		Name:     o.Text("name"),
		Type:     o.Text("type"),
		Location: edge.Inner(o, "location", readLocation),
		Device:   edge.Inner(o, "device", readDevice),
		Settings: edge.Inner(o, "settings", readSettings),
	}
	return form, o.Conclude(func() error {
		_, err := form.Validate("", "", time.Time{})
		return err
	})
}

func readLocation(o *edge.Object) beacon.LocationForm {
	return beacon.LocationForm{Lat: o.Number("lat"), Lng: o.Number("lng"), Address: o.Text("address")}
}

func readDevice(o *edge.Object) beacon.DeviceForm {
	return beacon.DeviceForm{SSID: o.Text("ssid"), MAC: o.Text("mac_address")}
}

func decodeDeletion(_ http.ResponseWriter, r *http.Request) (registry.Deletion, error) {
	return registry.Deletion{Hotspot: beacon.HotspotID(r.PathValue("id")), Versions: IfMatch(r)}, nil
}

func DecodeChange(r *http.Request, o *edge.Object) (registry.Change, error) {
	in := registry.Change{Hotspot: beacon.HotspotID(r.PathValue("id")), Versions: IfMatch(r)}
	in.Patch = beacon.Patch{
		Name: o.Text("name"), Type: o.Text("type"), Settings: edge.Inner(o, "settings", readSettings),
		Location: edge.Inner(o, "location", readLocation), Device: edge.Inner(o, "device", readDevice),
	}
	return in, o.Finish(in.Patch.Validate)
}

// noVersion stands for an entity tag that is not ours: no hotspot has this version.
const noVersion = -1

// IfMatch returns the versions that a client is willing to change (decision N11). It
// returns nil without the header, or if the header accepts any version.
func IfMatch(r *http.Request) []int64 {
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

// TagOf returns the entity tag of a version of a hotspot; versionOf is its inverse.
func TagOf(version int64) string { return `"v` + strconv.FormatInt(version, 10) + `"` }

func versionOf(tag string) int64 {
	text, ok := strings.CutPrefix(tag, `"v`)
	text, closed := strings.CutSuffix(text, `"`)
	version, err := strconv.ParseInt(text, 10, 64)
	if !ok || !closed || err != nil || TagOf(version) != tag {
		return noVersion
	}
	return version
}
