package earnings

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/places"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// openDays computes days that are not closed, for one response.
// Under a policy that pays places it divides the ground among these and the hotspots
// around them as closing divides it among all, so once a day is over it says what closing
// will write. Only minutes that are decided count, and the order of the hotspots is fixed
// when a day begins, so what a day has earned does not fall.
type openDays struct {
	*Earnings
	view rewards.View
	as   asOf

	did   map[hotspotDay]beacon.Did
	facts map[hotspotDay]beacon.Facts
}

type hotspotDay struct {
	hotspot beacon.HotspotID
	day     beacon.Day
}

func (r *Earnings) openDays(v rewards.View) *openDays {
	return &openDays{
		Earnings: r, view: v,
		as:  asOf{minute: beacon.MinuteOf(r.Clock.Now()), first: v.First, revision: v.Revision(), policies: len(r.Known())},
		did: map[hotspotDay]beacon.Did{}, facts: map[hotspotDay]beacon.Facts{},
	}
}

// on returns the facts of a day. Hotspots with nothing that counts are left out.
func (o *openDays) on(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Facts, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rules := o.Known().On(day)
	if !rules.PaysPlaces() {
		return o.Telemetry.Facts(ctx, day, ids)
	}
	var err error
	if o.as.ordered, err = o.places.Ordered(ctx, &o.view, rules); err != nil {
		return nil, err
	}
	o.computed.get(o.as, day, ids, o.facts)
	if rest := missing(o.facts, day, ids); len(rest) > 0 {
		if err := o.byPlace(ctx, day, rules, rest); err != nil {
			return nil, err
		}
		o.computed.put(o.as, day, rest, o.facts)
	}
	facts := make(map[beacon.HotspotID]beacon.Facts, len(ids))
	for _, id := range ids {
		if f := o.facts[hotspotDay{id, day}]; !f.None() {
			facts[id] = f
		}
	}
	return facts, nil
}

// decide finds out what hotspots did in the decided minutes of a day.
func (o *openDays) decide(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) error {
	rest := missing(o.did, day, ids)
	if len(rest) == 0 {
		return nil
	}
	did, err := o.Telemetry.Decided(ctx, day, rest)
	if err != nil {
		return err
	}
	for _, id := range rest {
		o.did[hotspotDay{id, day}] = did[id]
	}
	return nil
}

// missing returns the hotspots whose day is not known yet.
func missing[T any](known map[hotspotDay]T, day beacon.Day, ids []beacon.HotspotID) (rest []beacon.HotspotID) {
	for _, id := range ids {
		if _, ok := known[hotspotDay{id, day}]; !ok {
			rest = append(rest, id)
		}
	}
	return rest
}

// byPlace finds out the facts of a day on which places are paid.
func (o *openDays) byPlace(ctx context.Context, day beacon.Day, rules *policy.Policy, ids []beacon.HotspotID) error {
	d, err := o.divideAround(ctx, day, rules, ids)
	if err != nil {
		return err
	}
	if err := o.decide(ctx, day-1, ids); err != nil {
		return err
	}
	rates, err := o.excuse(ctx, d, ids)
	if err != nil {
		return err
	}
	spare, err := o.spare(ctx, d, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		f := o.did[hotspotDay{id, day}].Facts
		f.Ground, f.Tier = d.Ground(id), min(o.did[hotspotDay{id, day - 1}].Tier, d.Claims[id].AtMost)
		if f.Excused > 0 && f.Proof > 0 {
			f.Recent = rates[id]
		}
		if f.Proof > 0 {
			f.Spare = spare[id]
		}
		o.facts[hotspotDay{id, day}] = f
	}
	return nil
}

// excuse adds to the claims of a division what their excused minutes come to, and returns the
// rates at which these are paid.
func (o *openDays) excuse(ctx context.Context, d *places.Division, ids []beacon.HotspotID) (map[beacon.HotspotID]int64, error) {
	excused := map[beacon.HotspotID]*beacon.Minutes{}
	for _, id := range ids {
		if did := o.did[hotspotDay{id, d.Day}]; did.Facts.Excused > 0 {
			excused[id] = new(did.ExcusedMinutes)
		}
	}
	if len(excused) == 0 {
		return nil, nil
	}
	err := d.AddDue(excused, func(past beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
		if err := o.decide(ctx, past, ids); err != nil {
			return nil, err
		}
		did := make(map[beacon.HotspotID]beacon.Did, len(ids))
		for _, id := range ids {
			did[id] = o.did[hotspotDay{id, past}]
		}
		return did, nil
	})
	if err != nil {
		return nil, err
	}
	of := slices.Sorted(maps.Keys(excused))
	return places.Recent(d, of, func(past beacon.Day) ([]ledger.Row, error) { return o.rows(ctx, d, past, of) })
}

