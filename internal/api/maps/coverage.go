package maps

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// coverageQuery asks which hotspots are in a box, and how much of it is covered.
type coverageQuery struct {
	Box  geo.Box
	Zoom int // or fleet.AnyZoom
}

// coverage is served from memory, like nearby: map clients ask on every move.
func (a *API) coverage(w http.ResponseWriter, r *http.Request, _ beacon.Principal) error {
	w.Header()["Vary"] = a.VaryForm
	in, err := DecodeCoverage(r)
	if err != nil {
		return err
	}
	m := a.Meta(w)
	survey := a.fleet.Survey(in.Box, in.Zoom, m.Timestamp)
	p := a.sheets.Get().(*sheet)
	defer a.sheets.Put(p)
	if edge.Wants(r, edge.AsGeoJSON) {
		p.body = AppendCoverageFeatures(p.body[:0], in.Box, survey, m)
		edge.WriteAs(w, http.StatusOK, edge.GeoJSONType, p.body)
		return nil
	}
	p.body = AppendCoverage(p.body[:0], in.Box, survey, m)
	w.Header()["Content-Length"] = edge.Decimal(len(p.body))
	httpserver.WriteBody(w, http.StatusOK, p.body)
	return nil
}

// sheet is the memory for one long response.
type sheet struct{ body []byte }

func newSheet() any { return new(sheet) }

func DecodeCoverage(r *http.Request) (coverageQuery, error) {
	q, err := edge.NewQuery(r)
	if err != nil {
		return coverageQuery{}, err
	}
	in := coverageQuery{Box: q.Bounds(), Zoom: fleet.AnyZoom}
	if zoom := q.Number("zoom", 0, fleet.MaxZoom, fleet.AnyZoom); zoom >= 0 {
		in.Zoom = int(zoom) // map clients send fractional zooms, too
	}
	return in, q.Faults.Err()
}

func AppendCoverage(out []byte, box geo.Box, s fleet.Survey, m client.Meta) []byte {
	out = edge.AppendBounds(append(out, `{"data":{"bounds":`...), box)
	out = appendFindings(out, s)
	out = append(out, `,"hotspots":[`...)
	for i := range s.Marks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendMark(append(out, '{'), s.Marks[i], m.Timestamp), '}')
	}
	for i := range s.Clusters {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendCluster(append(out, '{'), &s.Clusters[i]), '}')
	}
	return edge.AppendMeta(append(out, "]}"...), m)
}

// appendFindings writes what is true of the box as a whole.
func appendFindings(out []byte, s fleet.Survey) []byte {
	out = strconv.AppendInt(append(out, `,"hotspot_count":`...), int64(s.Count), 10)
	out = strconv.AppendInt(append(out, `,"online_count":`...), int64(s.Online), 10)
	out = edge.AppendKm2(append(out, `,"coverage_area_km2":`...), edge.Km2Of(s.AreaKm2))
	out = appendShare(append(out, `,"coverage_percentage":`...), s.Share)
	return strconv.AppendBool(append(out, `,"aggregated":`...), s.Aggregated)
}

func AppendMark(out []byte, m fleet.MapItem, now time.Time) []byte {
	f := fragments.Of(m.Hotspot)
	return appendMarkState(append(fragments.AppendApproximate(fragments.AppendPlace(out, m.Hotspot, f), m.Hotspot), ','), m, f, now)
}

func appendMarkState(out []byte, m fleet.MapItem, f fragments.Texts, now time.Time) []byte {
	out = fragments.AppendRadius(append(out, `"radius_m":`...), m.Hotspot.RadiusM())
	out = append(append(out, `,"status":"`...), m.Status...)
	return fragments.AppendConnection(append(out, '"'), m.Hotspot, f, now)
}

func appendCluster(out []byte, c *fleet.Cluster) []byte {
	out = append(append(out, `"id":"`...), c.ID...)
	out = AppendDegrees(append(out, `","lat":`...), c.Center.Lat)
	out = AppendDegrees(append(out, `,"lng":`...), c.Center.Lng)
	return appendClusterState(append(out, ','), c)
}

func appendClusterState(out []byte, c *fleet.Cluster) []byte {
	out = fragments.AppendTenths(append(out, `"radius_m":`...), c.RadiusM)
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

// AppendDegrees writes an angle rounded like roundDegrees: a centroid is computed, not
// measured.
func AppendDegrees(out []byte, degrees float64) []byte {
	const one = 10_000_000
	n := int(math.Round(degrees * one))
	if n < 0 {
		out, n = append(out, '-'), -n
	}
	out = strconv.AppendInt(out, int64(n/one), 10)
	return edge.AppendFraction(out, int64(n%one), one/10)
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

// DecodeWhatIf reads the question. If bounds is absent, its sides are reported as missing.
func DecodeWhatIf(_ *http.Request, o *edge.Object) (in whatIf, err error) {
	type additionForm struct{ Lat, Lng, RadiusM beacon.Opt[float64] }
	bounds := edge.Inner(o, "bounds", edge.ReadBounds)
	additions := edge.Objects(o, "add", func(o *edge.Object) additionForm {
		return additionForm{Lat: o.Number("lat"), Lng: o.Number("lng"), RadiusM: o.Number("radius_m")}
	})
	var f beacon.Faults
	if form, ok := beacon.Optional(bounds, "bounds", &f); ok || !bounds.Set {
		in.box = form.Validate("bounds.", &f)
	}
	add, _ := beacon.Required(additions, "add", &f)
	if len(add) > maxAdditions {
		f.Add("add", "must not have more than "+strconv.Itoa(maxAdditions)+" elements")
		add = nil
	}
	for i, form := range add {
		path := "add[" + strconv.Itoa(i) + "]."
		var a fleet.Addition
		a.Place.Lat, _ = edge.Required(form.Lat, path+"lat", -90, 90, &f)
		a.Place.Lng, _ = edge.Required(form.Lng, path+"lng", -180, 180, &f)
		a.RadiusM, _ = edge.Required(form.RadiusM, path+"radius_m", beacon.MinCoverageRadiusM, beacon.MaxCoverageRadiusM, &f)
		in.add = append(in.add, a)
	}
	return in, o.Conclude(f.Err)
}

// whatIf simulates additional hotspots. Many additions count as several requests.
func (a *API) whatIf(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := edge.FromBody(DecodeWhatIf)(w, r)
	if err != nil {
		return err
	}
	if err := a.Charging(w, p, additionsARequest)(len(in.add)); err != nil {
		return err
	}
	areaBefore, areaAfter, err := a.fleet.WhatIf(in.box, in.add, a.Now())
	if err != nil {
		return err
	}
	before, after := edge.Km2Of(areaBefore), edge.Km2Of(max(areaBefore, areaAfter))
	out := edge.AppendBounds([]byte(`{"bounds":`), in.box)
	out = edge.AppendKm2(append(out, `,"before_km2":`...), before)
	out = edge.AppendKm2(append(out, `,"after_km2":`...), after)
	out = edge.AppendKm2(append(out, `,"added_km2":`...), after.Minus(before))
	return a.Write(w, http.StatusOK, edge.Payload{Data: edge.Encoded(append(out, '}'))})
}
