package hotspots

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
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

var typeNames = edge.Texts(beacon.Types())

// search is the memory for one nearby response.
type search struct {
	hits []fleet.Hit
	body []byte
}

func newSearch() any { return &search{hits: make([]fleet.Hit, 0, maxLimit)} }

// nearby is served from memory, mostly with bytes that were encoded when each hotspot
// last changed: it is the most frequent request of apps.
func (a *API) nearby(w http.ResponseWriter, r *http.Request, _ beacon.Principal) error {
	w.Header()["Vary"] = a.VaryForm
	q, err := DecodeNearby(r)
	if err != nil {
		return err
	}
	s := a.searches.Get().(*search)
	defer a.searches.Put(s)
	m := a.Meta(w)
	q.Now = m.Timestamp // one time for the filter and for the facts shown
	s.hits = a.fleet.Nearby(q, s.hits[:0])
	if edge.Wants(r, edge.AsGeoJSON) {
		s.body = AppendNearbyFeatures(s.body[:0], s.hits, m)
		edge.WriteAs(w, http.StatusOK, edge.GeoJSONType, s.body)
	} else {
		s.body = AppendNearby(s.body[:0], s.hits, m)
		w.Header()["Content-Length"] = edge.Decimal(len(s.body))
		httpserver.WriteBody(w, http.StatusOK, s.body)
	}
	clear(s.hits) // the pool must not keep deleted hotspots in memory
	return nil
}

func DecodeNearby(r *http.Request) (fleet.NearbyQuery, error) {
	q, err := edge.NewQuery(r)
	if err != nil {
		return fleet.NearbyQuery{}, err
	}
	in := fleet.NearbyQuery{
		RadiusM: q.Positive("radius", maxRadiusM, defaultRadiusM),
		Limit:   q.Whole("limit", 1, maxLimit, defaultLimit),
		Status:  beacon.Online,

		Type:        beacon.Type(q.OneOf("type", typeNames...)),
		Connectable: q.OneOf("connectable", "true", "false") == "true",
	}
	if q.Need("lat") {
		in.Center.Lat = q.Number("lat", -90, 90, 0)
	}
	if q.Need("lng") {
		in.Center.Lng = q.Number("lng", -180, 180, 0)
	}
	switch status := q.OneOf("status", "online", "offline", "all"); status {
	case "": // not given
	case "all":
		in.Status = "" // any
	default:
		in.Status = beacon.Status(status)
	}
	return in, q.Faults.Err()
}

func AppendNearby(out []byte, hits []fleet.Hit, m client.Meta) []byte {
	out = append(out, `{"data":[`...)
	now := m.Timestamp
	for i, hit := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		f := fragments.Of(hit.Item)
		out = fragments.AppendSummary(out, hit.Item, f)
		out = append(fragments.AppendApproximate(out, hit.Item), `},"distance_m":`...)
		out = fragments.AppendTenths(out, hit.Meters)
		out = fragments.AppendConnection(out, hit.Item, f, now)
		out = fragments.AppendFacts(out, hit.Item.PublicCondition(now))
	}
	return edge.AppendMeta(append(out, ']'), m)
}

// AppendNearbyFeatures is appendNearby as GeoJSON.
func AppendNearbyFeatures(out []byte, hits []fleet.Hit, m client.Meta) []byte {
	out = append(out, `{"type":"FeatureCollection","features":[`...)
	now := m.Timestamp
	for i, hit := range hits {
		if i > 0 {
			out = append(out, ',')
		}
		f := fragments.Of(hit.Item)
		out = fragments.AppendFeature(out, hit.Item, f)
		out = append(append(out, `,"name":`...), f.Name...)
		out = append(append(out, fragments.ToAddress[f.TypeIndex]...), f.Address...)
		out = fragments.AppendApproximate(out, hit.Item)
		out = fragments.AppendTenths(append(out, `,"distance_m":`...), hit.Meters)
		out = fragments.AppendConnection(out, hit.Item, f, now)
		out = append(fragments.AppendFacts(out, hit.Item.PublicCondition(now)), '}') // appendFacts closes the properties
	}
	return edge.AppendMeta(append(out, ']'), m)
}
