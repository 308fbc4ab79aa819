package preview

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed data/hotspots.json
var hotspotsJSON []byte

// record is an entry of the dataset: a hotspot, and what the API does not show (decision
// P7).
type record struct {
	Hotspot
	Place     int    `json:"place"`  // object_id in the city's list of public Wi-Fi
	Region    string `json:"region"` // the borough of its coordinates
	Image     bool   `json:"image"`  // has a locationImage
	Active    bool   `json:"active"`
	LatencyMs int    `json:"latencyMs"`
}

// loadRecords reads the embedded dataset.
func loadRecords() ([]record, error) {
	var records []record
	if err := json.Unmarshal(hotspotsJSON, &records); err != nil {
		return nil, fmt.Errorf("preview dataset: %w", err)
	}
	for i, rec := range records {
		if rec.ID != i+1 {
			return nil, fmt.Errorf("preview dataset: record %d has id %d; ids count up from 1", i+1, rec.ID)
		}
	}
	return records, nil
}

// Hotspot is a record as the API shows it.
type Hotspot struct {
	ID            int     `json:"id"`
	Name          string  `json:"name"`
	Lat           float64 `json:"lat"`
	Lng           float64 `json:"lng"`
	Mbps          float64 `json:"mbps"`
	Risk          string  `json:"risk"`
	Owner         string  `json:"owner"`
	Note          string  `json:"note"`
	Signal        string  `json:"signal"`
	Network       string  `json:"network"`
	Security      string  `json:"security"`
	Uptime        string  `json:"uptime"`
	Rating        string  `json:"rating"`
	Avatar        string  `json:"avatar,omitempty"`
	LastUsed      string  `json:"lastUsed,omitempty"`
	LocationImage string  `json:"locationImage,omitempty"`
}

// The values that a list can be filtered by, spelled as in the records.
var (
	risks    = []string{"Low", "Medium", "High"}
	networks = []string{"WiFi 5", "WiFi 6", "WiFi 6E"}
)

// networkStatus is the summary of the dataset (decision P7).
type networkStatus struct {
	Status      string         `json:"status"`
	TotalNodes  int            `json:"totalNodes"`
	ActiveNodes int            `json:"activeNodes"`
	AvgLatency  string         `json:"avgLatency"`
	AvgUptime   string         `json:"avgUptime"`
	Regions     []regionStatus `json:"regions"`
}

type regionStatus struct {
	Name   string `json:"name"`
	Nodes  int    `json:"nodes"`
	Status string `json:"status"`
}

// summarize computes the status from the records. Latency is that of the active nodes
// only: an inactive node does not respond.
func summarize(records []record) (networkStatus, error) {
	var active, latency int
	var uptime float64
	nodes, activeIn := map[string]int{}, map[string]int{}
	for _, rec := range records {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(rec.Uptime, "%"), 64)
		if err != nil {
			return networkStatus{}, fmt.Errorf("preview dataset: record %d has the uptime %q", rec.ID, rec.Uptime)
		}
		uptime += percent
		nodes[rec.Region]++
		if rec.Active {
			active++
			activeIn[rec.Region]++
			latency += rec.LatencyMs
		}
	}
	summary := networkStatus{
		Status:      grade(active, len(records)),
		TotalNodes:  len(records),
		ActiveNodes: active,
		AvgLatency:  fmt.Sprintf("%.1fms", float64(latency)/float64(active)),
		AvgUptime:   fmt.Sprintf("%.1f%%", uptime/float64(len(records))),
	}
	for name, count := range nodes {
		summary.Regions = append(summary.Regions, regionStatus{name, count, grade(activeIn[name], count)})
	}
	slices.SortFunc(summary.Regions, func(a, b regionStatus) int {
		return cmp.Or(b.Nodes-a.Nodes, strings.Compare(a.Name, b.Name))
	})
	return summary, nil
}

// grade returns the status for a share of active nodes.
func grade(active, nodes int) string {
	switch {
	case active*100 >= nodes*95:
		return "operational"
	case active*100 >= nodes*50:
		return "degraded"
	default:
		return "outage"
	}
}
