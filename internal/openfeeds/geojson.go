package openfeeds

import (
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// hotspotsFeed is the network as GeoJSON (RFC 7946), one feature on a line.
var hotspotsFeed = feed{
	kind: geoJSONType, head: beginCollection,
	append: func(_ *Feeds, out []byte, h *hotspot) []byte { return appendFeature(out, h) },
}

func beginCollection(f *Feeds, out []byte, _ *edition) []byte {
	out = f.appendTerms(append(out, `{"type":"FeatureCollection",`...))
	return append(out, `"features":[`+"\n"...)
}

// appendFeature writes a hotspot as a feature. All have the same properties.
func appendFeature(out []byte, h *hotspot) []byte {
	out = append(appendPoint(out, h), `"id":"`...)
	out = append(append(out, h.id...), `","name":`...)
	out = append(append(out, h.name...), `,"type":"`...)
	out = append(append(out, h.kind...), `","status":"`...)
	out = append(append(out, h.status...), `","coverage_radius_m":`...)
	out = append(appendNumber(out, h.radiusM), `,"address":`...)
	out = append(append(out, h.address...), `,"ssid":`...)
	out = append(append(out, h.ssid...), `,"open_now":`...)
	out = strconv.AppendBool(out, h.open)
	until, opens := h.until, time.Time{}
	if !h.open {
		until, opens = opens, until
	}
	out = appendTime(append(out, `,"open_until":`...), until)
	out = appendTime(append(out, `,"opens_at":`...), opens)
	out = append(out, `,"timezone":`...)
	if h.hours == nil || h.hours.Zone() == nil { // always open, or not shown
		return append(out, "null}}"...)
	}
	return append(strconv.AppendQuote(out, h.hours.Zone().String()), "}}"...)
}

// appendPoint begins a feature, up to its properties.
func appendPoint(out []byte, h *hotspot) []byte {
	out = append(append(out, `{"type":"Feature","id":"`...), h.id...)
	out = appendNumber(append(out, `","geometry":{"type":"Point","coordinates":[`...), h.place.Lng)
	out = appendNumber(append(out, ','), h.place.Lat)
	return append(out, `]},"properties":{`...)
}

func appendNumber(out []byte, n float64) []byte { return strconv.AppendFloat(out, n, 'f', -1, 64) }

// appendTime writes a time as the network interface does (decision N22), or null.
func appendTime(out []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(out, "null"...)
	}
	return append(beacon.AppendTime(append(out, '"'), t), '"')
}

// openStreetMapFeed has the tags that mappers would give to the hotspots, as GeoJSON. It is
// for review by people: OpenStreetMap accepts no import without one, which the tag fixme
// reminds of. It never has homes, whatever other feeds show.
var openStreetMapFeed = feed{
	kind: geoJSONType, head: beginCollection, append: appendTags,
	keep: func(h *hotspot) bool { return h.kind == beacon.Business || h.kind == beacon.Public },
}

func appendTags(_ *Feeds, out []byte, h *hotspot) []byte {
	out = append(append(appendPoint(out, h), `"internet_access":"wlan","internet_access:ssid":`...), h.ssid...)
	out = append(append(out, `,"name":`...), h.name...)
	if h.address != `""` {
		out = append(append(out, `,"addr:full":`...), h.address...)
	}
	return append(out, `,"fixme":"check on the ground, and add internet_access to the place if it is already mapped"}}`...)
}
