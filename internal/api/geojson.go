package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

var geoJSONType = []string{"application/geo+json"}

// writeGeoJSON sends a GeoJSON response (RFC 7946).
func writeGeoJSON(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h["Content-Type"] = geoJSONType
	h["Content-Length"] = decimal(len(body))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// appendNearbyFeatures is appendNearby as GeoJSON.
func appendNearbyFeatures(out []byte, hits []fleet.Hit, m meta) []byte {
	out = append(out, `{"type":"FeatureCollection","features":[`...)
	for i, hit := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendFeature(out, hit.Item.ID())
		out = appendPlace(out, hit.Item.Place())
		head, _, address := cutSummary(hit.Item.Encoded())
		out = append(out, head...)
		out = append(append(out, `,"address":`...), address...)
		out = appendTenths(append(out, `,"distance_m":`...), hit.Meters)
		out = append(appendFacts(out, hit.Item.Condition(time.Time(m.Timestamp))), '}') // appendFacts closes the properties
	}
	return appendMeta(append(out, ']'), m)
}

// appendCoverageFeatures is appendCoverage as GeoJSON.
func appendCoverageFeatures(out []byte, box geo.Box, s fleet.Survey, m meta) []byte {
	out = append(out, `{"type":"FeatureCollection","bbox":[`...)
	for i, side := range [...]float64{box.West, box.South, box.East, box.North} {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, side, 'f', -1, 64)
	}
	out = appendFindings(append(out, ']'), s)
	out = append(out, `,"features":[`...)
	for i, mark := range s.Marks {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendPlace(appendFeature(out, mark.Spot.ID()), mark.Spot.Place())
		out = append(append(append(out, `{"id":"`...), mark.Spot.ID()...), `",`...)
		out = append(appendMarkState(out, mark), "}}"...)
	}
	for i := range s.Clusters {
		if i > 0 {
			out = append(out, ',')
		}
		c := &s.Clusters[i]
		out = appendFeature(out, c.ID)
		out = appendDegrees(out, c.Center.Lng)
		out = appendDegrees(append(out, ','), c.Center.Lat)
		out = append(append(append(out, `]},"properties":{"id":"`...), c.ID...), `",`...)
		out = append(appendClusterState(out, c), "}}"...)
	}
	return appendMeta(append(out, ']'), m)
}

// appendFeature begins a feature, up to its coordinates.
func appendFeature(out []byte, id string) []byte {
	out = append(append(out, `{"type":"Feature","id":"`...), id...)
	return append(out, `","geometry":{"type":"Point","coordinates":[`...)
}

// appendPlace writes the coordinates and continues up to the properties.
func appendPlace(out []byte, place geo.Point) []byte {
	out = strconv.AppendFloat(out, place.Lng, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, ','), place.Lat, 'f', -1, 64)
	return append(out, `]},"properties":`...)
}
