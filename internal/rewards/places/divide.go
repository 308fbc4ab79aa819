// Package places decides who is paid for which place on a day: each hotspot claims the
// ground around it, and those that have served there on more days come first. Package ground
// divides it.
//
// Its one invariant: a day is divided by what no longer changes once it may be closed, so a
// closing that is resumed divides as the one before did.
package places

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// RecentDays is over how many closed days the rate of excused time is taken. If standing is
// counted in minutes, these are days on which the hotspot served, at most LookBackDays ago.
const (
	RecentDays   = 7
	LookBackDays = 30
)

// Whole is all of something that is counted in millionths.
const Whole = 1_000_000

// Store is what this package needs of a database.
type Store interface {
	HotspotsByID(ctx context.Context, ids []beacon.HotspotID) ([]beacon.Hotspot, error)
	RecordPage(ctx context.Context, day beacon.Day, after beacon.HotspotID, limit int) ([]beacon.RecordRow, error)
	Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)
	OwnedOn(ctx context.Context, day beacon.Day, after beacon.Owned, limit int) ([]beacon.Owned, error)
	ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error)

	Standings(ctx context.Context, ids []beacon.HotspotID) ([]ledger.Standing, error)
	StandingsThrough(ctx context.Context) (through ledger.StandingsThrough, found bool, err error)
	ForgetStandings(ctx context.Context, l lease.Lease) error
	PutStandings(ctx context.Context, l lease.Lease, standings []ledger.Standing) error
	FinishStandings(ctx context.Context, l lease.Lease, through ledger.StandingsThrough) error
}

// Divider divides the ground of days.
type Divider struct {
	*rewards.Ledger
	Store Store
	// DidOf decodes the record of a day that is over. It returns beacon.ErrDamaged for a
	// record that no version can read. Only Divide needs it, and Log.
	DidOf func(record []byte) (beacon.Did, error)
	Log   *slog.Logger

	// Ground divides it; nil: ground.Divide. A closing of many days can remember what it
	// divided before.
	Ground func(ctx context.Context, hotspots []ground.Hotspot, radiusM int) ([]ground.Share, error)

	// AsPaid sets what the ledger says of a hotspot whose place was erased; nil: nothing does.
	AsPaid func(ctx context.Context, day beacon.Day, of beacon.Owned, c *Claim) error
}

// Claim is what a hotspot brings to the division of a day's ground, and what it gets.
type Claim struct {
	Hotspot beacon.HotspotID
	beacon.Owners
	Point geo.Point
	Since beacon.Day // the first day of its place
	Began beacon.Day // the first day since it is there without a break
	Proof int64      // the share that is paid, in millionths; without any, it owns nothing

	Standing int         // before the day
	AtMost   beacon.Tier // what the last visit measured
	Served   *beacon.Minutes
	Facts    beacon.Facts // without the ground; only of a whole day
	Due      int64        // of the excused minutes, as a row has it
	Spare    bool         // the day before had excused minutes: see policy.Spare

	proven, found bool // the place: now, and whether an exact visit has found the hotspot there
	share         ground.Share
}

// compareClaims orders claims: of those that served a minute, the first owns the ground.
func compareClaims(a, b *Claim) int {
	switch {
	case a.proven == b.proven:
		return cmp.Or(cmp.Compare(b.Standing, a.Standing), cmp.Compare(a.Hotspot, b.Hotspot))
	case a.proven:
		return -1
	default:
		return 1
	}
}

// Division is how the ground of a day is divided.
type Division struct {
	Day      beacon.Day
	Rules    *policy.Policy
	Reopened ledger.Reopenings
	Claims   map[beacon.HotspotID]*Claim

	byID []*Claim // those of a whole day
}

