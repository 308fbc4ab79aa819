package payments

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// maxPlanned is how many hotspots can be planned at once.
const maxPlanned = 20

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
	estimates, err := a.rewards.Plan(r.Context(), p, plan)
	if err != nil {
		return err
	}
	out := client.RewardsEstimates{Unit: beacon.RewardUnit, Days: earnings.EstimateDays}
	for i, place := range plan {
		out.Places = append(out.Places, showEstimate(place, estimates[i]))
	}
	return a.Write(w, http.StatusOK, edge.Payload{Data: out})
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
