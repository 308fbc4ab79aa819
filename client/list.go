package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"
	"time"
)

// ListQuery selects some of all hotspots. Zero fields do not matter.
type ListQuery struct {
	Status   Status // in this state
	Verified *bool  // whose location is, or is not, verified
	Rejected *bool  // that staff have, or have not, rejected
	Type     Type   // of this type
	Operator string // of this user
	Text     string // with this in their name, ignoring case
	Newest   bool   // newest first, instead of oldest first
	Order    string // instead: "uptime" or "seen" (by the last heartbeat), with a minus the greatest first; read by page number then

	Model, Firmware, Agent string // whose device reports exactly this
	MACAddress             string // whose device has this address
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
		Linked   bool   `json:"linked"`
		Model    string `json:"model,omitempty"` // this and the next two: if the device reports what it runs
		Firmware string `json:"firmware,omitempty"`
		Agent    string `json:"agent,omitempty"` // the version of its agent
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
	query := given("status", string(q.Status), "q", q.Text, "type", string(q.Type), "operator_id", q.Operator,
		"model", q.Model, "firmware", q.Firmware, "agent", q.Agent, "mac_address", q.MACAddress)
	if q.Verified != nil {
		query.Set("verified", strconv.FormatBool(*q.Verified))
	}
	if q.Rejected != nil {
		query.Set("rejected", strconv.FormatBool(*q.Rejected))
	}
	if q.Newest {
		query.Set("order", "newest")
	}
	if q.Order != "" {
		query.Set("order", q.Order)
	}
	return page[HotspotListed](ctx, c, path("hotspots"), query, p)
}

// ListHotspots returns all hotspots, page by page. What is registered or deleted
// meanwhile does not move the others.
func (c *Client) ListHotspots(ctx context.Context, q ListQuery) iter.Seq2[HotspotListed, error] {
	return pages(func(p PageQuery) (Page[HotspotListed], error) { return c.ListHotspotsPage(ctx, q, p) })
}

// Inventory is what the devices of the network run.
type Inventory struct {
	Linked    int              `json:"linked"`    // hotspots with a device
	Reporting int              `json:"reporting"` // those whose device reports what it runs
	Groups    []InventoryGroup `json:"groups"`
}

// InventoryGroup is how many devices run the same.
type InventoryGroup struct {
	Model    string `json:"model"`
	Firmware string `json:"firmware"`
	Agent    string `json:"agent"`
	Count    int    `json:"count"`
}

// Inventory counts devices by what they run. It needs the scope hotspots:verify.
func (c *Client) Inventory(ctx context.Context) (Inventory, error) {
	return call[Inventory](ctx, c, get(path("hotspots", "inventory"), nil))
}

// NearbyQuery selects hotspots near a place. Other zero fields get the server's
// defaults: 1000 m, online, 20 hotspots.
type NearbyQuery struct {
	Lat, Lng float64
	Radius   float64 // in metres
	Status   Status  // Online, Offline or AnyStatus
	Limit    int

	Type Type // empty: any

	// Connectable selects what someone who goes there can connect to: what is online and
	// open, without hidden homes, whose places are not the true ones.
	Connectable bool
}

// HotspotSummary is a hotspot as shown to people who look for one.
type HotspotSummary struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Type      Type         `json:"type"`
	Location  SummaryPlace `json:"location"`
	DistanceM float64      `json:"distance_m"`
	Connection
	Status          Status  `json:"status"`
	CoverageRadiusM float64 `json:"coverage_radius_m"`
	SignalQuality   string  `json:"signal_quality"`
	PerformanceTier string  `json:"performance_tier"`
	CurrentLoad     float64 `json:"current_load"` // a fraction
	Uptime30d       float64 `json:"uptime_30d"`   // a fraction
}

// Connection is what one needs to connect to a hotspot: its network, and whether it is
// open by its operating hours. Whether it works is its status.
type Connection struct {
	SSID string `json:"ssid"`
	Opening
}

// Opening is whether a hotspot is open by its operating hours.
type Opening struct {
	OpenNow bool `json:"open_now"`

	// When that changes: OpenUntil if it is open, OpensAt if it is closed. Nil if nothing
	// changes within a year, as without operating hours.
	OpenUntil *time.Time `json:"open_until,omitempty"`
	OpensAt   *time.Time `json:"opens_at,omitempty"`
}

// SummaryPlace is the location of a HotspotSummary.
type SummaryPlace struct {
	Lat     float64 `json:"lat"`
	Lng     float64 `json:"lng"`
	Address string  `json:"address"`

	Approximate bool `json:"approximate,omitzero"` // not the true place: a home is hidden
}

// Nearby returns hotspots near a place, nearest first.
func (c *Client) Nearby(ctx context.Context, q NearbyQuery) ([]HotspotSummary, error) {
	query := given("lat", decimal(q.Lat), "lng", decimal(q.Lng), "status", string(q.Status), "type", string(q.Type), "limit", whole(q.Limit))
	if q.Radius != 0 {
		query.Set("radius", decimal(q.Radius))
	}
	if q.Connectable {
		query.Set("connectable", "true")
	}
	return call[[]HotspotSummary](ctx, c, get(path("hotspots", "nearby"), query))
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	Pagination
}

// Pagination is the position of a page in a list.
type Pagination struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Total      int `json:"total"`
	TotalPages int `json:"total_pages"`

	Next *string `json:"next"` // the cursor of the next page; nil at the end
}

// PageQuery selects a page. Zero means the server's default: the first page, of 20.
type PageQuery struct {
	Page    int // from 1
	PerPage int // up to 100

	// Cursor is Next of an earlier page, in place of Page: the page begins after the last
	// item of that one, whatever was added or removed meanwhile.
	Cursor string
}

// largestPage is the page size of sequences.
const largestPage = 100

// page requests one page.
func page[T any](ctx context.Context, c *Client, path string, query url.Values, p PageQuery) (Page[T], error) {
	all := given("page", whole(p.Page), "per_page", whole(p.PerPage), "cursor", p.Cursor)
	maps.Copy(all, query)
	result, err := enveloped[[]T](ctx, c, get(path, all))
	got := Page[T]{Items: *result.Data}
	if result.Pagination != nil {
		got.Pagination = *result.Pagination
	}
	return got, err
}

// pages iterates over all pages, by cursor. It ends with the first error. An older server
// has no cursors; its pages are read by number.
func pages[T any](ask func(PageQuery) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := (PageQuery{PerPage: largestPage}); ; {
			p, err := ask(next)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			switch {
			case p.Next != nil:
				next = PageQuery{PerPage: largestPage, Cursor: *p.Next}
			case next.Cursor == "" && p.Page < p.TotalPages:
				next = PageQuery{PerPage: largestPage, Page: p.Page + 1}
			default:
				return
			}
		}
	}
}
