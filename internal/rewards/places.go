package rewards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

const (
	// recentDays is over how many closed days the rate of excused time is taken.
	recentDays = 7
	// graceDays is for how many days after places are first paid a hotspot that was
	// there before counts as proven: its operator has that long to ask for a visit.
	graceDays = 30
	// all of something that is counted in millionths.
	all = 1_000_000
)

// claim is what a hotspot brings to the division of a day's ground, and what it gets.
type claim struct {
	hotspot beacon.HotspotID
	place   beacon.Place
	proven  bool
	days    int
	served  *beacon.Minutes
	share   ground.Share
}

// first orders claims: the first of those that served a minute owns the ground.
func first(a, b *claim) int {
	switch {
	case a.proven != b.proven && a.proven:
		return -1
	case a.proven != b.proven:
		return 1
	}
	return cmp.Or(cmp.Compare(b.days, a.days), strings.Compare(string(a.hotspot), string(b.hotspot)))
}

// division is how the ground of a day is divided.
type division struct {
	day      beacon.Day
	rules    *policy.Policy
	reopened ledger.Reopenings
	claims   map[beacon.HotspotID]*claim
}

// divide divides the ground of a day among the hotspots that served on it. It depends
// only on what no longer changes once the day may be closed: its records, the visits
// before its end, and the closed days before it. So a closing that is resumed divides as
// the one before did.
func (r *Rewards) divide(ctx context.Context, v view, day beacon.Day, rules *policy.Policy) (*division, error) {
	if err := r.countStandings(ctx, v, day); err != nil {
		return nil, err
	}
	d := &division{day: day, rules: rules, reopened: v.reopened, claims: map[beacon.HotspotID]*claim{}}
	minutes := map[beacon.Minutes]*beacon.Minutes{} // most hotspots serve the same minutes: all
	for next, more := (beacon.Owned{}), true; more; {
		var records []beacon.OwnedRecord
		var err error
		if records, next, more, err = r.Store.OwnedRecords(ctx, day, next, r.pageSize); err != nil {
			return nil, err
		}
		places, err := r.placesOn(ctx, day, day, idsOf(records))
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			served, err := r.Telemetry.ServedOf(record.Data)
			if errors.Is(err, beacon.ErrDamaged) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("record of %s: %w", record.Hotspot, err)
			}
			if minutes[served] == nil {
				minutes[served] = &served
			}
			c := places[record.Hotspot]
			c.served = minutes[served]
			d.claims[record.Hotspot] = c
		}
	}
	return d, d.settle(ctx)
}

// settle gives each claim its share.
func (d *division) settle(ctx context.Context) error {
	ordered := make([]*claim, 0, len(d.claims))
	for _, c := range d.claims {
		ordered = append(ordered, c)
	}
	slices.SortFunc(ordered, first)
	hotspots := make([]ground.Hotspot, len(ordered))
	for i, c := range ordered {
		hotspots[i] = ground.Hotspot{Place: ground.PlaceOf(c.place.Point), Served: c.served}
	}
	shares, err := ground.Divide(ctx, hotspots, d.rules.Radius)
	for i := range shares {
		ordered[i].share = shares[i]
	}
	return err
}

// ground returns what a row says of the ground, but for the rate of excused time.
func (d *division) ground(hotspot beacon.HotspotID) beacon.Ground {
	c := d.claims[hotspot]
	place := ground.PlaceOf(c.place.Point)
	g := beacon.Ground{
		Own: c.share.Weight(), Proof: all, Days: c.days, Lat: place.Lat, Lng: place.Lng,
		Shared: int(c.share.Minutes), Older: int(c.share.Older),
	}
	if !c.proven {
		g.Proof = int64(d.rules.Unproven)
	}
	return g
}

// standing returns the standing of a row's hotspot with its day.
func (d *division) standing(row *ledger.Row) ledger.Standing {
	s := ledger.Standing{Hotspot: row.Hotspot, Since: d.claims[row.Hotspot].place.Since, Through: d.day, Before: row.Days, Days: row.Days}
	if row.Served >= ledger.ServedADay {
		s.Days++
	}
	return s
}

// placesFrom returns the first day on which places are paid.
func (r *Rewards) placesFrom() beacon.Day {
	for _, p := range r.book() {
		if p.PaysPlaces() {
			return p.From
		}
	}
	return 0
}

func idsOf(records []beacon.OwnedRecord) []beacon.HotspotID {
	ids := make([]beacon.HotspotID, len(records))
	for i := range records {
		ids[i] = records[i].Hotspot
	}
	return ids
}

// placesOn returns the claims of hotspots on a day, with their places and on how many days
// they had served there when an earlier day began, or this one.
func (r *Rewards) placesOn(ctx context.Context, day, begun beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]*claim, error) {
	hotspots, err := r.Store.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	standings, err := r.Store.Standings(ctx, ids)
	if err != nil {
		return nil, err
	}
	from := r.placesFrom()
	claims := make(map[beacon.HotspotID]*claim, len(hotspots))
	for i := range hotspots {
		place := hotspots[i].PlaceOn(day)
		claims[hotspots[i].ID] = &claim{
			hotspot: hotspots[i].ID, place: place,
			proven: place.Proven(day) || place.Since < from && day < from+graceDays,
		}
	}
	for _, s := range standings {
		if c := claims[s.Hotspot]; c != nil && c.place.Since == s.Since {
			c.days = s.On(begun)
		}
	}
	for _, id := range ids {
		if claims[id] == nil {
			return nil, fmt.Errorf("hotspot %s has a record but no row", id)
		}
	}
	return claims, nil
}

