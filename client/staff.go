package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// AuditQuery selects changes. Zero fields do not matter.
type AuditQuery struct {
	Kind   string // such as "hotspot.verified", or a family of kinds, such as "hold."
	Target string // the id of what changed
	UserID string // whose keys did it
	Limit  int    // 1 to 100
	Cursor string // the Next of an earlier response, with the same fields
}

// Audit is a page of the audit log, newest first.
type Audit struct {
	Changes []AuditRow `json:"changes"`
	Next    *string    `json:"next"` // nil if there is nothing older
}

// AuditRow is who changed what, when and by which request.
type AuditRow struct {
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Target    string    `json:"target"`
	Version   int64     `json:"version"` // 0 if it has none
	KeyID     string    `json:"key_id"`  // empty if no API key did it
	UserID    string    `json:"user_id"`
	RequestID string    `json:"request_id"`
	Note      string    `json:"note"`
}

// Audit returns a page of the audit log. A page of a query that selects may be short, or
// empty, although Next says that there is more. It needs the scope admin.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (Audit, error) {
	query := url.Values{}
	for name, value := range map[string]string{"kind": q.Kind, "target": q.Target, "user_id": q.UserID, "cursor": q.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	audit, _, err := call[Audit](ctx, c, get(path("audit"), query))
	return audit, err
}

// Operators is a page of the users with hotspots, by id.
type Operators struct {
	Month     string     `json:"month"` // of what they earned, such as "2026-11"
	Operators []Operator `json:"operators"`
	Next      *string    `json:"next"` // nil if there are no others
}

// Operator is a user with hotspots.
type Operator struct {
	UserID   string `json:"user_id"`
	Hotspots int    `json:"hotspots"`
	Waiting  int    `json:"waiting"` // hotspots that are not verified
	Keys     int    `json:"keys"`    // in force
	Earned   Amount `json:"earned"`  // on the closed days of the month
}

// ListOperators returns up to limit users with hotspots after one, or the first; limit is 1
// to 100, or 0 for the server's default. It needs the scope admin.
func (c *Client) ListOperators(ctx context.Context, after string, limit int) (Operators, error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	page, _, err := call[Operators](ctx, c, get(path("operators"), query))
	return page, err
}

// Bookkeeping is how far the books are.
type Bookkeeping struct {
	ClosedThrough *string     `json:"closed_through"` // a day; nil if none is closed
	Closing       *ClosingDay `json:"closing"`        // nil if no day is being closed
	Months        []BookMonth `json:"months"`         // newest first

	Policies []PolicyTerms `json:"policies"` // oldest first
}

// ClosingDay is a day that is being closed.
type ClosingDay struct {
	Day      string `json:"day"`
	Hotspots int    `json:"hotspots"` // that have their row
}

// BookMonth is how far a month is, for everyone.
type BookMonth struct {
	Period      string `json:"period"`
	Status      string `json:"status"` // "in_progress", "finalizing" or "settled"
	Days        int    `json:"days"`
	ClosedDays  int    `json:"closed_days"`
	Users       int    `json:"users"`      // who earned something on closed days
	Statements  int    `json:"statements"` // of them, those whose statement is made
	TotalEarned Amount `json:"total_earned"`
}

// Bookkeeping returns which days are closed and which months are settled: 1 to 24 months, or
// 0 for the server's default. It needs the scope admin.
func (c *Client) Bookkeeping(ctx context.Context, months int) (Bookkeeping, error) {
	query := url.Values{}
	if months != 0 {
		query.Set("months", strconv.Itoa(months))
	}
	books, _, err := call[Bookkeeping](ctx, c, get(path("rewards", "months"), query))
	return books, err
}
