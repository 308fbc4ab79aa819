package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListQuery selects some of all hotspots. Zero fields do not matter.
type ListQuery struct {
	Status   Status // in this state
	Verified *bool  // whose location is, or is not, verified
	Text     string // with this in their name, ignoring case
	Newest   bool   // newest first, instead of oldest first
}

// HotspotListed is a hotspot in the list of all.
type HotspotListed struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Location struct {
		Lat      float64 `json:"lat"`
		Lng      float64 `json:"lng"`
		Address  string  `json:"address"`
		Verified bool    `json:"verified"`
	} `json:"location"`
	Device struct {
		Linked bool `json:"linked"`
	} `json:"device"`
	CreatedAt       time.Time `json:"created_at"`
	Status          Status    `json:"status"`
	CoverageRadiusM float64   `json:"coverage_radius_m"`
	SignalQuality   string    `json:"signal_quality"`
	PerformanceTier string    `json:"performance_tier"`
	CurrentLoad     float64   `json:"current_load"` // a fraction
	Uptime30d       float64   `json:"uptime_30d"`   // a fraction
}

// ListHotspotsPage returns a page of all hotspots, in the order of registration. It
// needs the scope hotspots:verify.
func (c *Client) ListHotspotsPage(ctx context.Context, q ListQuery, p PageQuery) (Page[HotspotListed], error) {
	query := url.Values{}
	if q.Status != "" {
		query.Set("status", string(q.Status))
	}
	if q.Verified != nil {
		query.Set("verified", strconv.FormatBool(*q.Verified))
	}
	if q.Text != "" {
		query.Set("q", q.Text)
	}
	if q.Newest {
		query.Set("order", "newest")
	}
	return page[HotspotListed](ctx, c, path("hotspots"), query, p)
}

// ListHotspots returns all hotspots, page by page. If a hotspot stops matching the
// query meanwhile, those after it move up, and one of them may be missed.
func (c *Client) ListHotspots(ctx context.Context, q ListQuery) iter.Seq2[HotspotListed, error] {
	return pages(func(p PageQuery) (Page[HotspotListed], error) { return c.ListHotspotsPage(ctx, q, p) })
}
