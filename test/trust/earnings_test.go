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
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// resident is an honest hotspot on a day. All are visited.
type resident struct {
	created       time.Time
	place         ground.Place
	facts         beacon.Facts
	served        beacon.Minutes
	days, minutes int // served before, as policies 2 and 3 count them
}

// serve adds a day to both.
func (r *resident) serve(minutes int) {
	if minutes >= 60 {
		r.days++
	}
	r.minutes += min(minutes, 600)
}

// paid is the availability of a hotspot in credits, under policies 1 to 3.
type paid [4]float64

// available is what the availability of residents is worth: policy 1 pays the share of the
// expected minutes that was served, policies 2 and 3 the share of the day and of the ground, in
// the order of the days or minutes served before. All equal, the first in the list comes first.
func available(t *testing.T, all []resident) []paid {
	t.Helper()
	is := make([]paid, len(all))
	for i, r := range all {
		is[i][1] = float64(r.facts.Served) / float64(max(r.facts.Expected, 1))
	}
	for policy, standing := range map[int]func(*resident) int{
		2: func(r *resident) int { return r.days }, 3: func(r *resident) int { return r.minutes },
	} {
		order := make([]int, len(all))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return standing(&all[b]) - standing(&all[a]) })
		hotspots := make([]ground.Hotspot, len(all))
		for rank, i := range order {
			hotspots[rank] = ground.Hotspot{Place: all[i].place, Served: &all[i].served}
		}
		shares, err := ground.Divide(t.Context(), hotspots, int(radius))
		if err != nil {
			t.Fatal(err)
		}
		for rank, i := range order {
			is[i][policy] = float64(shares[rank].Weight()) / 1e6 / 1440
		}
	}
	return is
}

// TestHonest_Earnings compares what honest hotspots earn under all policies with the table
// in docs/trust.md: the public hotspots of New York by age, shops among them, and newcomers next
// to one that was there before.
func TestHonest_Earnings(t *testing.T) {
	t.Parallel()
	is := map[string]paid{}
	all := newYork(t)
	earned := available(t, all)
	for i, name := range []string{"the oldest quarter", "the second quarter", "the third quarter", "the newest quarter"} {
		is[name] = mean(earned[len(all)*i/4 : len(all)*(i+1)/4])
	}
	var shops []paid
	for i := range all {
		if all[i].facts.Closed > 0 {
			shops = append(shops, earned[i])
		}
	}
	is["of all, those with opening hours"] = mean(shops)
	day := span(0, 1440)
	before := at(0, day)
	before.serve(1440)
	for _, metres := range []float64{0, 10, 25, 50, 75, 100} {
		got := available(t, []resident{at(metres, day), before})
		is[fmt.Sprintf("a newcomer %.0f m away", metres)] = got[0]
		if got[1][2] != 1 || got[1][3] != 1 {
			t.Errorf("the one before it gets %v", got[1])
		}
	}
	before.served = span(0, 1320)
	is["the same at 0 m, where the other is off for two hours"] = available(t, []resident{at(0, day), before})[0]
	text, err := os.ReadFile("../../docs/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, credits := range is {
		row := fmt.Sprintf("| %s | %.2f | %.2f | %.2f |", name, credits[1], credits[2], credits[3])
		if t.Log(row); !strings.Contains(string(text), row) {
			t.Errorf("docs/trust.md lacks this row: %s", row)
		}
	}
}

func mean(of []paid) (m paid) {
	for _, x := range of {
		for policy := range m {
			m[policy] += x[policy] / float64(len(of))
		}
	}
	return m
}

func span(from, to int) (m beacon.Minutes) {
	for i := from; i < to; i++ {
		m[i/64] |= 1 << (i % 64)
	}
	return m
}

// at is a resident some metres east of a place in New York that is always expected, and new.
func at(metres float64, served beacon.Minutes) resident {
	const metresADegree = 111_195 * 0.7578 // of longitude, at this latitude
	return resident{
		place:  ground.PlaceOf(geo.Point{Lat: 40.73, Lng: -73.99 + metres/metresADegree}),
		served: served, facts: beacon.Facts{Served: 1440, Expected: 1440},
	}
}

// newYork is the hotspots of New York that were in service all of the last of some days, the
// oldest first.
func newYork(t *testing.T) (all []resident) {
	t.Helper()
	const history = 20
	n, err := demo.New(demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: history, Now: time.Date(2026, 6, 30, 0, 30, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	residents := map[beacon.HotspotID]*resident{}
	for _, s := range n.Hotspots {
		residents[s.ID] = &resident{created: s.CreatedAt, place: ground.PlaceOf(s.PlaceOn(beacon.DayOf(n.Now) - 1).Point)}
	}
	last := beacon.DayOf(n.Now) - 1
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow, said []beacon.Did) error {
		for i, row := range rows {
			if row.Day != day || day > last {
				continue
			}
			r, did := residents[row.Hotspot], &said[i]
			if day < last {
				r.serve(did.Served)
			} else if r.facts, r.served = did.Facts, did.Minutes; r.facts.Expected > 0 && r.facts.Outside == 0 {
				all = append(all, *r)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b resident) int { return cmp.Compare(a.created.UnixNano(), b.created.UnixNano()) })
	if len(all) < 2000 {
		t.Fatalf("only %d hotspots served", len(all))
	}
	return all
}
