package earnings

import (
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
)

const (
	// EstimateDays is how many days an estimate is for.
	EstimateDays = 30
	// MinNeighbours is how many neighbours an estimate needs to name a range: fewer say
	// nothing about the next one.
	MinNeighbours = 5

	// neighbourhoodM is how far the hotspots stand that are compared with a planned one, and
	// mostNeighbours how many they are.
	neighbourhoodM = 5000
	mostNeighbours = 100
)

// Neighbour is what everyone may know of a hotspot that is in service.
type Neighbour struct {
	Place  geo.Point
	Uptime int // in ten-thousandths of the minutes it was expected
	Tier   beacon.Tier
}

// Estimate is what a new hotspot at a place might earn in EstimateDays days by today's
// policy, for its service alone: nobody knows what traffic it would carry. It is always
// open, and its place was visited.
type Estimate struct {
	Free       float64 // the share of its ground that no other hotspot covers
	Most       beacon.Amount
	Neighbours int
	// If it did as well as its neighbours: a quarter of them would earn less than Low
	// here, half of them less than Middle, and a quarter more than High. They are zero if
	// there are fewer than MinNeighbours.
	Low, Middle, High beacon.Amount
}

// Plan returns what each of some planned hotspots might earn if those before it were there
// first.
func (r *Earnings) Plan(ctx context.Context, _ beacon.Principal, plan []geo.Point) ([]Estimate, error) {
	estimates := make([]Estimate, len(plan))
	for i, place := range plan {
		var err error
		if estimates[i], err = r.Estimate(ctx, place, r.Nearby(place, neighbourhoodM, mostNeighbours), plan[:i]); err != nil {
			return nil, err
		}
	}
	return estimates, nil
}

// Estimate returns what a new hotspot would earn if its neighbours and the other planned
// hotspots were there first. It uses only what neighbours show to everyone, so it reveals
// nothing more about them.
func (r *Earnings) Estimate(ctx context.Context, place geo.Point, neighbours []Neighbour, planned []geo.Point) (Estimate, error) {
	const always = 10_000
	p := r.Known().On(r.Today())
	own := int64(places.Whole)
	if p.PaysPlaces() {
		day := beacon.Schedule{}.OpenMask(0)
		hotspots := make([]ground.Hotspot, 0, len(neighbours)+len(planned)+1)
		add := func(place geo.Point) {
			hotspots = append(hotspots, ground.Hotspot{Place: ground.PlaceOf(place), Served: &day})
		}
		for _, n := range neighbours {
			add(n.Place)
		}
		for _, place := range planned {
			add(place)
		}
		add(place)
		shares, err := ground.Divide(ctx, hotspots, p.Radius)
		if err != nil {
			return Estimate{}, err
		}
		own = shares[len(shares)-1].Weight() / beacon.MinutesADay
	}
	earns := func(uptime int, tier beacon.Tier) beacon.Amount {
		f := beacon.Facts{Expected: beacon.MinutesADay, Served: beacon.MinutesADay * uptime / always, Tier: tier}
		f.Ground = beacon.Ground{Counts: p.Counts(), Own: own * int64(f.Served), Proof: places.Whole}
		return EstimateDays * p.Reward(f).Total()
	}
	e := Estimate{Free: float64(own) / float64(places.Whole), Most: earns(always, beacon.Premium), Neighbours: len(neighbours)}
	if len(neighbours) < MinNeighbours {
		return e, nil
	}
	would := make([]beacon.Amount, len(neighbours))
	for i, n := range neighbours {
		would[i] = earns(n.Uptime, n.Tier)
	}
	slices.Sort(would)
	last := len(would) - 1
	e.Low, e.Middle, e.High = would[last/4], would[last/2], would[last-last/4]
	return e, nil
}
