package trust_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/review"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// city is the honest hotspots of New York on a day, as a store of package review.
type city struct {
	all      []*demo.Hotspot
	owned    []beacon.Owned
	hotspots map[beacon.HotspotID]beacon.Hotspot // that are registered by now
	from     map[beacon.HotspotID]beacon.DeviceAddress
	records  map[beacon.Day]map[beacon.HotspotID][]byte
	flags    map[beacon.HotspotID]map[beacon.FlagKind]beacon.Flag
	flagged  map[beacon.HotspotID]bool // with those that stand close to one that is
}

func newCity(n *demo.Network) *city {
	c := &city{
		all: n.Hotspots, records: map[beacon.Day]map[beacon.HotspotID][]byte{},
		flags: map[beacon.HotspotID]map[beacon.FlagKind]beacon.Flag{}, flagged: map[beacon.HotspotID]bool{},
	}
	for _, s := range n.Hotspots {
		c.owned = append(c.owned, beacon.Owned{User: s.Operator, Hotspot: s.ID})
	}
	slices.SortFunc(c.owned, compareOwned)
	return c
}

// turn lets a day end. What stands within some hundred metres uses one line, and what stands
// within a kilometre or two is on one network.
func (c *city) turn(now time.Time) {
	c.hotspots, c.from = map[beacon.HotspotID]beacon.Hotspot{}, map[beacon.HotspotID]beacon.DeviceAddress{}
	for _, s := range c.all {
		if s.CreatedAt.Before(now) {
			at := s.Stands(now)
			c.hotspots[s.ID] = s.At(now)
			c.from[s.ID] = beacon.DeviceAddress{
				Hotspot: s.ID, Hash: 1 + int64(at.Lat*1000)<<24 ^ int64(at.Lng*-1000), Network: 1 + int64(at.Lat*70)<<24 ^ int64(at.Lng*-70), At: now,
			}
		}
	}
}

func (c *city) OwnedPage(_ context.Context, after beacon.Owned, limit int) ([]beacon.Owned, error) {
	from, found := slices.BinarySearchFunc(c.owned, after, compareOwned)
	if found {
		from++
	}
	return c.owned[from:min(from+limit, len(c.owned))], nil
}

func compareOwned(a, b beacon.Owned) int {
	return cmp.Or(strings.Compare(string(a.User), string(b.User)), strings.Compare(string(a.Hotspot), string(b.Hotspot)))
}

func (c *city) HotspotsByID(_ context.Context, ids []beacon.HotspotID) (all []beacon.Hotspot, err error) {
	for _, id := range ids {
		if h, registered := c.hotspots[id]; registered {
			all = append(all, h)
		}
	}
	return all, nil
}

func (c *city) Records(_ context.Context, day beacon.Day, _ []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	return c.records[day], nil
}

func (c *city) DeviceAddresses(context.Context, []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error) {
	return c.from, nil
}

func (c *city) MACsAgain(_ context.Context, since time.Time, least int) (map[beacon.HotspotID]int, error) {
	last, count := map[string]beacon.HotspotID{}, map[string]int{}
	for id, h := range c.hotspots {
		if mac := h.Device.MAC.Canonical(); !h.CreatedAt.Before(since) {
			last[mac] = max(last[mac], id)
			count[mac]++
		}
	}
	again := map[beacon.HotspotID]int{}
	for mac, n := range count {
		if n >= least {
			again[last[mac]] = n
		}
	}
	return again, nil
}

func (c *city) PutFlags(_ context.Context, _ lease.Lease, flags []beacon.Flag) error {
	for _, f := range flags {
		if c.flags[f.Hotspot] == nil {
			c.flags[f.Hotspot] = map[beacon.FlagKind]beacon.Flag{}
		}
		c.flags[f.Hotspot][f.Kind] = f
		c.flagged[f.Hotspot] = true
		for _, o := range f.Group {
			c.flagged[o.Hotspot] = true
		}
		if f.Facts["others"] == 0 {
			continue
		}
		is := c.hotspots[f.Hotspot]
		for id, h := range c.hotspots {
			if h.Operator == f.Operator && is.DistanceTo(&h, f.Last+1) <= float64(f.Facts["within_m"]) && !h.Deleted() && !h.ActiveSince().IsZero() {
				c.flagged[id] = true
			}
		}
	}
	return nil
}

