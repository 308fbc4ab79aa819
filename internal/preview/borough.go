package preview

import (
	_ "embed"
	"encoding/json"
	"fmt"
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
