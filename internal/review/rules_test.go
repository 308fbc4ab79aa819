package review

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

const today = beacon.Day(20_000)

// ordinary is a case that nothing is wrong with.
func ordinary() *Case {
	c := &Case{Heard: true}
	c.ID, c.Operator, c.Type = "hs_a", "usr_a", beacon.Home
	c.Settings = beacon.DefaultSettings(beacon.Home)
	for hour := range c.Bytes {
		c.Bytes[hour], c.Clients[hour] = uint64(2_000_000+hour*100_000), 2
	}
	for m := range beacon.MinutesADay {
		c.Served[m/64] |= 1 << (m % 64)
	}
	for i := range 6 {
		c.Tests = append(c.Tests, beacon.SpeedTest{DownMbps: 50 + float32(i), UpMbps: 10, LatencyMs: 20})
	}
	c.Boots, c.Beats, c.Counted = 1, 1440, true
	return c
}

// Each rule holds at its limit, and flags what is just beyond it.
func TestRules(t *testing.T) {
	away := func(c *Case, from, to int) {
		for m := from; m < to; m++ {
			c.Served[m/64] &^= 1 << (m % 64)
		}
	}
	served := func(n int, at beacon.Day) []beacon.Period {
		p := make([]beacon.Period, n)
		for i := range p {
			p[i] = beacon.Period{From: at.Time(), Until: at.Time().Add(time.Minute)}
		}
		return p
	}
	for name, test := range map[string]struct {
		change func(*Case)
		kind   beacon.FlagKind // empty: none
	}{
		"nothing":            {func(*Case) {}, ""},
		"no record":          {func(c *Case) { c.Heard, c.Boots, c.Overlaps = false, 1000, 9 }, ""},
		"two devices":        {func(c *Case) { c.Overlaps = 1 }, beacon.InterleavedBoots},
		"96 boots":           {func(c *Case) { c.Boots = 96 }, ""},
		"97 boots":           {func(c *Case) { c.Boots = 97 }, beacon.ManyBoots},
		"full speed":         {func(c *Case) { c.Bytes[3] = 2 * 50 * 450_000_000 }, ""},
		"above it":           {func(c *Case) { c.Bytes[3] = 2*50*450_000_000 + 1 }, beacon.AboveBandwidth},
		"idle for two hours": {func(c *Case) { idle(c, 2) }, ""},
		"for three":          {func(c *Case) { idle(c, 3) }, beacon.NoClients},
		"equal traffic":      {func(c *Case) { equal(c, 24, 0) }, beacon.TooRegular},
		"to a hundredth":     {func(c *Case) { equal(c, 24, 10_000) }, beacon.TooRegular},
		"not quite":          {func(c *Case) { equal(c, 24, 11_000) }, ""},
		"no traffic":         {func(c *Case) { c.Bytes = [24]uint64{} }, ""},
		"equal for 11 hours": {func(c *Case) { equal(c, 24, 0); away(c, 0, 13*60) }, ""},
		"equal tests":        {func(c *Case) { clear(c.Tests) }, beacon.TooRegular},
		"three equal tests":  {func(c *Case) { clear(c.Tests); c.Tests = c.Tests[:3] }, ""},
		"away every hour": {func(c *Case) {
			for hour := range 24 {
				away(c, hour*60+34, hour*60+60)
			}
		}, beacon.TooRegular},
		"away at odd times": {func(c *Case) {
			for hour := range 24 {
				away(c, hour*60+34+hour%4, hour*60+60)
			}
		}, ""},
		"away eight times": {func(c *Case) {
			for hour := range 8 {
				away(c, hour*60+34, hour*60+60)
			}
		}, ""},
		"few beats":         {func(c *Case) { c.Beats = 575 }, beacon.SparseBeats},
		"enough beats":      {func(c *Case) { c.Beats = 576 }, ""},
		"beats not counted": {func(c *Case) { c.Beats, c.Counted = 0, false }, ""},
		"few beats briefly": {func(c *Case) { c.Beats = 1; away(c, 599, 1440) }, ""},
		"five addresses":    {func(c *Case) { c.Addresses = 5 }, ""},
		"six addresses":     {func(c *Case) { c.Addresses = 6 }, beacon.ManyAddresses},
		"linked once":       {func(c *Case) { c.PastService = served(1, today) }, ""},
		"linked twice":      {func(c *Case) { c.PastService = served(2, today-2) }, beacon.LinkedAgain},
		"long ago":          {func(c *Case) { c.PastService = served(9, today-3) }, ""},
		"twice the radius":  {func(c *Case) { c.Settings.CoverageRadiusM = 100 }, ""},
		"more than that":    {func(c *Case) { c.Settings.CoverageRadiusM = 101 }, beacon.RadiusGrown},
		"deleted":           {func(c *Case) { c.Settings.CoverageRadiusM, c.DeletedAt = 500, today.Time() }, ""},
		"an hour a day":     {func(c *Case) { hours(c, 60) }, ""},
		"a minute less":     {func(c *Case) { hours(c, 59) }, beacon.ShortHours},
	} {
		c := ordinary()
		test.change(c)
		var kinds, want []beacon.FlagKind
		for _, f := range c.flags(today) {
			kinds = append(kinds, f.Kind)
			if f.Hotspot != "hs_a" || f.Operator != "usr_a" || f.First != today || f.Last != today || f.Weight == 0 || len(f.Facts) == 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if test.kind != "" {
			want = append(want, test.kind)
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s is flagged as %v; want %v", name, kinds, want)
		}
	}
	if all := slices.Sorted(maps.Keys(weights)); !slices.Equal(all, slices.Sorted(slices.Values(beacon.FlagKinds()))) {
		t.Errorf("these kinds have a weight: %v", all)
	}
}

// idle carries traffic without clients for some hours.
func idle(c *Case, hours int) {
	for hour := range hours {
		c.Bytes[hour], c.Clients[hour] = idleBytes+1+uint64(hour)*2_000_000, 0
	}
}

// equal carries the same in some hours, and a little more in one.
func equal(c *Case, hours int, more uint64) {
	for hour := range hours {
		c.Bytes[hour] = 1_000_000
	}
	c.Bytes[20] += more
}

// hours opens the place for some minutes every day.
func hours(c *Case, minutes int) {
	c.Location.VerifiedAt, c.Device.LinkedAt = today.Time(), today.Time()
	c.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{
		Days: []beacon.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Open: 540, Close: 540 + minutes,
	}}}
}

