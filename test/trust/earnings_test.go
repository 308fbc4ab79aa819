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
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
)

// resident is an honest hotspot on a day. All are visited.
type resident struct {
	created time.Time
	place   ground.Place
	facts   beacon.Facts
	served  beacon.Minutes
}

// available is what the availability of residents is worth in credits under both policies,
// the oldest first: policy 1 pays the share of the expected minutes that was served, policy
// 2 the share of the day and of the ground.
func available(t *testing.T, all []resident) (devices, places []float64) {
	t.Helper()
	hotspots := make([]ground.Hotspot, len(all))
	for i := range all {
		hotspots[i] = ground.Hotspot{Place: all[i].place, Served: &all[i].served}
	}
	shares, err := ground.Divide(t.Context(), hotspots, int(radius))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		devices = append(devices, float64(r.facts.Served)/float64(max(r.facts.Expected, 1)))
		places = append(places, float64(shares[i].Weight())/1e6/1440)
	}
	return devices, places
}

// TestHonest_Earnings compares what honest hotspots earn under both policies with the table
// in docs/trust.md: the public hotspots of New York by age, and newcomers next to one that
// was there before.
func TestHonest_Earnings(t *testing.T) {
	t.Parallel()
	is := map[string][2]float64{}
	devices, places := available(t, newYork(t))
	for i, name := range []string{"the oldest quarter", "the second quarter", "the third quarter", "the newest quarter"} {
		from, to := len(places)*i/4, len(places)*(i+1)/4
		is[name] = [2]float64{mean(devices[from:to]), mean(places[from:to])}
	}
	all := span(0, 1440)
	for _, metres := range []float64{0, 10, 25, 50, 75, 100} {
		_, got := available(t, []resident{at(0, all), at(metres, all)})
		is[fmt.Sprintf("a newcomer %.0f m away", metres)] = [2]float64{1, got[1]}
		if got[0] != 1 {
			t.Errorf("the one before it gets %f", got[0])
		}
	}
	_, got := available(t, []resident{at(0, span(0, 1320)), at(0, all)})
	is["the same at 0 m, where the other is off for two hours"] = [2]float64{1, got[1]}
	text, err := os.ReadFile("../../docs/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, credits := range is {
		if row := fmt.Sprintf("| %s | %.2f | %.2f |", name, credits[0], credits[1]); !strings.Contains(string(text), row) {
			t.Errorf("docs/trust.md lacks this row: %s", row)
		}
	}
}

func mean(of []float64) (m float64) {
	for _, x := range of {
		m += x / float64(len(of))
	}
	return m
}

func span(from, to int) (m beacon.Minutes) {
	for i := from; i < to; i++ {
		m[i/64] |= 1 << (i % 64)
	}
	return m
}

// at is a resident some metres east of a place in New York.
func at(metres float64, served beacon.Minutes) resident {
	const metresADegree = 111_195 * 0.7578 // of longitude, at this latitude
	return resident{place: ground.PlaceOf(geo.Point{Lat: 40.73, Lng: -73.99 + metres/metresADegree}), served: served}
}

// newYork is the hotspots of New York that were in service all of the last of three days,
// the oldest first.
func newYork(t *testing.T) (all []resident) {
	t.Helper()
	n, err := demo.New(demo.Config{Seed: 1, Hotspots: demo.Hotspots, Days: 3, Now: time.Date(2026, 6, 30, 0, 30, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	last := map[beacon.HotspotID][]byte{}
	err = n.Live(func(day beacon.Day, rows []beacon.RecordRow) error {
		if day == beacon.DayOf(n.Now)-1 {
			for _, row := range rows {
				if row.Day == day {
					last[row.Hotspot] = row.Data
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range n.Hotspots {
		data := last[s.ID]
		if data == nil {
			continue
		}
		r := resident{created: s.CreatedAt, place: ground.PlaceOf(s.PlaceOn(beacon.DayOf(n.Now) - 1).Point)}
		did, err := heartbeat.RecordDid(data)
		if err != nil {
			t.Fatal(err)
		}
		r.facts, r.served = did.Facts, did.Minutes
		if r.facts.Expected > 0 && r.facts.Outside == 0 {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b resident) int { return cmp.Compare(a.created.UnixNano(), b.created.UnixNano()) })
	if len(all) < 2000 {
		t.Fatalf("only %d hotspots served", len(all))
	}
	return all
}
