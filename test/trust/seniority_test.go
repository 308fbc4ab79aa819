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
	did   resident   // how long it has served there
	all   stay
	first stay // at the place of its first visit
	moved stay // at another one
}

// stay is what hotspots earned at a place on the days on which they were in service all day.
type stay struct {
	days int
	sum  paid
}

func (s *stay) add(days int, o paid) {
	s.days += days
	for policy := range s.sum {
		s.sum[policy] += o[policy]
	}
}

// row is a row of docs/trust.md.
func (s stay) row(name string) string {
	days := float64(s.days)
	return fmt.Sprintf("| %s | %.2f | %.2f | %.2f |", name, s.sum[1]/days, s.sum[2]/days, s.sum[3]/days)
}

// TestHonest_Seniority lets the hotspots of New York serve for 60 days, and orders them each
// day by the days or minutes that they have served where they are, as the policies do. What they
// earned by then, by seniority in days, is in docs/trust.md.
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
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow, _ []beacon.Did) error {
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
			first.add(c.first.days, c.first.sum)
			moved.add(c.moved.days, c.moved.sum)
		}
	}
	slices.SortFunc(order, senior)
	rows := []string{first.row("those that moved, before"), moved.row("the same, since")}
	for i, name := range []string{"first", "second", "third", "last"} {
		part := order[len(order)*i/4 : len(order)*(i+1)/4]
		var sum stay
		for _, c := range part {
			sum.add(c.all.days, c.all.sum)
		}
		days := fmt.Sprintf("%d to %d", part[len(part)-1].did.days, part[0].did.days)
		if part[0].did.days == part[len(part)-1].did.days {
			days = fmt.Sprint(part[0].did.days)
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

// senior orders hotspots as policy 2 does; all are proven.
func senior(a, b *career) int {
	return cmp.Or(cmp.Compare(b.did.days, a.did.days), strings.Compare(string(a.ID), string(b.ID)))
}

// serve adds a day. Rows may be of other days, too.
func serve(t *testing.T, all map[beacon.HotspotID]*career, day beacon.Day, rows []beacon.RecordRow) error {
	var order []*career
	for _, row := range rows {
		if row.Day != day {
			continue
		}
		did, err := heartbeat.RecordDid(row.Data)
		if err != nil {
			return err
		}
		c := all[row.Hotspot]
		place := c.PlaceOn(day)
		if place.Since != c.since {
			c.since, c.did = place.Since, resident{}
		}
		c.did.place, c.did.facts, c.did.served = ground.PlaceOf(place.Point), did.Facts, did.Minutes
		order = append(order, c)
	}
	slices.SortFunc(order, func(a, b *career) int { return strings.Compare(string(a.ID), string(b.ID)) })
	residents := make([]resident, len(order))
	for i, c := range order {
		residents[i] = c.did
	}
	for i, earned := range available(t, residents) {
		c := order[i]
		if f := c.did.facts; f.Expected > 0 && f.Outside == 0 {
			if c.all.add(1, earned); c.since == c.PlaceOn(0).Since {
				c.first.add(1, earned)
			} else {
				c.moved.add(1, earned)
			}
		}
		c.did.serve(c.did.facts.Served)
	}
	return nil
}
