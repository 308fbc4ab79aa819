package preview

import (
	_ "embed"
	"encoding/json"
	"fmt"
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