func (c *city) FinishReview(context.Context, lease.Lease, beacon.Day, beacon.Day, time.Time) error {
	return nil
}

func (c *city) Reviewed(context.Context) (beacon.Day, bool, error) { return 0, false, nil }

func (c *city) Flags(context.Context, beacon.FlagFilter, beacon.FlagPlace, int, int) (page []beacon.FlagLine, lines, flags int, err error) {
	return nil, 0, 0, nil
}

// Behind says that nobody but the user is behind a key.
func (c *city) Behind(_ context.Context, user beacon.UserID, person beacon.PersonID, _ beacon.KeyID) (beacon.Behind, error) {
	return beacon.Behind{User: user, Person: person, Accounts: []beacon.UserID{user}}, nil
}

func (c *city) Earned(context.Context, []beacon.UserID, beacon.Month, beacon.Month) (map[beacon.UserID]beacon.Amount, error) {
	return nil, nil
}

func (c *city) DismissFlags(context.Context, string, beacon.FlagKind, string, beacon.Actor, time.Time, func(beacon.UserID) error) error {
	return nil
}

// TestHonest reviews 30 or 60 days of the hotspots of New York: with outages, reboots,
// power cuts, opening hours, dense neighbours and moves. At most one in a hundred is flagged,
// with those that stand close to one that is, and none because it moved.
func TestHonest(t *testing.T) {
	t.Parallel()
	days := level.Rounds(6, 30, 60)
	n, err := demo.New(demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: days, Now: time.Date(2026, 6, 30, 0, 30, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	c := newCity(n)
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow, _ []beacon.Did) error {
		c.turn((day + 1).Time())
		r := review.New(review.Config{
			Addresses: func(id beacon.HotspotID, _ beacon.Day) int { return len(id) % 3 }, // a line and a spare one
			Store:     c, Final: func() (beacon.Day, bool) { return day + 1, true }, Log: slog.New(slog.DiscardHandler),
			Lease: func() (lease.Lease, bool) { return lease.Lease{}, true }, Now: (day + 1).Time,
		})
		for _, row := range rows {
			if c.records[row.Day] == nil {
				c.records[row.Day] = map[beacon.HotspotID][]byte{}
			}
			c.records[row.Day][row.Hotspot] = row.Data
		}
		delete(c.records, day-2)
		return r.Step(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, flags := range c.flags {
		for kind, f := range flags {
			t.Logf("%s, %s: %v", id, kind, f.Facts)
		}
	}
	moves := movesOf(n)
	t.Logf("%d of %d are flagged; %d have moved", len(c.flagged), len(n.Hotspots), len(moves))
	if len(c.flagged)*100 > len(n.Hotspots) {
		t.Errorf("%d of %d honest hotspots are flagged in %d days", len(c.flagged), len(n.Hotspots), days)
	}
	for id := range moves {
		if len(c.flags[id]) > 0 {
			t.Errorf("%s has moved, and is flagged: %v", id, c.flags[id])
		}
	}
	if least := max(len(n.Hotspots)*(days-5)/30/100, 1); len(moves) < least { // few in the first days
		t.Errorf("only %d have moved in %d days; want %d", len(moves), days, least)
	}
}

// movesOf returns the hotspots that have moved, by their ids after it: their operators have
// registered another place, or deleted them and registered the device again.
func movesOf(n *demo.Network) map[beacon.HotspotID]bool {
	moves, left := map[beacon.HotspotID]bool{}, map[string]bool{}
	for _, s := range n.Hotspots { // the oldest first
		mac := s.Hotspot.Device.MAC.Canonical()
		if s.Moved() || left[mac] {
			moves[s.ID] = true
		}
		left[mac] = left[mac] || s.Deleted()
	}
	return moves
}
