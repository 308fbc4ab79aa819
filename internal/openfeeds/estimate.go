package openfeeds

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
)

// Plan says what a new hotspot at a place might earn beside hotspots of which it learns
// from nearby.
type Plan func(ctx context.Context, place geo.Point, nearby func(p geo.Point, withinM float64, most int) []earnings.Neighbour) (earnings.Estimate, error)

// estimatePath is 404 where rewards are off.
const estimatePath = "/estimate"

// estimateCost is how many requests an estimate counts as: it divides the ground twice.
const estimateCost = 5

var errNoRewards = &beacon.Error{Kind: beacon.NotFound, Message: "hotspots of this network earn nothing"}

// estimated is what a new hotspot might earn.
type estimated struct {
	Lat        float64           `json:"lat"`
	Lng        float64           `json:"lng"`
	Unit       string            `json:"unit"`
	Days       int               `json:"days"`
	FreeGround float64           `json:"free_ground"`
	Neighbours int               `json:"neighbours"`
	Most       float64           `json:"most"`
	Expected   *expectedEarnings `json:"expected"`
}

type expectedEarnings struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// estimate says what a new hotspot might earn, by the rules of the network interface and by
// nothing but the edition. Homes are not in it: many questions around a home get the
// answers that they would get without it. Of the neighbours' uptimes, which are
// public, whole percents are used; how fast they are is not public, so the lower end is for
// the slowest and the upper one for the fastest.
func (f *Feeds) estimate(w http.ResponseWriter, r *http.Request) error {
	place, _, err := decodePlace(r, nil)
	if err != nil {
		return err
	}
	if f.noRewards() {
		return errNoRewards
	}
	e := f.editions.current()
	if err := f.charge(w, r, estimateCost-1+2*len(e.items)/hotspotsCompared); err != nil {
		return err
	}
	low, err := f.plan(r.Context(), place, f.neighbours(e, beacon.Standard))
	if err != nil {
		return err
	}
	high, err := f.plan(r.Context(), place, f.neighbours(e, beacon.Premium))
	if err != nil {
		return err
	}
	out := estimated{
		Lat: place.Lat, Lng: place.Lng, Unit: beacon.RewardUnit, Days: earnings.EstimateDays,
		FreeGround: math.Round(high.Free*100) / 100, Neighbours: high.Neighbours, Most: inTwoDigits(credits(high.Most)),
	}
	if f.showsUp && high.Neighbours >= earnings.MinNeighbours {
		out.Expected = &expectedEarnings{inTwoDigits(credits(low.Low)), inTwoDigits(credits(high.High))}
	}
	return writeJSON(w, r, out)
}

func credits(a beacon.Amount) float64 { return float64(a) / float64(beacon.Credit) }

func inTwoDigits(n float64) float64 {
	n, _ = strconv.ParseFloat(strconv.FormatFloat(n, 'g', 2, 64), 64)
	return n
}

// neighbours returns a search for the hotspots of an edition that are nearest to a point, as
// if all were of one tier.
func (f *Feeds) neighbours(e *edition, tier beacon.Tier) func(geo.Point, float64, int) []earnings.Neighbour {
	return func(p geo.Point, withinM float64, most int) (list []earnings.Neighbour) {
		found := e.closest(p, most)
		for i := range e.items {
			found.add(i)
		}
		for _, hit := range found.hits {
			if found.metres(hit) <= withinM {
				item := &e.items[hit.item]
				uptime := int(math.Round(float64(item.Hotspot.Condition(e.at).Uptime)/100)) * 100
				list = append(list, earnings.Neighbour{Place: item.Place, Uptime: uptime, Tier: tier})
			}
		}
		return list
	}
}
