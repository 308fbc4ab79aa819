package review

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// member is a hotspot in service, of the account of a number, some metres from a point.
func member(n, account int, east, north float64) *Case {
	const metre = 1 / 111_195.0
	c := &Case{Hotspot: beacon.Hotspot{ID: beacon.HotspotID(fmt.Sprintf("hs_%03d", n)), Operator: beacon.UserID(fmt.Sprintf("usr_%02d", account))}}
	c.Location.Point = geo.Point{Lat: 40 + north*metre, Lng: -74 + east*metre/math.Cos(40*math.Pi/180)}
	// Nothing of it is together with others.
	c.CreatedAt = (today - 300 + beacon.Day(2*n)).Time()
	c.Location.VerifiedAt, c.Device.LinkedAt = c.CreatedAt.Add(time.Hour), c.CreatedAt.Add(time.Hour)
	c.Network = int64(1000 + n)
	return c
}

// ring is hotspots of accounts, two of each, at equal distances around a point.
func ring(size int, radius float64, each func(c *Case, n int)) (all []*Case) {
	for n := range size {
		angle := 2 * math.Pi * float64(n) / float64(size)
		c := member(n, n/2, radius*math.Sin(angle), radius*math.Cos(angle))
		each(c, n)
		all = append(all, c)
	}
	return all
}

