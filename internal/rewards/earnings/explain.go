package earnings

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

var (
	errNoHotspot   = beacon.NoSuch("hotspot")
	errNotOperator = &beacon.Error{Kind: beacon.Forbidden, Message: "only the operator of a hotspot may see its rewards: who earned with it on the day"}
)

// Explain returns what a hotspot's day could have earned, what it lost and why, and
// what it earned (decision X6). The hotspot may have been deleted since.
func (r *Earnings) Explain(ctx context.Context, p beacon.Principal, q ExplainQuery) (Explanation, error) {
	today := r.Today()
	day := today
	if q.Day != nil {
		day = *q.Day
	}
	if day > today {
		var faults beacon.Faults
		faults.Add("date", "must not be in the future")
		return Explanation{}, faults.Err()
	}
	if !id.Valid(beacon.HotspotPrefix, string(q.Hotspot)) {
		return Explanation{}, errNoHotspot
	}
	e := Explanation{Hotspot: q.Hotspot, Day: day}
	days, row, written, err := r.readDay(ctx, p, &e)
	if err != nil {
		return Explanation{}, err
	}
	if born, _ := id.Parse(beacon.HotspotPrefix, string(q.Hotspot)); !written && day < beacon.DayOf(born.Time()) {
		var faults beacon.Faults
		faults.Add("date", "must not be before the hotspot was registered, on "+beacon.DayOf(born.Time()).String())
		return Explanation{}, faults.Err()
	}
	switch {
	case written:
		e.Facts = row.Facts
		if e.Policy, err = r.ByVersion(ctx, row.Policy); err != nil {
			return Explanation{}, err
		}
		if e.Policy.Reward(row.Facts) != row.Earned || e.Policy.CheckGround(&row.Facts) != nil {
			return Explanation{}, rewards.Mismatch(row.User, row.Day.String())
		}
	case e.Open:
		facts, err := days.on(ctx, day, []beacon.HotspotID{q.Hotspot})
		if err != nil {
			return Explanation{}, err
		}
		known := false
		if e.Facts, known = facts[q.Hotspot]; !known && day < today {
			e.Facts = r.unrecorded(q.Hotspot, day)
		}
		e.Policy = r.Known().On(day)
		e.Uncounted = e.Policy.PaysPlaces() && !days.as.ordered
	default:
		e.Facts, e.Policy = r.unrecorded(q.Hotspot, day), r.Known().On(day)
	}
	if e.Policy.PaysPlaces() {
		if err := r.addPlace(ctx, &e); err != nil {
			return Explanation{}, err
		}
	}
	e.Account = e.Policy.Explain(e.Facts)
	return e, nil
}

// addPlace adds what was known of the place, and makes the facts coarse where homes are hidden.
func (r *Earnings) addPlace(ctx context.Context, e *Explanation) error {
	hotspots, err := r.Places.HotspotsByID(ctx, []beacon.HotspotID{e.Hotspot})
	if err != nil {
		return err
	}
	found := false
	for i := range hotspots {
		place := hotspots[i].PlaceOn(e.Day)
		e.Measured, found = place.Test, !place.ProvenAt.IsZero()
	}
	if r.HidesHomes != nil && r.HidesHomes() {
		e.Facts, e.Approximate = coarse(e.Policy, e.Facts, found)
	}
	return nil
}

// unrecorded returns the facts of a day that has no record: the service was down, or the
// hotspot was not in service.
func (r *Earnings) unrecorded(hotspot beacon.HotspotID, day beacon.Day) beacon.Facts {
	if r.Unrecorded != nil {
		if facts, known := r.Unrecorded(hotspot, day); known {
			return facts
		}
	}
	return beacon.Facts{Outside: beacon.MinutesADay}
}

// readDay reads the row of a day, and whether the day is still open. It checks that p
// may see it.
func (r *Earnings) readDay(ctx context.Context, p beacon.Principal, e *Explanation) (days *openDays, row ledger.Row, written bool, err error) {
	settled := false
	var user beacon.UserID
	v, err := r.View(ctx, func(v rewards.View, b ledger.Books) error {
		whose, found, err := b.Whose(ctx, e.Hotspot)
		user = whose.On(e.Day)
		switch {
		case err != nil:
			return err
		case !found:
			return errNoHotspot
		case !p.MayActFor(user):
			return errNotOperator
		}
		if _, settled, err = b.Statement(ctx, user, e.Day.Month()); err != nil {
			return err
		}
		if row, written, err = b.Row(ctx, e.Day, beacon.Owned{User: user, Hotspot: e.Hotspot}); err != nil {
			return err
		}
		e.Open = !written && e.Day >= v.First
		e.Hold, e.Payment, err = holdOf(ctx, b, row, e.Day, beacon.Owned{User: user, Hotspot: e.Hotspot}, e.Open)
		return err
	})
	if err != nil {
		return nil, row, false, err
	}
	e.Status = r.StatusOf(v, e.Day.Month(), settled)
	if e.Payment == "" && e.Status == rewards.Settled {
		e.Payment = IsSettled
	} else if e.Payment == "" {
		e.Payment = IsPending
	}
	return r.openDays(v), row, written, nil
}
