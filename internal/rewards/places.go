package rewards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
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
	// whole is all of something that is counted in millionths.
	whole = 1_000_000
)

// claim is what a hotspot brings to the division of a day's ground, and what it gets.
type claim struct {
	hotspot beacon.HotspotID
	point   geo.Point
	since   beacon.Day // the first day of its place
	proven  bool
	days    int
	atMost  beacon.Tier // what the last visit measured
	served  *beacon.Minutes
	facts   beacon.Facts // without the ground; only of a whole day
	share   ground.Share
}

// compareClaims orders claims: of those that served a minute, the first owns the ground.
func compareClaims(a, b *claim) int {
	switch {
	case a.proven == b.proven:
		return cmp.Or(cmp.Compare(b.days, a.days), cmp.Compare(a.hotspot, b.hotspot))
	case a.proven:
		return -1
	default:
		return 1
	}
}

// division is how the ground of a day is divided.
type division struct {
	day      beacon.Day
	rules    *policy.Policy
	reopened ledger.Reopenings
	claims   map[beacon.HotspotID]*claim
	byID     []*claim // those of a whole day
}

// divide divides the ground of a day among the hotspots that served on it. It depends
// only on what no longer changes once the day may be closed: its records, the visits
// before its end, and the closed days before it. So a closing that is resumed divides as
// the one before did.
//
// All that the rows of the day say is read here, in the order of the tables: looking it up
// for each row, in the order of users, would take three times as long.
func (r *Rewards) divide(ctx context.Context, v view, day beacon.Day, rules *policy.Policy) (*division, error) {
	if err := r.countStandings(ctx, v, day); err != nil {
		return nil, err
	}
	d := &division{day: day, rules: rules, reopened: v.reopened, claims: map[beacon.HotspotID]*claim{}}
	minutes := map[beacon.Minutes]*beacon.Minutes{} // most hotspots serve the same minutes: all
	for after := beacon.HotspotID(""); ; {
		records, err := r.Store.RecordPage(ctx, day, after, r.pageSize)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return d, d.assign(ctx)
		}
		after = records[len(records)-1].Hotspot
		if err := r.claim(ctx, d, records, minutes); err != nil {
			return nil, err
		}
	}
}

