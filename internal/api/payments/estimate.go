package payments

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

const (
	// maxPlanned is how many hotspots can be planned at once.
	maxPlanned = 20
	// neighbourhoodM is how far the hotspots stand that are compared with a planned one.
	neighbourhoodM = 5000
)

// decodePlan reads where hotspots are planned.
func decodePlan(_ *http.Request, o *edge.Object) (plan []geo.Point, err error) {
	type pointForm struct{ Lat, Lng beacon.Opt[float64] }
	form := edge.Objects(o, "places", func(o *edge.Object) pointForm { return pointForm{o.Number("lat"), o.Number("lng")} })
	var f beacon.Faults
	places, _ := beacon.Required(form, "places", &f)
	if len(places) > maxPlanned {
		f.Add("places", "must not have more than "+strconv.Itoa(maxPlanned)+" elements")
		places = nil
	}
	for i, place := range places {
		path := "places[" + strconv.Itoa(i) + "]."
		var p geo.Point
		p.Lat, _ = edge.Required(place.Lat, path+"lat", -90, 90, &f)
		p.Lng, _ = edge.Required(place.Lng, path+"lng", -180, 180, &f)
		plan = append(plan, p)
	}
	return plan, o.Conclude(f.Err)
}

// estimate says what planned hotspots might earn. Each costs as much as a request for
// what is nearby.
func (a *API) estimate(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	plan, err := edge.FromBody(decodePlan)(w, r)
	if err != nil {
		return err
	}
	if err := a.Limits.SpendMore(w.Header(), p, len(plan)-1, time.Now()); err != nil {
		return err
	}
	out := client.RewardsEstimates{Unit: beacon.RewardUnit, Days: earnings.EstimateDays}
	for i, place := range plan {
		e, err := a.rewards.Estimate(r.Context(), place, a.neighbours(place), plan[:i])
		if err != nil {
			return err
		}
		out.Places = append(out.Places, showEstimate(place, e))
	}
	return a.Write(w, http.StatusOK, edge.Payload{Data: out})
}

// neighbours returns the hotspots in service that are nearest to a place, as everyone
// sees them.
func (a *API) neighbours(place geo.Point) (list []earnings.Neighbour) {
	now := a.Now()
	for _, hit := range a.fleet.Nearby(fleet.NearbyQuery{Center: place, RadiusM: neighbourhoodM, Limit: mostNeighbours, Active: true}, nil) {
		c := hit.Item.PublicCondition(now)
		list = append(list, earnings.Neighbour{Place: hit.Item.Place(), Uptime: c.Uptime, Tier: c.Tier})
	}
	return list
}

func showEstimate(place geo.Point, e earnings.Estimate) client.RewardsEstimate {
	out := client.RewardsEstimate{
		Lat: edge.RoundDegrees(place.Lat), Lng: edge.RoundDegrees(place.Lng), FreeGround: e.Free, Neighbours: e.Neighbours, Most: client.Amount(e.Most),
	}
	if e.Neighbours >= earnings.MinNeighbours {
		out.Expected = &client.RewardsRange{Low: client.Amount(e.Low), Middle: client.Amount(e.Middle), High: client.Amount(e.High)}
	}
	return out
}

// mostNeighbours is how many hotspots around a place an estimate looks at.
const mostNeighbours = 100