// A group of several accounts is flagged once, at its limit and not below it.
func TestEveryone(t *testing.T) {
	apart := func(*Case, int) {}
	registered := func(c *Case, n int) { c.CreatedAt = today.Time().Add(time.Duration(n) * time.Hour) }
	visited := func(c *Case, n int) { c.Location.VerifiedAt = today.Time().Add(time.Duration(n) * 10 * time.Minute) }
	network := func(c *Case, _ int) { c.Network = 7 }
	row := func(size, accounts int, metres float64, each func(c *Case, n int)) (all []*Case) {
		for n := range size {
			c := member(n, n%accounts, metres*float64(n), 0)
			each(c, n)
			all = append(all, c)
		}
		return all
	}
	for name, test := range map[string]struct {
		all  []*Case
		want []int // how many hotspots each group has
	}{
		"twenty of ten, 53 m from a point":        {ring(20, 53, apart), []int{20}},
		"the same, within a day":                  {ring(20, 53, registered), []int{20}},
		"ten of four others":                      {row(13, 5, 8, apart), []int{13}},
		"of three others":                         {row(14, 4, 7, apart), nil},
		"nine others":                             {row(10, 10, 11, apart), nil},
		"nine others, and one 101 m off":          {append(row(10, 10, 5, apart), member(50, 50, 146, 0)), nil},
		"six that were registered together":       {row(6, 6, 20, registered), []int{6}},
		"five":                                    {row(5, 5, 20, registered), nil},
		"six of three accounts":                   {row(6, 3, 20, registered), nil},
		"six that were visited together":          {row(6, 6, 20, visited), []int{6}},
		"six that were visited one after another": {row(6, 6, 20, func(c *Case, n int) { visited(c, 7*n) }), nil},
		"six that are far from each other":        {row(6, 6, 120, registered), nil},
		"six neighbours on one network":           {row(6, 6, 20, network), nil},
		"five places on one network":              {row(5, 5, 2100, network), []int{5}},
		"four places on one network":              {row(4, 4, 2100, network), nil},
		"five places of three accounts":           {row(5, 3, 2100, network), nil},
		"five places on networks of their own":    {row(5, 5, 2100, apart), nil},
		"two rings":                               {append(ring(20, 53, apart), member(90, 90, 3000, 0)), []int{20}},
		"of one account":                          {row(20, 1, 5, registered), nil},
		"that are deleted":                        {row(20, 20, 5, func(c *Case, _ int) { c.DeletedAt = today.Time() }), nil},
	} {
		var all everyone
		for _, c := range test.all {
			all.add(c, today)
		}
		var sizes []int
		for _, f := range all.flags(today) {
			sizes = append(sizes, len(f.Group))
			accounts := map[beacon.UserID]bool{}
			for _, o := range f.Group {
				accounts[o.User] = true
			}
			oldest := slices.IsSortedFunc(f.Group, func(a, b beacon.Owned) int { return cmpHotspots(a, b) })
			if f.Kind != beacon.AcrossAccounts || !oldest || f.Group[0] != (beacon.Owned{User: f.Operator, Hotspot: f.Hotspot}) ||
				f.Facts["hotspots"] != int64(len(f.Group)) || f.Facts["accounts"] != int64(len(accounts)) || f.Weight == 0 || len(f.About()) != len(accounts) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !slices.Equal(sizes, test.want) {
			t.Errorf("%s: groups of %v are flagged; want %v", name, sizes, test.want)
		}
	}
}

func cmpHotspots(a, b beacon.Owned) int {
	if a.Hotspot < b.Hotspot {
		return -1
	}
	return 1
}

// A group names at most some hotspots, and counts all.
func TestEveryone_NamesSome(t *testing.T) {
	var all everyone
	for n := range 300 {
		all.add(member(n, n, float64(n%10), float64(n/10)), today)
	}
	flags := all.flags(today)
	if len(flags) != 1 || len(flags[0].Group) != beacon.FlagGroup || flags[0].Facts["hotspots"] != 300 || flags[0].Facts["accounts"] != 300 {
		t.Errorf("%d flags, the first of %d hotspots: %v", len(flags), len(flags[0].Group), flags[0].Facts)
	}
}

// smallNetwork is a store of a few hotspots that boot too often. It keeps the flags.
type smallNetwork struct {
	emptyNetwork
	all   []beacon.Hotspot
	flags []beacon.Flag
}

func (s *smallNetwork) OwnedPage(_ context.Context, after beacon.Owned, _ int) (page []beacon.Owned, err error) {
	for _, h := range s.all {
		if o := (beacon.Owned{User: h.Operator, Hotspot: h.ID}); o.Compare(after) > 0 {
			page = append(page, o)
		}
	}
	return page, nil
}

func (s *smallNetwork) HotspotsByID(context.Context, []beacon.HotspotID) ([]beacon.Hotspot, error) {
	return s.all, nil
}

func (*smallNetwork) Earned(_ context.Context, users []beacon.UserID, from, to beacon.Month) (map[beacon.UserID]beacon.Amount, error) {
	earned := map[beacon.UserID]beacon.Amount{}
	for _, user := range users {
		earned[user] = beacon.Amount(to-from+1) * 1_000_000
	}
	return earned, nil
}

func (s *smallNetwork) PutFlags(_ context.Context, _ lease.Lease, flags []beacon.Flag) error {
	s.flags = append(s.flags, flags...)
	return nil
}

// What nobody has ever visited is not examined: it earns nothing, and anyone can register any
// number. What is at stake of the others is what their accounts earn.
func TestReview_OnlyVisited(t *testing.T) {
	store := &smallNetwork{}
	for n := range 3 {
		c := member(n, n, 1000*float64(n), 0)
		c.Settings.CoverageRadiusM = 500
		if n == 0 { // nobody has been there
			c.Location.VerifiedAt = time.Time{}
		}
		if n == 2 { // found, and rejected since
			c.Visits = []beacon.Visit{{At: c.Location.VerifiedAt, Point: c.Location.Point, Proves: true}, {At: today.Time(), Point: c.Location.Point, Withdraws: true}}
			c.Location.VerifiedAt = time.Time{}
		}
		store.all = append(store.all, c.Hotspot)
	}
	r := New(Config{
		Store: store, Log: slog.New(slog.DiscardHandler), Now: (today + 1).Time, Addresses: func(beacon.HotspotID, beacon.Day) int { return 0 },
		Final: func() (beacon.Day, bool) { return today + 1, true }, Lease: func() (lease.Lease, bool) { return lease.Lease{}, true },
	})
	if err := r.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	var flagged []beacon.HotspotID
	for _, f := range store.flags {
		if flagged = append(flagged, f.Hotspot); f.Kind != beacon.RadiusGrown || f.Stake != 2_000_000 {
			t.Errorf("%+v", f)
		}
	}
	if want := []beacon.HotspotID{"hs_001", "hs_002"}; !slices.Equal(flagged, want) {
		t.Errorf("%v are flagged; want %v", flagged, want)
	}
}