// recent returns what hotspots owned of each minute expected of them on the last days at
// their places, in millionths, given the rows of these days. Under a policy that pays
// devices that is what they served.
func recent(d *division, rowsOf func(beacon.Day) ([]ledger.Row, error)) (map[beacon.HotspotID]int64, error) {
	type sum struct{ own, expected int64 }
	sums := map[beacon.HotspotID]sum{}
	for day := d.day - recentDays; day < d.day; day++ {
		rows, err := rowsOf(day)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			c := d.claims[row.Hotspot]
			if c == nil || day < c.place.Since {
				continue
			}
			own := row.Own
			if row.Proof == 0 {
				own = all * int64(row.Served)
			}
			s := sums[row.Hotspot]
			sums[row.Hotspot] = sum{s.own + own, s.expected + int64(row.Expected)}
		}
	}
	rates := make(map[beacon.HotspotID]int64, len(sums))
	for id, s := range sums {
		if s.expected > 0 {
			rates[id] = s.own / s.expected
		}
	}
	return rates, nil
}

// complete adds to the facts of a page what a policy that pays places needs: the ground,
// the tier at the beginning of the day, which is the one at the end of the day before,
// and the rate of excused time if there is any.
func (r *Rewards) complete(ctx context.Context, d *division, rows []ledger.Row) error {
	if len(rows) == 0 {
		return nil
	}
	ids, excused := make([]beacon.HotspotID, len(rows)), false
	for i := range rows {
		ids[i] = rows[i].Hotspot
		excused = excused || rows[i].Excused > 0
	}
	before, err := r.Store.Records(ctx, d.day-1, ids)
	if err != nil {
		return err
	}
	var rates map[beacon.HotspotID]int64
	if excused {
		rates, err = recent(d, func(day beacon.Day) ([]ledger.Row, error) {
			return r.Store.HeldRows(ctx, day, rows[0].Owned, rows[len(rows)-1].Owned, d.reopened)
		})
		if err != nil {
			return err
		}
	}
	for i := range rows {
		row := &rows[i]
		if d.claims[row.Hotspot] == nil {
			return fmt.Errorf("the record of %s was written while its day was being closed", row.Hotspot)
		}
		row.Ground, row.Tier = d.ground(row.Hotspot), beacon.Standard
		if data, any := before[row.Hotspot]; any {
			switch facts, err := r.Telemetry.FactsOf(data); {
			case err == nil:
				row.Tier = facts.Tier
			case !errors.Is(err, beacon.ErrDamaged):
				return fmt.Errorf("record of %s: %w", row.Hotspot, err)
			}
		}
		if row.Excused > 0 {
			row.Recent = rates[row.Hotspot]
		}
		row.Earned = d.rules.Reward(row.Facts)
	}
	return nil
}

// countAhead counts standings when nothing can be closed, so that what is shown of the
// open days does not have to wait for the closing of the first of them.
func (r *Rewards) countAhead(ctx context.Context, v view) error {
	if _, keeper := r.Keeper(); !keeper || !v.begun || !r.book().On(v.first).PaysPlaces() {
		return nil
	}
	return r.countStandings(ctx, v, v.first)
}

// countStandings counts from the ledger on how many days hotspots have served where they
// are, unless that is known through the day before. It is after days under a policy that
// pays devices, and after days were opened again.
func (r *Rewards) countStandings(ctx context.Context, v view, day beacon.Day) error {
	want := ledger.StandingsThrough{Day: day - 1, Revision: v.revision()}
	if is, any, err := r.Store.StandingsThrough(ctx); err != nil || any && is == want {
		return err
	}
	var days []ledger.Closing
	err := r.Store.Books(ctx, func(b ledger.Books) (err error) {
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
		held, ok := r.Keeper()
		if !ok {
			return errors.New("this process no longer keeps the ledger")
		}
		return write(held)
	}
	if err := under(func(l lease.Lease) error { return r.Store.ForgetStandings(ctx, l) }); err != nil {
		return err
	}
	for next, more := (beacon.Owned{}), first < day; more; {
		owned, err := r.Store.OwnedPage(ctx, next, r.pageSize)
		if err != nil {
			return err
		}
		if more = len(owned) > 0; !more {
			break
		}
		next = owned[len(owned)-1]
		standings, err := r.countPage(ctx, v.reopened, first, day, owned)
		if err != nil {
			return err
		}
		if err := under(func(l lease.Lease) error { return r.Store.PutStandings(ctx, l, standings) }); err != nil {
			return err
		}
	}
	return under(func(l lease.Lease) error { return r.Store.FinishStandings(ctx, l, want) })
}

// countPage counts the days of some hotspots, from the first closed day up to a day.
func (r *Rewards) countPage(ctx context.Context, reopened ledger.Reopenings, from, to beacon.Day, owned []beacon.Owned) ([]ledger.Standing, error) {
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
	counted := map[at]*ledger.Standing{}
	for day := from; day < to; day++ {
		rows, err := r.Store.HeldRows(ctx, day, owned[0], owned[len(owned)-1], reopened)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			h := hotspots[row.Hotspot]
			if h == nil || row.Served < ledger.ServedADay {
				continue
			}
			since := h.PlaceOn(day).Since
			s := counted[at{h.ID, since}]
			if s == nil {
				s = &ledger.Standing{Hotspot: h.ID, Since: since}
				counted[at{h.ID, since}] = s
			}
			s.Through, s.Before, s.Days = day, s.Days, s.Days+1
		}
	}
	standings := make([]ledger.Standing, 0, len(counted))
	for _, s := range counted {
		standings = append(standings, *s)
	}
	slices.SortFunc(standings, func(a, b ledger.Standing) int {
		return cmp.Or(strings.Compare(string(a.Hotspot), string(b.Hotspot)), cmp.Compare(a.Since, b.Since))
	})
	return standings, nil
}