// Groups are flagged once each, by where visits found the hotspots.
func TestEstate(t *testing.T) {
	const metre = 1 / 111_195.0
	hotspot := func(n int, place, registered geo.Point) *Case {
		h := &Case{Hotspot: beacon.Hotspot{ID: beacon.HotspotID(fmt.Sprintf("hs_%03d", n)), Operator: "usr_a"}}
		h.Location.Point, h.Location.VerifiedAt, h.Device.LinkedAt = registered, today.Time(), today.Time()
		h.Visits = []beacon.Visit{{At: today.Time(), Point: place, AccuracyM: 5, Proves: true}}
		return h
	}
	at := func(north float64) geo.Point { return geo.Point{Lat: 40 + north*metre, Lng: -74} }
	for name, test := range map[string]struct {
		add  func(e *estate)
		want map[beacon.HotspotID]beacon.FlagKind
	}{
		"ten": {func(e *estate) {
			for i := range 10 {
				e.add(hotspot(i, at(float64(i)), at(float64(i))), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"eleven within 50 m": {func(e *estate) {
			for i := range 11 {
				e.add(hotspot(i, at(float64(i)*4.9), at(float64(i)*4.9)), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{"hs_000": beacon.CloseTogether}},
		"eleven in a row": {func(e *estate) {
			for i := range 11 {
				e.add(hotspot(i, at(float64(i)*11), at(float64(i)*11)), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"two groups": {func(e *estate) {
			for i := range 22 {
				e.add(hotspot(i, at(float64(i%2)*1000), at(float64(i%2)*1000)), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{"hs_000": beacon.CloseTogether, "hs_001": beacon.CloseTogether}},
		"deleted": {func(e *estate) {
			for i := range 11 {
				h := hotspot(i, at(0), at(0))
				h.DeletedAt = today.Time()
				e.add(h, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"five around a visit": {func(e *estate) {
			for i := range 5 {
				e.add(hotspot(i, at(0), at(90)), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{"hs_000": beacon.RingAroundVisit}},
		"three far apart from one address": {func(e *estate) {
			for i := range 4 {
				c := hotspot(i, at(float64(i)*300), at(float64(i)*300))
				if i > 0 {
					c.From = 7
				}
				e.add(c, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{"hs_001": beacon.OneAddress}},
		"two far apart from one address": {func(e *estate) {
			for i := range 4 {
				c := hotspot(i, at(float64(i)*300), at(float64(i)*300))
				c.From = int64(5 + i/2)
				e.add(c, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"one that was carried to the line of others": {func(e *estate) {
			for i := range 4 {
				c := hotspot(i, at(300*float64(max(0, 1-i))), at(300*float64(max(0, 1-i))))
				c.From = 7
				e.add(c, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"two at each of two places from one address": {func(e *estate) {
			for i := range 4 {
				c := hotspot(i, at(300*float64(i/2)), at(300*float64(i/2)))
				c.From = 7
				e.add(c, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{"hs_000": beacon.OneAddress}},
		"five on one line": {func(e *estate) {
			for i := range 5 {
				c := hotspot(i, at(float64(i)*49), at(float64(i)*49))
				c.From = 7
				e.add(c, today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
		"four around a visit": {func(e *estate) {
			for i := range 5 {
				e.add(hotspot(i, at(0), at(float64(min(i, 1))*90)), today)
			}
		}, map[beacon.HotspotID]beacon.FlagKind{}},
	} {
		e := estate{operator: "usr_a"}
		test.add(&e)
		is := map[beacon.HotspotID]beacon.FlagKind{}
		for _, f := range e.flags(today) {
			is[f.Hotspot] = f.Kind
		}
		if !maps.Equal(is, test.want) {
			t.Errorf("%s: %v; want %v", name, is, test.want)
		}
	}
}
