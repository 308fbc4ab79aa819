package client

import (
	"context"
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

	Person     *string `json:"person"`      // who was signed in; nil for a key
	PersonName *string `json:"person_name"` // nil once they are erased
}

// Audit returns a page of the audit log. A page of a query that selects may be short, or
// empty, although Next says that there is more. It needs the scope admin.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (Audit, error) {
	query := given("kind", q.Kind, "target", q.Target, "user_id", q.UserID, "cursor", q.Cursor, "limit", whole(q.Limit))
	return call[Audit](ctx, c, get(path("audit"), query))
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
	return call[Operators](ctx, c, get(path("operators"), given("after", after, "limit", whole(limit))))
}

// Bookkeeping is how far the books are.
type Bookkeeping struct {
	ClosedThrough *string     `json:"closed_through"` // a day; nil if none is closed
	Closing       *ClosingDay `json:"closing"`        // nil if no day is being closed
	Months        []BookMonth `json:"months"`         // newest first

	Policies     []PolicyTerms `json:"policies"`      // oldest first
	NewestPolicy PolicyTerms   `json:"newest_policy"` // that is built into the server, in force or not
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

// RewardsClock is what the clocks say, and what waits for them.
type RewardsClock struct {
	Certain        *time.Time     `json:"certain"`          // the latest moment that has certainly come; nil: unknown
	Waiting        bool           `json:"waiting"`          // days wait for someone to say what day it is
	FirstOpenDay   *string        `json:"first_open_day"`   // nil if there is nothing to close
	FirstOpenMonth *string        `json:"first_open_month"` // nil if there is nothing to settle
	Clocks         []ClockReading `json:"clocks"`
}

// ClockReading is what one clock says, and what its date would close and settle for good.
type ClockReading struct {
	Name          string    `json:"name"` // "server", "database", or the id of another server
	Says          time.Time `json:"says"`
	ClosesDays    int       `json:"closes_days"`
	SettlesMonths int       `json:"settles_months"`
}

// RewardsClock returns what the clocks say. It needs the scope admin, as all that follow.
func (c *Client) RewardsClock(ctx context.Context) (RewardsClock, error) {
	return call[RewardsClock](ctx, c, get(path("rewards", "clock"), nil))
}

// ClockConfirmation says what day it is, in UTC.
type ClockConfirmation struct {
	Today string `json:"today"` // such as "2026-11-17"
}

// ConfirmRewardsClock says what day it is: all days before it are closed for good.
func (c *Client) ConfirmRewardsClock(ctx context.Context, today string) (RewardsClock, error) {
	return call[RewardsClock](ctx, c, post(path("rewards", "clock"), ClockConfirmation{today}).once(""))
}

// SettlementForm says how to settle a month.
type SettlementForm struct {
	Early bool `json:"early,omitzero"` // before 72 hours have passed since its end
}

// Settlement is a month that was settled.
type Settlement struct {
	Period      string `json:"period"`
	Statements  int    `json:"statements"`
	Written     int    `json:"written"` // of them, by this call
	TotalEarned Amount `json:"total_earned"`
}

// SettleMonth writes the statements of a month, such as "2026-10". Servers do so themselves.
func (c *Client) SettleMonth(ctx context.Context, month string, form SettlementForm) (Settlement, error) {
	return call[Settlement](ctx, c, post(path("rewards", "months", month, "settlement"), form).once(""))
}

// ReopeningForm says which days to open again.
type ReopeningForm struct {
	From    string  `json:"from"`
	Through *string `json:"through,omitempty"` // only if this is the last closed day
	Confirm bool    `json:"confirm,omitzero"`  // do it; else nothing is changed
}

// Reopening is what opening days again did or would do.
type Reopening struct {
	From        string         `json:"from"`
	Through     string         `json:"through"`
	Rows        int            `json:"rows"` // void
	Users       int            `json:"users"`
	TotalEarned Amount         `json:"total_earned"` // by the void rows
	Largest     []ReopenedUser `json:"largest"`      // up to 20 users
	Confirmed   bool           `json:"confirmed"`
}

// ReopenedUser is a user whose rows are void until the days are closed again.
type ReopenedUser struct {
	UserID string `json:"user_id"`
	Rows   int    `json:"rows"`
	Earned Amount `json:"earned"`
}

// ReopenDays opens days again that a wrong clock closed.
func (c *Client) ReopenDays(ctx context.Context, form ReopeningForm) (Reopening, error) {
	return call[Reopening](ctx, c, post(path("rewards", "reopenings"), form).once(""))
}

// PolicyAdoption says which policy to put into force, and from when on.
type PolicyAdoption struct {
	From    string      `json:"from"`
	Policy  *PolicyForm `json:"policy,omitempty"`  // nil: the newest built-in one
	Rewards string      `json:"rewards,omitempty"` // off: nothing is earned; on: again, by the last policy that was on
	Confirm bool        `json:"confirm,omitzero"`  // do it; else nothing is changed
}

// PolicyForm has the terms of a policy. Amounts are texts, such as "0.250000".
type PolicyForm struct {
	Availability     string   `json:"availability"`
	Performance      TierForm `json:"performance"`
	UtilizationPerGB string   `json:"utilization_per_gb"`
	UtilizationCap   string   `json:"utilization_cap"`
	RadiusM          int      `json:"radius_m,omitzero"`        // only of a policy that pays places
	UnprovenShare    string   `json:"unproven_share,omitempty"` // only of a policy that pays places

	StandingMinutesADay int `json:"standing_minutes_a_day,omitzero"` // only of one that counts standing in minutes
}

// TierForm is what each tier adds per credit of availability.
type TierForm struct {
	Standard string `json:"standard"`
	Enhanced string `json:"enhanced"`
	Premium  string `json:"premium"`
}

// AdoptedPolicy is what adopting a policy did or would do.
type AdoptedPolicy struct {
	Before        PolicyTerms `json:"before"`
	Policy        PolicyTerms `json:"policy"`
	ProvenThrough *string     `json:"proven_through"` // of the first policy that pays places
	Confirmed     bool        `json:"confirmed"`
}

// AdoptPolicy puts a policy into force from a day on that has not begun.
func (c *Client) AdoptPolicy(ctx context.Context, form PolicyAdoption) (AdoptedPolicy, error) {
	return call[AdoptedPolicy](ctx, c, post(path("rewards", "policies"), form).once(""))
}

// MACRelease names a reserved MAC address, and why it is released.
type MACRelease struct {
	MACAddress string `json:"mac_address"`
	Reason     string `json:"reason"`
}

// ReleasedMAC is a MAC address that is free, and for whom it was reserved.
type ReleasedMAC struct {
	MACAddress string `json:"mac_address"`
	UserID     string `json:"user_id"`
}

// ReleaseMAC lets anyone register a MAC address that is reserved for its last operator.
func (c *Client) ReleaseMAC(ctx context.Context, form MACRelease) (ReleasedMAC, error) {
	return call[ReleasedMAC](ctx, c, post(path("macs", "releases"), form).once(""))
}

// Bookkeeping returns which days are closed and which months are settled: 1 to 24 months, or
// 0 for the server's default. It needs the scope admin.
func (c *Client) Bookkeeping(ctx context.Context, months int) (Bookkeeping, error) {
	return call[Bookkeeping](ctx, c, get(path("rewards", "months"), given("months", whole(months))))
}
