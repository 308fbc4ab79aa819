package preview_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
)

type networkStatus struct {
	Status      string
	TotalNodes  int
	ActiveNodes int
	AvgLatency  string
	AvgUptime   string
	Regions     []region
}

type region struct {
	Name   string
	Nodes  int
	Status string
}

// The summary is computed here once more from the source of the dataset, in
// whole numbers: tenths of a percent and of a millisecond.
func TestStatus_IsComputedFromTheRecords(t *testing.T) {
	raw, err := os.ReadFile("data/hotspots.json")
	if err != nil {
		t.Fatal(err)
	}
	var source []struct {
		Lat, Lng  float64
		Uptime    string
		Active    bool
		LatencyMs int
	}
	if err := json.Unmarshal(raw, &source); err != nil {
		t.Fatal(err)
	}
	outlines := readOutlines(t)
	var active, latency, uptimeTenths int
	nodes, up := map[string]int{}, map[string]int{}
	for _, rec := range source {
		var whole, tenths int
		if _, err := fmt.Sscanf(rec.Uptime, "%d.%d%%", &whole, &tenths); err != nil {
			t.Fatal(err)
		}
		uptimeTenths += whole*10 + tenths
		where := outlines.boroughOf(rec.Lat, rec.Lng)
		nodes[where]++
		if rec.Active {
			active++
			up[where]++
			latency += rec.LatencyMs
		}
	}
	grade := func(active, of int) string {
		switch share := float64(active) / float64(of); {
		case share >= 0.95:
			return "operational"
		case share >= 0.5:
			return "degraded"
		}
		return "outage"
	}
	tenths := func(sum, n int) string { // rounded half up
		rounded := (2*sum + n) / (2 * n)
		return fmt.Sprintf("%d.%d", rounded/10, rounded%10)
	}
	want := networkStatus{
		Status:      grade(active, len(source)),
		TotalNodes:  78,
		ActiveNodes: active,
		AvgLatency:  tenths(latency*10, active) + "ms",
		AvgUptime:   tenths(uptimeTenths, len(source)) + "%",
	}
	for _, name := range []string{"Manhattan", "Brooklyn", "Queens", "Bronx"} {
		want.Regions = append(want.Regions, region{name, nodes[name], grade(up[name], nodes[name])})
	}

	got := decode[struct{ Data networkStatus }](t, start(t).get(t, "/api/v1/network/status"), http.StatusOK).Data
	if !slices.Equal(got.Regions, want.Regions) {
		t.Errorf("regions %v; want %v", got.Regions, want.Regions)
	}
	got.Regions, want.Regions = nil, nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("status %+v; want %+v", got, want)
	}
}
