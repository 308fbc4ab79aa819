package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Bounds is a box on the map, from West eastwards to East. It may cross ±180°.
type Bounds struct {
	North float64 `json:"north"`
	South float64 `json:"south"`
	East  float64 `json:"east"`
	West  float64 `json:"west"`
}

// CoverageQuery asks what is covered in a box.
type CoverageQuery struct {
	Bounds
	Zoom *float64 // of the map; below 14, items are clusters
}

// Coverage is what is covered in a box.
type Coverage struct {
	Bounds             Bounds         `json:"bounds"`
	HotspotCount       int            `json:"hotspot_count"`
	OnlineCount        int            `json:"online_count"` // how many of them are online
	CoverageAreaKM2    float64        `json:"coverage_area_km2"`
	CoveragePercentage float64        `json:"coverage_percentage"` // a fraction, 0 to 1
	Aggregated         bool           `json:"aggregated"`          // whether the items are clusters
	Hotspots           []CoverageItem `json:"hotspots"`
}

// CoverageItem is a hotspot, or a cluster of many.
type CoverageItem struct {
	ID      string  `json:"id"`
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	RadiusM float64 `json:"radius_m"`
	Status  Status  `json:"status"`

	Approximate bool `json:"approximate,omitzero"` // not the true place: a home is hidden

	// Of a hotspot; zero for a cluster.
	Connection

	// Of a cluster; 0 for a hotspot.
	Count       int `json:"count,omitzero"`
	OnlineCount int `json:"online_count,omitzero"`
}

// Coverage returns how much of a box is covered, and by what.
func (c *Client) Coverage(ctx context.Context, q CoverageQuery) (Coverage, error) {
	query := url.Values{
		"north": {decimal(q.North)}, "south": {decimal(q.South)}, "east": {decimal(q.East)}, "west": {decimal(q.West)},
	}
	if q.Zoom != nil {
		query.Set("zoom", decimal(*q.Zoom))
	}
	return call[Coverage](ctx, c, get(path("coverage"), query))
}

// Disc is a hypothetical hotspot.
type Disc struct {
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	RadiusM float64 `json:"radius_m"`
}

// CoverageSimulation is what more hotspots would cover in a box.
type CoverageSimulation struct {
	Bounds    Bounds  `json:"bounds"`
	BeforeKM2 float64 `json:"before_km2"`
	AfterKM2  float64 `json:"after_km2"`
	AddedKM2  float64 `json:"added_km2"`
}

// SimulateCoverage returns what would be covered if there were more hotspots. It
// stores nothing.
func (c *Client) SimulateCoverage(ctx context.Context, box Bounds, add ...Disc) (CoverageSimulation, error) {
	body := struct {
		Bounds Bounds `json:"bounds"`
		Add    []Disc `json:"add"`
	}{box, add}
	if add == nil {
		body.Add = []Disc{}
	}
	r := post(path("coverage", "simulate"), body)
	r.again = true
	return call[CoverageSimulation](ctx, c, r)
}

// Tile is a tile of the map, as a Mapbox Vector Tile.
type Tile struct {
	Data      []byte // empty if there are no hotspots
	ETag      string
	Unchanged bool // the given ETag is current; Data is empty
}

// CoverageTile returns a tile of the map. With the ETag of an earlier one, the server
// sends the tile only if it has changed.
func (c *Client) CoverageTile(ctx context.Context, z, x, y int, etag string) (tile Tile, err error) {
	r := get(path("coverage", "tiles", strconv.Itoa(z), strconv.Itoa(x), strconv.Itoa(y)+".mvt"), nil).with("If-None-Match", etag)
	err = c.do(ctx, r, func(response *http.Response) (err error) {
		tile = Tile{ETag: response.Header.Get("ETag"), Unchanged: response.StatusCode == http.StatusNotModified}
		tile.Data, err = io.ReadAll(response.Body)
		return err
	})
	return tile, err
}
