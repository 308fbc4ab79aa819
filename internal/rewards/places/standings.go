package places

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Ordered reports whether the standings that some rules count are known as of the beginning
// of the first open day. They are not known for a moment after the first day under a policy
// that counts otherwise begins, and after days were reopened.
func (r *Divider) Ordered(ctx context.Context, v *rewards.View, rules *policy.Policy) (bool, error) {
	if !v.Begun {
		return true, nil
	}
	through, found, err := r.Store.StandingsThrough(ctx)
	return found && through.Day >= v.First-1 && through.Revision == v.Revision() && through.ADay == rules.StandingADay, err
}

// Count counts from the ledger the standings before a day, by its rules, unless they are
// known. They are not known after days under a policy that counts otherwise, or pays
// devices, and after days were reopened.
func (r *Divider) Count(ctx context.Context, held func() (lease.Lease, bool), v rewards.View, day beacon.Day) error {
	rules := r.Known().On(day)
	want := ledger.StandingsThrough{Day: day - 1, Revision: v.Revision(), ADay: rules.StandingADay}
	if is, found, err := r.Store.StandingsThrough(ctx); err != nil || found && is == want {
		return err
	}
	var days []ledger.Closing
	err := r.Ledger.Store.Books(ctx, func(b ledger.Books) (err error) {
		days, err = b.Closings(ctx)
		return err
	})
	if err != nil {
		return err
	}
	first := day
	if len(days) > 0 {
		first = min(first, days[0].Day)
	}
	under := func(write func(lease.Lease) error) error {
		l, ok := held()
		if !ok {
			return errors.New("this process no longer keeps the ledger")
		}
		return write(l)
	}
	if err := under(func(l lease.Lease) error { return r.Store.ForgetStandings(ctx, l) }); err != nil {
		return err
	}
	for next := (beacon.Owned{}); first < day; {
		owned, err := r.Store.OwnedOn(ctx, day, next, r.PageSize)
		if err != nil {
			return err
		}
		if len(owned) == 0 {
			break
		}
		next = owned[len(owned)-1]
		standings, err := r.countPage(ctx, rules, v.Reopened, first, day, owned)
		if err != nil {
			return err
		}
		if err := under(func(l lease.Lease) error { return r.Store.PutStandings(ctx, l, standings) }); err != nil {
			return err
		}
	}
	return under(func(l lease.Lease) error { return r.Store.FinishStandings(ctx, l, want) })
}

// countPage counts the standings of some hotspots, from the first closed day up to a day.
func (r *Divider) countPage(ctx context.Context, rules *policy.Policy, reopened ledger.Reopenings, from, to beacon.Day, owned []beacon.Owned) ([]ledger.Standing, error) {
	ids := make([]beacon.HotspotID, len(owned))
	for i, o := range owned {
		ids[i] = o.Hotspot
	}
	list, err := r.Store.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	hotspots := make(map[beacon.HotspotID]*beacon.Hotspot, len(list))
	for i := range list {
		hotspots[list[i].ID] = &list[i]
	}
	type at struct {
		hotspot beacon.HotspotID
		since   beacon.Day
	}
	counted := map[at]ledger.Standing{}
	for day := from; day < to; day++ {
		rows, err := RowsOf(ctx, r.Store, day, owned, func(id beacon.HotspotID) beacon.Owners { return hotspots[id].Owners() }, reopened)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			h := hotspots[row.Hotspot]
			c := r.claimOn(h, day)
			c.Proof = row.Proof
			if adds := c.Adds(rules, row.Counts, row.Served); adds > 0 {
				before := counted[at{h.ID, c.Since}].Is
				counted[at{h.ID, c.Since}] = ledger.Standing{Hotspot: h.ID, Since: c.Since, Through: day, Before: before, Is: before + adds}
			}
		}
	}
	return slices.SortedFunc(maps.Values(counted), func(a, b ledger.Standing) int {
		return cmp.Or(cmp.Compare(a.Hotspot, b.Hotspot), cmp.Compare(a.Since, b.Since))
	}), nil
}
