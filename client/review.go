package client

import (
	"context"
	"net/http"
	"net/url"
)

// Review is flags of the review queue. The flags of an account follow each other; those of
// the accounts with the most at stake come first.
type Review struct {
	Total int    `json:"total"` // how many flags the queue has
	Flags []Flag `json:"flags"`
}

// ReviewPage is a page of the review queue.
type ReviewPage struct {
	Review
	Pagination Pagination // of lines, in each of which a flag stands for Count
}

// Flag is something about a hotspot that staff should look at. It is no verdict.
type Flag struct {
	HotspotID  string     `json:"hotspot_id"`
	OperatorID string     `json:"operator_id"`
	Kind       string     `json:"kind"`   // such as "too_regular"
	Weight     int        `json:"weight"` // the higher, the harder to explain
	Facts      []FlagFact `json:"facts"`  // what it is based on
	FirstDay   string     `json:"first_day"`
	LastDay    string     `json:"last_day"`

	Count   int    `json:"count"`    // of how many flags of this account and kind it is the last
	AtStake Amount `json:"at_stake"` // what the account earned in the month of the last day and in the one before; of a group, all of its accounts

	Group []FlagMember `json:"group,omitempty"` // the hotspots that a flag across accounts is about, the flagged one first; at most 100
}

// FlagMember is a hotspot of a flag that is about several accounts.
type FlagMember struct {
	HotspotID  string `json:"hotspot_id"`
	OperatorID string `json:"operator_id"`
}

// FlagFact is a number that a flag is based on.
type FlagFact struct {
	Name  string `json:"name"` // such as "equal_speed_tests"
	Value int64  `json:"value"`
}

// ReviewQuery selects a page of the review queue. Zero fields select all.
type ReviewQuery struct {
	PageQuery
	OperatorID string // each flag of this account, and not one for all of a kind
	Kind       string
}

// Review returns a page of the review queue. It needs the scope hotspots:verify.
func (c *Client) Review(ctx context.Context, q ReviewQuery) (ReviewPage, error) {
	query := given("page", whole(q.Page), "per_page", whole(q.PerPage), "cursor", q.Cursor, "operator_id", q.OperatorID, "kind", q.Kind)
	result, err := enveloped[Review](ctx, c, get(path("review"), query))
	got := ReviewPage{Review: *result.Data}
	if result.Pagination != nil {
		got.Pagination = *result.Pagination
	}
	return got, err
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

// DismissFlag takes the flags of a kind out of the review queue that a hotspot has, or a
// user, whose id is given. It needs the scope hotspots:verify.
func (c *Client) DismissFlag(ctx context.Context, id, kind, reason string) error {
	r := request{method: http.MethodDelete, path: path("review", id, kind), query: url.Values{"reason": {reason}}}
	return c.silent(ctx, r)
}
