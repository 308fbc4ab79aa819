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
	Place     int  `json:"place"` // object_id in the city's list of public Wi-Fi
	Image     bool `json:"image"` // has a locationImage
	Active    bool `json:"active"`
	LatencyMs int  `json:"latencyMs"`

	region string // its borough, computed from its coordinates
}

// loadRecords reads the embedded dataset and determines each record's borough.
func loadRecords(boroughs []borough) ([]record, error) {
	var records []record
	if err := json.Unmarshal(hotspotsJSON, &records); err != nil {
		return nil, fmt.Errorf("preview dataset: %w", err)
	}
	for i := range records {
		rec := &records[i]
		if rec.ID != i+1 {
			return nil, fmt.Errorf("preview dataset: record %d has id %d; ids count up from 1", i+1, rec.ID)
		}
		at := boroughAt(boroughs, rec.Lat, rec.Lng)
		if at == nil {
			return nil, fmt.Errorf("preview dataset: record %d is in no borough", rec.ID)
		}
		rec.region = at.name
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

//go:embed data/boroughs.geojson
var boroughsJSON []byte

// borough is one of the city's five boroughs with its outline: polygons of rings of
// (lng, lat). The first ring of each is the outer one, as in GeoJSON.
type borough struct {
	name     string
	polygons [][]ring
}

type ring [][2]float64

func loadBoroughs() ([]borough, error) {
	var file struct {
		Features []struct {
			Properties struct {
				Name string `json:"name"`
			} `json:"properties"`
			Geometry struct {
				Type        string   `json:"type"`
				Coordinates [][]ring `json:"coordinates"`
			} `json:"geometry"`
		} `json:"features"`
	}
	if err := json.Unmarshal(boroughsJSON, &file); err != nil {
		return nil, fmt.Errorf("borough outlines: %w", err)
	}
	boroughs := make([]borough, 0, len(file.Features))
	for _, f := range file.Features {
		if f.Geometry.Type != "MultiPolygon" {
			return nil, fmt.Errorf("borough outlines: %s is a %s, not a MultiPolygon", f.Properties.Name, f.Geometry.Type)
		}
		boroughs = append(boroughs, borough{name: f.Properties.Name, polygons: f.Geometry.Coordinates})
	}
	return boroughs, nil
}

// boroughAt returns the borough that contains a place, or nil.
func boroughAt(boroughs []borough, lat, lng float64) *borough {
	for i := range boroughs {
		if boroughs[i].contains(lat, lng) {
			return &boroughs[i]
		}
	}
	return nil
}

// contains counts how often a ray from the place to the east crosses the outline: an odd
// number means inside, holes included.
func (b *borough) contains(lat, lng float64) bool {
	inside := false
	for _, polygon := range b.polygons {
		for _, r := range polygon {
			for i := range r {
				from, to := r[i], r[(i+1)%len(r)]
				if (from[1] > lat) == (to[1] > lat) {
					continue // this edge is entirely above or below the ray
				}
				if lng < from[0]+(lat-from[1])/(to[1]-from[1])*(to[0]-from[0]) {
					inside = !inside
				}
			}
		}
	}
	return inside
}

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
