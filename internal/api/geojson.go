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
	now := time.Time(m.Timestamp)
	for i, hit := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		f := fragmentsOf(hit.Item)
		out = appendFeature(out, hit.Item, f)
		out = append(append(out, `,"name":`...), f.name...)
		out = append(append(out, toAddress[f.typeIndex]...), f.address...)
		out = appendApproximate(out, hit.Item)
		out = appendTenths(append(out, `,"distance_m":`...), hit.Meters)
		out = appendConnection(out, hit.Item, f, now)
		out = append(appendFacts(out, hit.Item.PublicCondition(now)), '}') // appendFacts closes the properties
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
		f := fragmentsOf(mark.Spot)
		out = appendFeature(out, mark.Spot, f)
		out = appendApproximate(out, mark.Spot)
		out = append(appendMarkState(append(out, ','), mark, f, time.Time(m.Timestamp)), "}}"...)
	}
	for i := range s.Clusters {
		if i > 0 {
			out = append(out, ',')
		}
		c := &s.Clusters[i]
		out = appendDegrees(beginFeature(out, c.ID), c.Center.Lng)
		out = appendDegrees(append(out, ','), c.Center.Lat)
		out = append(appendClusterState(append(continueFeature(out, c.ID), ','), c), "}}"...)
	}
	return appendMeta(append(out, ']'), m)
}
