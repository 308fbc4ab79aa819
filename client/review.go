package client

import (
	"context"
	"net/http"
	"net/url"
)

// Review is the first flags of the review queue.
type Review struct {
	Total int    `json:"total"` // how many flags the queue has
	Flags []Flag `json:"flags"`
}

// Flag is something about a hotspot that staff should look at. It is no verdict.
type Flag struct {
	HotspotID  string     `json:"hotspot_id"`
	OperatorID string     `json:"operator_id"`
	Kind       string     `json:"kind"`   // such as "too_regular"
	Weight     int        `json:"weight"` // flags are ordered by it, the highest first
	Facts      []FlagFact `json:"facts"`  // what it is based on
	FirstDay   string     `json:"first_day"`
	LastDay    string     `json:"last_day"`
}

// FlagFact is a number that a flag is based on.
type FlagFact struct {
	Name  string `json:"name"` // such as "equal_speed_tests"
	Value int64  `json:"value"`
}

// Review returns the first flags of the review queue; limit is 1 to 100, or 0 for the
// server's default. It needs the scope hotspots:verify.
func (c *Client) Review(ctx context.Context, limit int) (Review, error) {
	return call[Review](ctx, c, get(path("review"), given("limit", whole(limit))))
}

// Neighbours is what stands within 200 m of a hotspot, the nearest first.
type Neighbours struct {
	Total      int         `json:"total"` // there may be more than are listed
	Neighbours []Neighbour `json:"neighbours"`
}

// Neighbour is a hotspot near another.
type Neighbour struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Type         Type    `json:"type"`
	Status       Status  `json:"status"`
	Verified     bool    `json:"verified"`
	OperatorID   string  `json:"operator_id"`
	SameOperator bool    `json:"same_operator"`
	DistanceM    float64 `json:"distance_m"`
	DaysServed   *int    `json:"days_served"` // nil: not counted

	StandingMinutes *int `json:"standing_minutes,omitempty"` // instead, if the policy counts minutes
}

// Neighbours returns what stands around a hotspot. It needs the scope hotspots:verify.
func (c *Client) Neighbours(ctx context.Context, hotspot string) (Neighbours, error) {
	return call[Neighbours](ctx, c, get(path("hotspots", hotspot, "neighbours"), nil))
}

// DismissFlag takes a flag out of the review queue. It needs the scope hotspots:verify.
func (c *Client) DismissFlag(ctx context.Context, hotspot, kind, reason string) error {
	r := request{method: http.MethodDelete, path: path("review", hotspot, kind), query: url.Values{"reason": {reason}}}
	return c.silent(ctx, r)
}
