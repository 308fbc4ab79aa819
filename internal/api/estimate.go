package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

const (
	// maxPlanned is how many hotspots can be planned at once.
	maxPlanned = 20
	// neighbourhoodM is how far the hotspots stand that are compared with a planned one.
	neighbourhoodM = 5000
)

// decodePlan reads where hotspots are planned.
func decodePlan(_ *http.Request, o *object) (plan []geo.Point, err error) {
	type pointForm struct{ Lat, Lng beacon.Opt[float64] }
	form := objects(o, "places", func(o *object) pointForm { return pointForm{o.number("lat"), o.number("lng")} })
	var f beacon.Faults
	places, _ := beacon.Required(form, "places", &f)
	if len(places) > maxPlanned {
		f.Add("places", "must not have more than "+strconv.Itoa(maxPlanned)+" elements")
		places = nil
	}
	for i, place := range places {
		path := "places[" + strconv.Itoa(i) + "]."
		var p geo.Point
		p.Lat, _ = required(place.Lat, path+"lat", -90, 90, &f)
		p.Lng, _ = required(place.Lng, path+"lng", -180, 180, &f)
		plan = append(plan, p)
	}
	return plan, o.conclude(f.Err)
}

// estimate says what planned hotspots might earn. Each costs as much as a request for
// what is nearby.
func (a *API) estimate(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	plan, err := fromBody(decodePlan)(w, r)
	if err != nil {
		return err
	}
	if err := a.limits.spendMore(w.Header(), p, len(plan)-1, time.Now()); err != nil {
		return err
	}
	out := append([]byte(`{"unit":"`+beacon.RewardUnit+`","days":`), strconv.Itoa(rewards.EstimateDays)...)
	out = append(out, `,"places":[`...)
	for i, place := range plan {
		e, err := a.books.Estimate(r.Context(), place, a.neighbours(place), plan[:i])
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = appendEstimate(out, place, e)
	}
	return a.write(w, http.StatusOK, payload{Data: encoded(append(out, "]}"...))})
}

// neighbours returns the hotspots in service that are nearest to a place, as everyone
// sees them.
func (a *API) neighbours(place geo.Point) (list []rewards.Neighbour) {
	now := a.now()
	for _, hit := range a.fleet.Nearby(fleet.NearbyQuery{Center: place, RadiusM: neighbourhoodM, Limit: maxLimit, Active: true}, nil) {
		c := hit.Item.PublicCondition(now)
		list = append(list, rewards.Neighbour{Place: hit.Item.Place(), Uptime: c.Uptime, Tier: c.Tier})
	}
	return list
}

func appendEstimate(out []byte, place geo.Point, e rewards.Estimate) []byte {
	out = appendDegrees(append(out, `{"lat":`...), place.Lat)
	out = appendDegrees(append(out, `,"lng":`...), place.Lng)
	out = appendShare(append(out, `,"free_ground":`...), e.Free)
	out = strconv.AppendInt(append(out, `,"neighbours":`...), int64(e.Neighbours), 10)
	out = e.Most.Append(append(out, `,"most":`...))
	if e.Neighbours < rewards.MinNeighbours {
		return append(out, `,"expected":null}`...)
	}
	out = e.Low.Append(append(out, `,"expected":{"low":`...))
	out = e.Middle.Append(append(out, `,"middle":`...))
	out = e.High.Append(append(out, `,"high":`...))
	return append(out, "}}"...)
}
