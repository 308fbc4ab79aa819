package api

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// The bounds of a search (decision N4).
const (
	defaultRadiusM = 1000
	maxRadiusM     = 10_000
	defaultLimit   = 20
	maxLimit       = 100
)

// appendFacts encodes what is true of a hotspot at this moment.
func appendFacts(out []byte, f fleet.Condition) []byte {
	out = append(out, `,"status":"`...)
	out = append(out, f.Status...)
	out = append(out, `","coverage_radius_m":`...)
	out = appendRadius(out, f.RadiusM)
	out = append(out, `,"signal_quality":"`...)
	out = append(out, f.Signal.String()...)
	out = append(out, `","performance_tier":"`...)
	out = append(out, f.Tier.String()...)
	out = append(out, `","current_load":`...)
	out = appendTenThousandths(out, f.Load)
	out = append(out, `,"uptime_30d":`...)
	out = appendTenThousandths(out, f.Uptime)
	return append(out, '}')
}

// appendRadius writes a length in metres that is stored as a float32. Most are whole.
func appendRadius(out []byte, meters float64) []byte {
	if whole := int64(meters); float64(whole) == meters {
		return strconv.AppendInt(out, whole, 10)
	}
	return strconv.AppendFloat(out, meters, 'f', -1, 64)
}

// search is the memory for one nearby response.
type search struct {
	hits []fleet.Hit
	body []byte
}

func newSearch() any { return &search{hits: make([]fleet.Hit, 0, maxLimit)} }

// nearby is served from memory, mostly with bytes that were encoded when each hotspot
// last changed: it is the most frequent request of apps.
func (a *API) nearby(w http.ResponseWriter, r *http.Request, _ beacon.Principal) error {
	w.Header()["Vary"] = a.varyForm
	q, err := decodeNearby(r)
	if err != nil {
		return err
	}
	s := a.searches.Get().(*search)
	defer a.searches.Put(s)
	m := a.meta(w)
	q.Now = time.Time(m.Timestamp) // one time for the filter and for the facts shown
	s.hits = a.fleet.Nearby(q, s.hits[:0])
	if wants(r, asGeoJSON) {
		s.body = appendNearbyFeatures(s.body[:0], s.hits, m)
		writeAs(w, http.StatusOK, geoJSONType, s.body)
	} else {
		s.body = appendNearby(s.body[:0], s.hits, m)
		w.Header()["Content-Length"] = decimal(len(s.body))
		httpserver.WriteBody(w, http.StatusOK, s.body)
	}
	clear(s.hits) // the pool must not keep deleted hotspots in memory
	return nil
}

func decodeNearby(r *http.Request) (fleet.NearbyQuery, error) {
	q, err := newQuery(r)
	if err != nil {
		return fleet.NearbyQuery{}, err
	}
	in := fleet.NearbyQuery{
		RadiusM: q.positive("radius", maxRadiusM, defaultRadiusM),
		Limit:   q.whole("limit", 1, maxLimit, defaultLimit),
		Status:  beacon.Online,
	}
	if q.need("lat") {
		in.Center.Lat = q.number("lat", -90, 90, 0)
	}
	if q.need("lng") {
		in.Center.Lng = q.number("lng", -180, 180, 0)
	}
	switch status := q.oneOf("status", "online", "offline", "all"); status {
	case "": // not given
	case "all":
		in.Status = "" // any
	default:
		in.Status = beacon.Status(status)
	}
	return in, q.faults.Err()
}

func appendNearby(out []byte, hits []fleet.Hit, m meta) []byte {
	out = append(out, `{"data":[`...)
	now := time.Time(m.Timestamp)
	for i, hit := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		f := fragmentsOf(hit.Item)
		out = appendSummary(out, hit.Item, f)
		out = append(appendApproximate(out, hit.Item), `},"distance_m":`...)
		out = appendTenths(out, hit.Meters)
		out = appendConnection(out, hit.Item, f, now)
		out = appendFacts(out, hit.Item.PublicCondition(now))
	}
	return appendMeta(append(out, ']'), m)
}

// appendMeta ends a response.
func appendMeta(out []byte, m meta) []byte {
	out = append(out, `,"meta":{"request_id":"`...)
	out = append(out, m.RequestID...)
	out = append(out, `","timestamp":"`...)
	out = m.Timestamp.append(out)
	return append(out, "\"}}\n"...)
}

// appendTenths writes a length rounded to 0.1 m (decision N13).
func appendTenths(out []byte, meters float64) []byte {
	tenths := int64(math.Round(meters * 10))
	out = strconv.AppendInt(out, tenths/10, 10)
	if rest := tenths % 10; rest != 0 {
		out = append(out, '.', byte('0'+rest))
	}
	return out
}
