package earnings

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// accrual adds up what a user's hotspots earned in a period.
type accrual struct {
	user  beacon.UserID
	names []beacon.OwnedName // by id: live, live on an open day, or with a sum
	sums  map[beacon.HotspotID]*HotspotSum

	// closed is the last closed day of each hotspot that has a known one.
	closed map[beacon.HotspotID]beacon.Day
}

func newAccrual(user beacon.UserID, names []beacon.OwnedName) *accrual {
	return &accrual{
		user: user, names: names, sums: make(map[beacon.HotspotID]*HotspotSum, len(names)),
		closed: make(map[beacon.HotspotID]beacon.Day, len(names)),
	}
}

// add adds s to a hotspot's sum. The tier is the one of the last day in s.
func (a *accrual) add(id beacon.HotspotID, tier beacon.Tier, s ledger.Sum) {
	sum := a.sums[id]
	if sum == nil {
		sum = &HotspotSum{HotspotName: beacon.HotspotName{ID: id}}
		a.sums[id] = sum
	}
	sum.Tier = tier
	sum.Sum = sum.Plus(s)
}

// addMonths adds the months that are not in totals yet, oldest first.
func (a *accrual) addMonths(months []ledger.HotspotMonth, totals map[beacon.HotspotID]beacon.Month) {
	for _, m := range months {
		a.closed[m.Hotspot] = max(a.closed[m.Hotspot], m.Through)
		if through, ok := totals[m.Hotspot]; !ok || through < m.Month {
			a.add(m.Hotspot, m.Tier, m.Sum)
		}
	}
}

// nameRest looks up the names of hotspots that had earned something, and were deleted or
// handed over long ago.
func (a *accrual) nameRest(ctx context.Context, b ledger.Books) error {
	rest := maps.Clone(a.sums)
	for _, n := range a.names {
		delete(rest, n.ID)
	}
	names, err := b.NamesOf(ctx, slices.Collect(maps.Keys(rest)))
	for _, n := range names {
		a.names = append(a.names, beacon.OwnedName{HotspotName: n}) // the user earns no more with it
	}
	slices.SortFunc(a.names, func(x, y beacon.OwnedName) int { return cmp.Compare(x.ID, y.ID) })
	return err
}

// each calls fn with what each hotspot has earned on a day that is not closed for it, by the
// function that will close it.
func (o *openDays) each(ctx context.Context, a *accrual, day beacon.Day, fn func(beacon.HotspotID, beacon.Tier, ledger.Sum)) error {
	facts, err := o.on(ctx, day, a.open(day))
	if err != nil {
		return err
	}
	rules := o.Known().On(day)
	for id, f := range facts {
		fn(id, f.Tier, ledger.Sum{Served: int64(f.Served), Expected: int64(f.Expected), Earned: rules.Reward(f)})
	}
	return nil
}

// open returns the hotspots whose day is the user's, and is not closed yet.
func (a *accrual) open(day beacon.Day) []beacon.HotspotID {
	ids := make([]beacon.HotspotID, 0, len(a.names))
	for _, n := range a.names {
		closed, found := a.closed[n.ID]
		gone := !n.DeletedAt.IsZero() && n.DeletedAt.Before(day.Time())
		if !gone && !(found && closed >= day) && n.On(day) == a.user {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// addInService adds the hotspots in service that no minute was counted for yet, if they are the
// user's today.
func (a *accrual) addInService(today beacon.Day, inService func(beacon.HotspotID) bool) {
	for _, n := range a.names {
		if a.sums[n.ID] == nil && n.DeletedAt.IsZero() && n.On(today) == a.user && inService != nil && inService(n.ID) {
			a.add(n.ID, beacon.Standard, ledger.Sum{})
		}
	}
}

// list returns the hotspots by id, with their names.
func (a *accrual) list() []HotspotSum {
	all := make([]HotspotSum, 0, len(a.sums))
	for _, n := range a.names {
		if sum := a.sums[n.ID]; sum != nil {
			sum.HotspotName = n.HotspotName
			all = append(all, *sum)
		}
	}
	return all
}

// total returns what all hotspots earned, and what of it was paid.
func (a *accrual) total() (earned ledger.Sum, paid Payment) {
	for _, s := range a.sums {
		earned, paid = earned.Plus(s.Sum), paid.plus(s.Payment)
	}
	return earned, paid
}