// Divide divides the ground of a day among the hotspots that served on it. It depends
// only on what no longer changes once the day may be closed: its records, the visits
// before its end, and the closed days before it. So a closing that is resumed divides as
// the one before did. The standings before the day must have been counted.
//
// All that the rows of the day say is read here, in the order of the tables: looking it up
// for each row, in the order of users, would take three times as long.
func (r *Divider) Divide(ctx context.Context, reopened ledger.Reopenings, day beacon.Day, rules *policy.Policy) (*Division, error) {
	d := &Division{Day: day, Rules: rules, Reopened: reopened, Claims: map[beacon.HotspotID]*Claim{}}
	minutes := map[beacon.Minutes]*beacon.Minutes{} // most hotspots serve the same minutes: all
	for after := beacon.HotspotID(""); ; {
		records, err := r.Store.RecordPage(ctx, day, after, r.PageSize)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return d, r.Assign(ctx, d)
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
func (r *Divider) claim(ctx context.Context, d *Division, records []beacon.RecordRow, minutes map[beacon.Minutes]*beacon.Minutes) error {
	ids := make([]beacon.HotspotID, len(records))
	for i := range records {
		ids[i] = records[i].Hotspot
	}
	claims, err := r.On(ctx, d.Day, d.Day, ids)
	if err != nil {
		return err
	}
	before, err := r.Store.Records(ctx, d.Day-1, ids)
	if err != nil {
		return err
	}
	excused := map[beacon.HotspotID]*beacon.Minutes{}
	for _, record := range records {
		did, err := r.DidOf(record.Data)
		if errors.Is(err, beacon.ErrDamaged) {
			r.Log.Error("a heartbeat record is damaged and earns nothing", "hotspot", record.Hotspot, "day", d.Day.String(), "err", err)
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
		c.Served, c.Facts = minutes[did.Minutes], did.Facts
		was, err := r.before(before[record.Hotspot])
		if err != nil {
			return fmt.Errorf("record of %s: %w", record.Hotspot, err)
		}
		c.Facts.Tier, c.Spare = min(was.Tier, c.AtMost), was.Excused > 0
		d.Claims[record.Hotspot] = c
		d.byID = append(d.byID, c)
		if c.Facts.Excused > 0 {
			excused[record.Hotspot] = new(did.ExcusedMinutes)
		}
	}
	return d.AddDue(excused, func(past beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
		return r.did(ctx, past, ids)
	})
}

// did returns what hotspots did on a day, by their records. A damaged record says nothing.
func (r *Divider) did(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.Did, error) {
	records, err := r.Store.Records(ctx, day, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[beacon.HotspotID]beacon.Did, len(records))
	for id, record := range records {
		did, err := r.DidOf(record)
		if err == nil {
			all[id] = did
		} else if !errors.Is(err, beacon.ErrDamaged) {
			return nil, err
		}
	}
	return all, nil
}

// before returns what a record of the day before says: nothing if it is nil or damaged, which
// makes the tier standard.
func (r *Divider) before(record []byte) (beacon.Facts, error) {
	if record == nil {
		return beacon.Facts{}, nil
	}
	did, err := r.DidOf(record)
	if errors.Is(err, beacon.ErrDamaged) {
		return beacon.Facts{}, nil
	}
	return did.Facts, err
}

// Assign gives each claim its share.
func (r *Divider) Assign(ctx context.Context, d *Division) error {
	ordered := slices.SortedFunc(maps.Values(d.Claims), compareClaims)
	ordered = slices.DeleteFunc(ordered, func(c *Claim) bool { return c.Proof == 0 })
	hotspots := make([]ground.Hotspot, len(ordered))
	for i, c := range ordered {
		hotspots[i] = ground.Hotspot{Place: ground.PlaceOf(c.Point), Served: c.Served}
	}
	divide := ground.Divide
	if r.Ground != nil {
		divide = r.Ground
	}
	shares, err := divide(ctx, hotspots, d.Rules.Radius)
	for i := range shares {
		ordered[i].share = shares[i]
	}
	return err
}

// Ground returns what a row says of the ground, but for the rate of excused time.
func (d *Division) Ground(hotspot beacon.HotspotID) beacon.Ground {
	c := d.Claims[hotspot]
	place := ground.PlaceOf(c.Point)
	return beacon.Ground{
		Counts: d.Rules.Counts(), Standing: c.Standing, Own: c.share.Weight(), Due: c.Due, Proof: c.Proof,
		Lat: place.Lat, Lng: place.Lng, Shared: int(c.share.Minutes), Older: int(c.share.Older),
	}
}

// Standings returns the standings of the hotspots that have a row, with their day, by
// hotspot.
func (d *Division) Standings() []ledger.Standing {
	standings := make([]ledger.Standing, 0, len(d.byID))
	for _, c := range d.byID {
		if c.Facts.None() {
			continue
		}
		standings = append(standings, ledger.Standing{
			Hotspot: c.Hotspot, Since: c.Since, Through: d.Day, Before: c.Standing, Is: c.Standing + c.Adds(d.Rules, d.Rules.Counts(), c.Facts.Served),
		})
	}
	return standings
}

// Adds returns what its day adds to the standing that some rules count. was says what the
// policy of the day counted: if it was minutes, every hotspot with pay had been found at the place.
func (c *Claim) Adds(rules *policy.Policy, was beacon.StandingUnit, served int) int {
	found := c.found
	if was == beacon.InMinutes {
		found = c.Proof > 0
	}
	return rules.Standing(served, found)
}

// RowsOf returns the rows of a closed day of some hotspots, whoever earned with them then, in
// no particular order. The hotspots are given with who earns with them on another day, in
// order; most had the same owner, so that one range of the table has nearly all of their rows.
func RowsOf(
	ctx context.Context, from Store, day beacon.Day, of []beacon.Owned, owners func(beacon.HotspotID) beacon.Owners, reopened ledger.Reopenings,
) ([]ledger.Row, error) {
	if len(of) == 0 {
		return nil, nil
	}
	rows, err := from.ValidRows(ctx, day, of[0], of[len(of)-1], reopened)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row ledger.Row) bool { // a copy: a store may keep them
		_, asked := slices.BinarySearchFunc(of, row.Owned, beacon.Owned.Compare)
		return !asked || owners(row.Hotspot).On(day) != row.User
	})
	for _, o := range of {
		then := beacon.Owned{User: owners(o.Hotspot).On(day), Hotspot: o.Hotspot}
		if then == o {
			continue
		}
		other, err := from.ValidRows(ctx, day, then, then, reopened)
		if err != nil {
			return nil, err
		}
		rows = append(rows, other...)
	}
	return rows, nil
}

// RowsOf is the function of this name, for hotspots with a claim.
func (d *Division) RowsOf(ctx context.Context, from Store, day beacon.Day, of []beacon.Owned) ([]ledger.Row, error) {
	return RowsOf(ctx, from, day, of, func(id beacon.HotspotID) beacon.Owners { return d.Claims[id].Owners }, d.Reopened)
}

// On returns the claims of hotspots on a day, with their places and the standing that they
// had there when an earlier day began, or this one.
func (r *Divider) On(ctx context.Context, day, begun beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID]*Claim, error) {
	hotspots, err := r.Store.HotspotsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	standings, err := r.Store.Standings(ctx, ids)
	if err != nil {
		return nil, err
	}
	claims := make(map[beacon.HotspotID]*Claim, len(hotspots))
	memory := make([]Claim, len(hotspots))
	for i := range hotspots {
		memory[i] = r.claimOn(&hotspots[i], day)
		claims[hotspots[i].ID] = &memory[i]
		if r.AsPaid != nil && hotspots[i].PlaceErased() {
			if err := r.AsPaid(ctx, day, beacon.Owned{User: memory[i].Owners.On(day), Hotspot: hotspots[i].ID}, &memory[i]); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range standings {
		if c := claims[s.Hotspot]; c != nil && c.Since == s.Since {
			c.Standing = s.On(begun)
		}
	}
	for _, id := range ids {
		if claims[id] == nil {
			return nil, fmt.Errorf("hotspot %s has a record but no row", id)
		}
	}
	return claims, nil
}

// claimOn returns the claim of a hotspot on a day, without its standing.
func (r *Divider) claimOn(h *beacon.Hotspot, day beacon.Day) Claim {
	place, rules := h.PlaceOn(day), r.Known().On(day)
	from, _ := r.Known().PlacesFrom()
	c := Claim{
		Hotspot: h.ID, Owners: h.Owners(), Point: place.Point, Since: place.Since, Began: place.Began, AtMost: place.Test.AtMost(),
		Proof: int64(rules.Unproven), found: !place.ProvenAt.IsZero(),
	}
	c.proven = place.Proven(day) || place.Began < from && day < from+rewards.GraceDays
	switch {
	case rules.Counts() == beacon.InMinutes && !c.found: // in the days of grace too
		c.proven = false
		c.Proof = 0
	case c.proven:
		c.Proof = Whole
	}
	return c
}
