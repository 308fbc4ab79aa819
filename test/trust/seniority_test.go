package trust_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// career is what an honest hotspot did so far.
type career struct {
	*demo.Hotspot
	since beacon.Day // the first day of its place
	days  int        // there, with an hour or more of service
	all   stay
	first stay // at the place of its first visit
	moved stay // at another one
}

// stay is what hotspots earned at a place on the days on which they were in service all day.
type stay struct {
	days            int
	devices, places float64
}

func (s *stay) add(o stay) {
	s.days, s.devices, s.places = s.days+o.days, s.devices+o.devices, s.places+o.places
}

// row is a row of docs/trust.md.
func (s stay) row(name string) string {
	return fmt.Sprintf("| %s | %.2f | %.2f |", name, s.devices/float64(s.days), s.places/float64(s.days))
}

// TestHonest_Seniority lets the hotspots of New York serve for 60 days, and orders them each
// day by the days that they have served where they are, as the policy does. What they earned by then, by
// seniority, is in docs/trust.md.
func TestHonest_Seniority(t *testing.T) {
	level.Needs(t, level.Torture)
	t.Parallel()
	n, err := demo.New(demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: 60, Now: time.Date(2026, 6, 30, 0, 30, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	all := map[beacon.HotspotID]*career{}
	for _, s := range n.Hotspots {
		all[s.ID] = &career{Hotspot: s}
	}
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow) error {
		if day >= beacon.DayOf(n.Now) {
			return nil
		}
		return serve(t, all, day, rows)
	})
	if err != nil {
		t.Fatal(err)
	}
	var order []*career
	var first, moved stay // of those that have moved
	for _, c := range all {
		if c.all.days > 0 {
			order = append(order, c)
		}
		if c.Moved() {
			first.add(c.first)
			moved.add(c.moved)
		}
	}
	slices.SortFunc(order, senior)
	rows := []string{first.row("those that moved, before"), moved.row("the same, since")}
	for i, name := range []string{"first", "second", "third", "last"} {
		part := order[len(order)*i/4 : len(order)*(i+1)/4]
		var sum stay
		for _, c := range part {
			sum.add(c.all)
		}
		days := fmt.Sprintf("%d to %d", part[len(part)-1].days, part[0].days)
		if part[0].days == part[len(part)-1].days {
			days = fmt.Sprint(part[0].days)
		}
		rows = append(rows, sum.row(fmt.Sprintf("the %s quarter, %s days served", name, days)))
	}
	text, err := os.ReadFile("../../docs/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if t.Log(row); !strings.Contains(string(text), row) {
			t.Errorf("docs/trust.md lacks this row: %s", row)
		}
	}
}

// senior orders hotspots as the policy does; all are proven.
func senior(a, b *career) int {
	return cmp.Or(cmp.Compare(b.days, a.days), strings.Compare(string(a.ID), string(b.ID)))
}

// serve adds a day. Rows may be of other days, too.
func serve(t *testing.T, all map[beacon.HotspotID]*career, day beacon.Day, rows []beacon.RecordRow) error {
	did := map[beacon.HotspotID]*beacon.Did{}
	var order []*career
	for _, row := range rows {
		if row.Day != day {
			continue
		}
		d, err := heartbeat.RecordDid(row.Data)
		if err != nil {
			return err
		}
		did[row.Hotspot] = &d
		c := all[row.Hotspot]
		if since := c.PlaceOn(day).Since; since != c.since {
			c.since, c.days = since, 0
		}
		order = append(order, c)
	}
	slices.SortFunc(order, senior)
	hotspots := make([]ground.Hotspot, len(order))
	for i, c := range order {
		hotspots[i] = ground.Hotspot{Place: ground.PlaceOf(c.PlaceOn(day).Point), Served: &did[c.ID].Minutes}
	}
	shares, err := ground.Divide(t.Context(), hotspots, int(radius))
	for i := range shares {
		c, f := order[i], did[order[i].ID].Facts
		if f.Expected > 0 && f.Outside == 0 {
			day := stay{1, float64(f.Served) / float64(f.Expected), float64(shares[i].Weight()) / 1e6 / 1440}
			if c.all.add(day); c.since == c.PlaceOn(0).Since {
				c.first.add(day)
			} else {
				c.moved.add(day)
			}
		}
		if f.Served >= 60 {
			c.days++
		}
	}
	return err
}