// spare returns what the day before leaves for traffic. That day must be decided.
func (o *openDays) spare(ctx context.Context, d *places.Division, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Amount, error) {
	day := d.Day
	ids = slices.DeleteFunc(slices.Clone(ids), func(id beacon.HotspotID) bool { return o.did[hotspotDay{id, day - 1}].Facts.Excused == 0 })
	if len(ids) == 0 || d.Rules.Counts() != beacon.InMinutes {
		return nil, nil
	}
	rows, err := o.rows(ctx, d, day-1, ids)
	before, left := o.Known().On(day-1), make(map[beacon.HotspotID]beacon.Amount, len(rows))
	for i := range rows {
		left[rows[i].Hotspot] = before.Spare(rows[i].Facts, before.Reward(rows[i].Facts).Utilization)
	}
	return left, err
}

// rows returns the rows of a day before that of a division, or what they will say of its facts.
func (o *openDays) rows(ctx context.Context, d *places.Division, day beacon.Day, ids []beacon.HotspotID) (rows []ledger.Row, err error) {
	if day < o.view.First {
		owned := make([]beacon.Owned, len(ids))
		for i, id := range ids {
			owned[i] = beacon.Owned{User: d.Claims[id].Owners.On(d.Day), Hotspot: id}
		}
		slices.SortFunc(owned, beacon.Owned.Compare)
		return d.RowsOf(ctx, o.places.Store, day, owned)
	}
	facts, err := o.on(ctx, day, ids)
	for id, f := range facts {
		rows = append(rows, ledger.Row{Day: day, Owned: beacon.Owned{User: d.Claims[id].Owners.On(day), Hotspot: id}, Facts: f})
	}
	return rows, err
}

// divideAround divides the ground around some hotspots. What they get depends on those at most
// two radii away alone. Nothing is divided before the order is known.
func (o *openDays) divideAround(ctx context.Context, day beacon.Day, rules *policy.Policy, ids []beacon.HotspotID) (*places.Division, error) {
	claims, err := o.claims(ctx, day, ids)
	if err != nil {
		return nil, err
	}
	d := &places.Division{Day: day, Rules: rules, Claims: claims, Reopened: o.view.Reopened}
	if !o.as.ordered {
		return d, nil
	}
	others := map[beacon.HotspotID]bool{}
	for _, c := range claims {
		o.Around(c.Point, float64(2*rules.Radius), func(id beacon.HotspotID) {
			if claims[id] == nil {
				others[id] = true
			}
		})
	}
	// Those around come after the user's own: a minute that ends meanwhile may be counted
	// for them alone, and not only for the user.
	around := slices.Collect(maps.Keys(others))
	if err := o.decide(ctx, day, around); err != nil {
		return nil, err
	}
	around = slices.DeleteFunc(around, func(id beacon.HotspotID) bool { return o.did[hotspotDay{id, day}].Served == 0 })
	theirs, err := o.claims(ctx, day, around)
	if err != nil {
		return nil, err
	}
	maps.Copy(claims, theirs)
	return d, o.places.Assign(ctx, d)
}

// claims returns what hotspots bring to a day. The open days before it count too.
func (o *openDays) claims(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]*places.Claim, error) {
	if err := o.decide(ctx, day, ids); err != nil {
		return nil, err
	}
	claims, err := o.places.On(ctx, day, o.view.First, ids)
	if err != nil {
		return nil, err
	}
	for id, c := range claims {
		served := o.did[hotspotDay{id, day}].Minutes
		c.Served = &served
	}
	rules := o.Known().On(day)
	for past := o.view.First; past < day; past++ {
		if err := o.decide(ctx, past, ids); err != nil {
			return nil, err
		}
		then, err := o.places.On(ctx, past, o.view.First, ids)
		if err != nil {
			return nil, err
		}
		for id, c := range claims {
			if was := then[id]; was.Since == c.Since {
				c.Standing += was.Adds(rules, o.Known().On(past).Counts(), o.did[hotspotDay{id, past}].Served)
			}
		}
	}
	return claims, nil
}

// computed keeps what was computed of open days under a policy that pays places, for the
// rest of the minute: until then no other minute is decided. Asking again costs little, and
// the memory is bounded.
type computed struct {
	mu    sync.Mutex
	as    asOf
	facts map[hotspotDay]beacon.Facts
}

// maxComputed is how many hotspots' days are kept, of some 200 bytes each.
const maxComputed = 20_000

// asOf is what computed facts depend on, besides the hotspot and the day.
type asOf struct {
	minute   beacon.Minute
	first    beacon.Day // that is not closed
	revision int64
	policies int
	ordered  bool
}

// get adds what is kept of a day.
func (c *computed) get(as asOf, day beacon.Day, ids []beacon.HotspotID, to map[hotspotDay]beacon.Facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if f, kept := c.facts[hotspotDay{id, day}]; kept && as == c.as {
			to[hotspotDay{id, day}] = f
		}
	}
}

// put keeps what was computed of a day. A slow request of the minute before does not
// replace what is kept; one of an earlier minute does, because the clock was set back.
func (c *computed) put(as asOf, day beacon.Day, ids []beacon.HotspotID, from map[hotspotDay]beacon.Facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if as != c.as && as.minute+1 != c.as.minute {
		c.as, c.facts = as, map[hotspotDay]beacon.Facts{}
	}
	for _, id := range ids {
		if as == c.as && len(c.facts) < maxComputed {
			c.facts[hotspotDay{id, day}] = from[hotspotDay{id, day}]
		}
	}
}
