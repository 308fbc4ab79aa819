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
	owned   []beacon.Owned
	spots   map[beacon.HotspotID]beacon.Hotspot
	records map[beacon.Day]map[beacon.HotspotID][]byte
	flags   map[beacon.HotspotID]map[beacon.FlagKind]beacon.Flag
	now     time.Time
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
		all = append(all, c.spots[id])
	}
	return all, nil
}

func (c *city) Records(_ context.Context, day beacon.Day, _ []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	return c.records[day], nil
}

// DeviceAddresses: what stands within some hundred metres uses one line.
func (c *city) DeviceAddresses(_ context.Context, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error) {
	from := make(map[beacon.HotspotID]beacon.DeviceAddress, len(ids))
	for _, id := range ids {
		at := c.spots[id].Location.Point
		from[id] = beacon.DeviceAddress{Hotspot: id, Hash: 1 + int64(at.Lat*1000)<<24 ^ int64(at.Lng*-1000), At: c.now}
	}
	return from, nil
}

func (c *city) MACsAgain(_ context.Context, since time.Time, least, _ int) (map[beacon.HotspotID]int, error) {
	last, count := map[string]beacon.HotspotID{}, map[string]int{}
	for id, h := range c.spots {
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
	}
	return nil
}

func (c *city) FinishReview(context.Context, lease.Lease, beacon.Day, time.Time) error { return nil }

func (c *city) Reviewed(context.Context) (beacon.Day, bool, error) { return 0, false, nil }

func (c *city) Flags(context.Context, int) ([]beacon.Flag, int, error) { return nil, 0, nil }

func (c *city) DismissFlag(context.Context, beacon.HotspotID, beacon.FlagKind, string, beacon.Actor, time.Time) error {
	return nil
}

// TestHonest reviews 30 days of the hotspots of New York: with outages, reboots, power
// cuts, opening hours and dense neighbors. At most one in a hundred is flagged, with those
// that stand close to one that is.
func TestHonest(t *testing.T) {
	t.Parallel()
	days := level.Rounds(6, 30, 30)
	now := time.Date(2026, 6, 30, 0, 30, 0, 0, time.UTC)
	n, err := demo.New(demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: days, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	c := &city{
		spots: map[beacon.HotspotID]beacon.Hotspot{}, records: map[beacon.Day]map[beacon.HotspotID][]byte{},
		flags: map[beacon.HotspotID]map[beacon.FlagKind]beacon.Flag{},
	}
	for _, s := range n.Spots {
		c.spots[s.ID] = s.Hotspot
		c.owned = append(c.owned, beacon.Owned{User: s.Operator, Hotspot: s.ID})
	}
	slices.SortFunc(c.owned, compareOwned)
	var r *review.Review
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow) error {
		c.now = (day + 1).Time()
		r = review.New(review.Config{
			Addresses: func(id beacon.HotspotID, _ beacon.Day) int { return len(id) % 3 }, // a line and a spare one
			Store:     c, Final: func() (beacon.Day, bool) { return day + 1, true }, Log: slog.New(slog.DiscardHandler),
			Keeper: func() (lease.Lease, bool) { return lease.Lease{}, true }, Now: (day + 1).Time,
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
	flagged := 0
	for _, flags := range c.flags {
		most := int64(1)
		for kind, f := range flags {
			if t.Logf("%s: %v", kind, f.Facts); f.Facts["others"] > 0 {
				most = max(most, 1+f.Facts["others"])
			}
		}
		flagged += int(most)
	}
	t.Logf("%d of %d are flagged", flagged, len(n.Spots))
	if flagged*100 > len(n.Spots) {
		t.Errorf("%d of %d honest hotspots are flagged in %d days", flagged, len(n.Spots), days)
	}
}