// claim adds the hotspots of some records to a division. A damaged record earns nothing
// and does not hold up the others. The tier is that of the beginning of the day, which is
// the one at the end of the day before, and at most what the last visit measured.
func (r *Rewards) claim(ctx context.Context, d *division, records []beacon.RecordRow, minutes map[beacon.Minutes]*beacon.Minutes) error {
	ids := make([]beacon.HotspotID, len(records))
	for i := range records {
		ids[i] = records[i].Hotspot
	}
	claims, err := r.placesOn(ctx, d.day, d.day, ids)
	if err != nil {
		return err
	}
	before, err := r.Store.Records(ctx, d.day-1, ids)
	if err != nil {
		return err
	}
	for _, record := range records {
		did, err := r.Telemetry.DidOf(record.Data)
		if errors.Is(err, beacon.ErrDamaged) {
			r.Log.Error("a heartbeat record is damaged and earns nothing", "hotspot", record.Hotspot, "day", d.day.String(), "err", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("record of %s: %w", record.Hotspot, err)
		}
		if minutes[did.Minutes] == nil {
			served := did.Minutes
			minutes[served] = &served
		}
		c := claims[record.Hotspot]
		c.served, c.facts = minutes[did.Minutes], did.Facts
		if c.facts.Tier, err = r.tierAfter(before[record.Hotspot]); err != nil {
			return fmt.Errorf("record of %s: %w", record.Hotspot, err)
		}
		c.facts.Tier = min(c.facts.Tier, c.atMost)
		d.claims[record.Hotspot] = c
		d.byID = append(d.byID, c)
	}
	return nil
}

// tierAfter returns the tier at the end of a day with a record, or standard if it is nil or
// damaged.
func (r *Rewards) tierAfter(record []byte) (beacon.Tier, error) {
	if record == nil {
		return beacon.Standard, nil
	}
	did, err := r.Telemetry.DidOf(record)
	if errors.Is(err, beacon.ErrDamaged) {
		return beacon.Standard, nil
	}
	return did.Tier, err
}

// assign gives each claim its share.
func (d *division) assign(ctx context.Context) error {
	ordered := slices.SortedFunc(maps.Values(d.claims), compareClaims)
	hotspots := make([]ground.Hotspot, len(ordered))
	for i, c := range ordered {
		hotspots[i] = ground.Hotspot{Place: ground.PlaceOf(c.point), Served: c.served}
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
	place := ground.PlaceOf(c.point)
	g := beacon.Ground{
		Own: c.share.Weight(), Proof: whole, Days: c.days, Lat: place.Lat, Lng: place.Lng,
		Shared: int(c.share.Minutes), Older: int(c.share.Older),
	}
	if !c.proven {
		g.Proof = int64(d.rules.Unproven)
	}
	return g
}

// standings returns the standings of the hotspots that have a row, with their day, by
// hotspot.
func (d *division) standings() []ledger.Standing {
	standings := make([]ledger.Standing, 0, len(d.byID))
	for _, c := range d.byID {
		if c.facts.None() {
			continue
		}
		s := ledger.Standing{Hotspot: c.hotspot, Since: c.since, Through: d.day, Before: c.days, Days: c.days}
		if c.facts.Served >= ledger.ServedADay {
			s.Days++
		}
		standings = append(standings, s)
	}
	return standings
}

// rows makes the rows of a page of hotspots.
func (r *Rewards) rows(ctx context.Context, d *division, owned []beacon.Owned) ([]ledger.Row, error) {
	rows, excused := make([]ledger.Row, 0, len(owned)), false
	for _, o := range owned {
		c := d.claims[o.Hotspot]
		if c == nil || c.facts.None() {
			continue
		}
		f := c.facts
		f.Ground = d.ground(o.Hotspot)
		rows = append(rows, rowOf(d.day, o, f, d.rules))
		excused = excused || f.Excused > 0
	}
	if !excused {
		return rows, nil
	}
	rates, err := recent(d, func(day beacon.Day) ([]ledger.Row, error) {
		return r.Store.ValidRows(ctx, day, rows[0].Owned, rows[len(rows)-1].Owned, d.reopened)
	})
	for i := range rows {
		if row := &rows[i]; row.Excused > 0 {
			row.Recent = rates[row.Hotspot]
			row.Earned = d.rules.Reward(row.Facts)
		}
	}
	return rows, err
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
	from, _ := r.policySet().PlacesFrom()
	claims := make(map[beacon.HotspotID]*claim, len(hotspots))
	memory := make([]claim, len(hotspots))
	for i := range hotspots {
		place := hotspots[i].PlaceOn(day)
		memory[i] = claim{
			hotspot: hotspots[i].ID, point: place.Point, since: place.Since, atMost: place.Test.AtMost(),
			proven: place.Proven(day) || place.Since < from && day < from+graceDays,
		}
		claims[hotspots[i].ID] = &memory[i]
		if r.asPaid != nil && hotspots[i].PlaceErased() {
			if err := r.asPaid(ctx, day, beacon.Owned{User: hotspots[i].Operator, Hotspot: hotspots[i].ID}, &memory[i]); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range standings {
		if c := claims[s.Hotspot]; c != nil && c.since == s.Since {
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

// DaysServed returns on how many closed days hotspots have served where they are, which
// decides who is paid for the ground. It returns nil if that is not counted: places are not
// paid, or it is being counted.
func (r *Rewards) DaysServed(ctx context.Context, ids []beacon.HotspotID) (map[beacon.HotspotID]int, error) {
	v, err := r.view(ctx, nil)
	if err != nil {
		return nil, err
	}
	today := r.today()
	if ordered, err := r.openDays(v, "").ordered(ctx); err != nil || !ordered || !r.policySet().On(today).PaysPlaces() {
		return nil, err
	}
	claims, err := r.placesOn(ctx, today, v.first, ids)
	if err != nil {
		return nil, err
	}
	days := make(map[beacon.HotspotID]int, len(claims))
	for id, c := range claims {
		days[id] = c.days
	}
	return days, nil
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
			if c == nil || day < c.since {
				continue
			}
			own := row.Own
			if row.Proof == 0 {
				own = whole * int64(row.Served)
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

// countAhead counts standings when nothing can be closed, so that what is shown of the
// open days does not have to wait for the closing of the first of them.
func (r *Rewards) countAhead(ctx context.Context, v view) error {
	if _, holder := r.Lease(); !holder || !v.begun || !r.policySet().On(v.first).PaysPlaces() {
		return nil
	}
	return r.countStandings(ctx, v, v.first)
}

// countStandings counts from the ledger on how many days hotspots have served where they
// are, unless that is known through the day before. It is not known after days under a
// policy that pays devices, and after days were reopened.
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
		held, ok := r.Lease()
		if !ok {
			return errors.New("this process no longer keeps the ledger")
		}
		return write(held)
	}
	if err := under(func(l lease.Lease) error { return r.Store.ForgetStandings(ctx, l) }); err != nil {
		return err
	}
	for next := (beacon.Owned{}); first < day; {
		owned, err := r.Store.OwnedPage(ctx, next, r.pageSize)
		if err != nil {
			return err
		}
		if len(owned) == 0 {
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
	counted := map[at]ledger.Standing{}
	for day := from; day < to; day++ {
		rows, err := r.Store.ValidRows(ctx, day, owned[0], owned[len(owned)-1], reopened)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			h := hotspots[row.Hotspot]
			if h == nil || row.Served < ledger.ServedADay {
				continue
			}
			since := h.PlaceOn(day).Since
			before := counted[at{h.ID, since}].Days
			counted[at{h.ID, since}] = ledger.Standing{Hotspot: h.ID, Since: since, Through: day, Before: before, Days: before + 1}
		}
	}
	return slices.SortedFunc(maps.Values(counted), func(a, b ledger.Standing) int {
		return cmp.Or(cmp.Compare(a.Hotspot, b.Hotspot), cmp.Compare(a.Since, b.Since))
	}), nil
}
