package api

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// coverageQuery asks which hotspots are in a box, and how much of it is covered.
type coverageQuery struct {
	box  geo.Box
	zoom int // or fleet.AnyZoom
}

// coverage is served from memory, like nearby: map clients ask on every move.
func (a *API) coverage(w http.ResponseWriter, r *http.Request, _ beacon.Principal) error {
	w.Header()["Vary"] = a.varyForm
	in, err := decodeCoverage(r)
	if err != nil {
		return err
	}
	m := a.meta(w)
	survey := a.fleet.Survey(in.box, in.zoom, time.Time(m.Timestamp))
	p := a.sheets.Get().(*sheet)
	defer a.sheets.Put(p)
	if wants(r, asGeoJSON) {
		p.body = appendCoverageFeatures(p.body[:0], in.box, survey, m)
		writeAs(w, http.StatusOK, geoJSONType, p.body)
		return nil
	}
	p.body = appendCoverage(p.body[:0], in.box, survey, m)
	w.Header()["Content-Length"] = decimal(len(p.body))
	httpserver.WriteBody(w, http.StatusOK, p.body)
	return nil
}

// sheet is the memory for one long response.
type sheet struct{ body []byte }

func newSheet() any { return new(sheet) }

func decodeCoverage(r *http.Request) (coverageQuery, error) {
	q, err := newQuery(r)
	if err != nil {
		return coverageQuery{}, err
	}
	in := coverageQuery{box: q.bounds(), zoom: fleet.AnyZoom}
	if zoom := q.number("zoom", 0, fleet.MaxZoom, fleet.AnyZoom); zoom >= 0 {
		in.zoom = int(zoom) // map clients send fractional zooms, too
	}
	return in, q.faults.Err()
}

func appendCoverage(out []byte, box geo.Box, s fleet.Survey, m meta) []byte {
	out = appendBounds(append(out, `{"data":{"bounds":`...), box)
	out = appendFindings(out, s)
	out = append(out, `,"hotspots":[`...)
	for i := range s.Marks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendMark(append(out, '{'), s.Marks[i], time.Time(m.Timestamp)), '}')
	}
	for i := range s.Clusters {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendCluster(append(out, '{'), &s.Clusters[i]), '}')
	}
	return appendMeta(append(out, "]}"...), m)
}

// appendFindings writes what is true of the box as a whole.
func appendFindings(out []byte, s fleet.Survey) []byte {
	out = strconv.AppendInt(append(out, `,"hotspot_count":`...), int64(s.Count), 10)
	out = strconv.AppendInt(append(out, `,"online_count":`...), int64(s.Online), 10)
	out = appendKm2(append(out, `,"coverage_area_km2":`...), km2Of(s.AreaKm2))
	out = appendShare(append(out, `,"coverage_percentage":`...), s.Share)
	return strconv.AppendBool(append(out, `,"aggregated":`...), s.Aggregated)
}

func appendMark(out []byte, m fleet.MapItem, now time.Time) []byte {
	f := fragmentsOf(m.Hotspot)
	return appendMarkState(append(appendApproximate(appendPlace(out, m.Hotspot, f), m.Hotspot), ','), m, f, now)
}

func appendMarkState(out []byte, m fleet.MapItem, f fragments, now time.Time) []byte {
	out = appendRadius(append(out, `"radius_m":`...), m.Hotspot.RadiusM())
	out = append(append(out, `,"status":"`...), m.Status...)
	return appendConnection(append(out, '"'), m.Hotspot, f, now)
}

func appendCluster(out []byte, c *fleet.Cluster) []byte {
	out = append(append(out, `"id":"`...), c.ID...)
	out = appendDegrees(append(out, `","lat":`...), c.Center.Lat)
	out = appendDegrees(append(out, `,"lng":`...), c.Center.Lng)
	return appendClusterState(append(out, ','), c)
}

