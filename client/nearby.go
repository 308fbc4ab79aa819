package client

import (
	"context"
	"net/url"
	"strconv"
)

// NearbyQuery selects hotspots near a place. Other zero fields get the server's
// defaults: 1000 m, online, 20 hotspots.
type NearbyQuery struct {
	Lat, Lng float64
	Radius   float64 // in metres
	Status   string  // "online", "offline" or "all"
	Limit    int
}

// HotspotSummary is a hotspot as shown to people who look for one.
type HotspotSummary struct {
	ID              string       `json:"id"`
	Name            string       `json:"name"`
	Type            Type         `json:"type"`
	Location        SummaryPlace `json:"location"`
	DistanceM       float64      `json:"distance_m"`
	Status          Status       `json:"status"`
	CoverageRadiusM float64      `json:"coverage_radius_m"`
	SignalQuality   string       `json:"signal_quality"`
	PerformanceTier string       `json:"performance_tier"`
	CurrentLoad     float64      `json:"current_load"` // a fraction
	Uptime30d       float64      `json:"uptime_30d"`   // a fraction
}

// SummaryPlace is the location of a HotspotSummary.
type SummaryPlace struct {
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	Address string  `json:"address"`
}

// Nearby returns hotspots near a place, nearest first.
func (c *Client) Nearby(ctx context.Context, q NearbyQuery) ([]HotspotSummary, error) {
	query := url.Values{"lat": {decimal(q.Lat)}, "lng": {decimal(q.Lng)}}
	if q.Radius != 0 {
		query.Set("radius", decimal(q.Radius))
	}
	if q.Status != "" {
		query.Set("status", q.Status)
	}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	found, _, err := call[[]HotspotSummary](ctx, c, get(path("hotspots", "nearby"), query))
	return found, err
}

// decimal formats a number with all its digits, and without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
