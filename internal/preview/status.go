package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		nodes[rec.region]++
		if rec.Active {
			active++
			activeIn[rec.region]++
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