func appendClusterState(out []byte, c *fleet.Cluster) []byte {
	out = appendTenths(append(out, `"radius_m":`...), c.RadiusM)
	out = append(append(out, `,"status":"`...), clusterStatus(c)...)
	out = strconv.AppendInt(append(out, `","count":`...), int64(c.Count), 10)
	return strconv.AppendInt(append(out, `,"online_count":`...), int64(c.Online), 10)
}

// clusterStatus returns online if any hotspot of the cluster is (decision N20), and
// pending if all are (decision D103).
func clusterStatus(c *fleet.Cluster) beacon.Status {
	if c.Online > 0 {
		return beacon.Online
	}
	if c.Pending {
		return beacon.Pending
	}
	return beacon.Offline
}

// appendDegrees writes an angle rounded to 1e-7°, which is a centimetre: a centroid is
// computed, not measured.
func appendDegrees(out []byte, degrees float64) []byte {
	const one = 10_000_000
	n := int(math.Round(degrees * one))
	if n < 0 {
		out, n = append(out, '-'), -n
	}
	out = strconv.AppendInt(out, int64(n/one), 10)
	return appendFraction(out, n%one, one/10)
}

// appendShare writes a fraction with all its digits.
func appendShare(out []byte, share float64) []byte {
	return strconv.AppendFloat(out, share, 'f', -1, 64)
}

const (
	// maxAdditions is the maximum number of simulated hotspots (decision X8).
	maxAdditions = 100
	// additionsARequest is how many additions cost as much as one request: a key's limit
	// is a limit on work.
	additionsARequest = 10
)

// whatIf asks how much of a box would be covered with additional hotspots.
type whatIf struct {
	box geo.Box
	add []fleet.Addition
}

// decodeWhatIf reads the question. If bounds is absent, its sides are reported as missing.
func decodeWhatIf(_ *http.Request, o *object) (in whatIf, err error) {
	type additionForm struct{ Lat, Lng, RadiusM beacon.Opt[float64] }
	bounds := inner(o, "bounds", readBounds)
	additions := objects(o, "add", func(o *object) additionForm {
		return additionForm{Lat: o.number("lat"), Lng: o.number("lng"), RadiusM: o.number("radius_m")}
	})
	var f beacon.Faults
	if form, ok := beacon.Optional(bounds, "bounds", &f); ok || !bounds.Set {
		in.box = form.validate("bounds.", &f)
	}
	add, _ := beacon.Required(additions, "add", &f)
	if len(add) > maxAdditions {
		f.Add("add", "must not have more than "+strconv.Itoa(maxAdditions)+" elements")
		add = nil
	}
	for i, form := range add {
		path := "add[" + strconv.Itoa(i) + "]."
		var a fleet.Addition
		a.Place.Lat, _ = required(form.Lat, path+"lat", -90, 90, &f)
		a.Place.Lng, _ = required(form.Lng, path+"lng", -180, 180, &f)
		a.RadiusM, _ = required(form.RadiusM, path+"radius_m", beacon.MinCoverageRadiusM, beacon.MaxCoverageRadiusM, &f)
		in.add = append(in.add, a)
	}
	return in, o.conclude(f.Err)
}

// whatIf simulates additional hotspots. Many additions count as several requests.
func (a *API) whatIf(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := fromBody(decodeWhatIf)(w, r)
	if err != nil {
		return err
	}
	if err := a.charging(w, p, additionsARequest)(len(in.add)); err != nil {
		return err
	}
	areaBefore, areaAfter, err := a.fleet.WhatIf(in.box, in.add, a.now())
	if err != nil {
		return err
	}
	before, after := km2Of(areaBefore), km2Of(max(areaBefore, areaAfter))
	out := appendBounds([]byte(`{"bounds":`), in.box)
	out = appendKm2(append(out, `,"before_km2":`...), before)
	out = appendKm2(append(out, `,"after_km2":`...), after)
	out = appendKm2(append(out, `,"added_km2":`...), after.minus(before))
	return a.write(w, http.StatusOK, payload{Data: encoded(append(out, '}'))})
}
