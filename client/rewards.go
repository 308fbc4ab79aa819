package client

import (
	"context"
	"iter"
	"time"
)

// Periods of rewards.
const (
	CurrentMonth = "current"
	LastMonth    = "last"
	AllMonths    = "all"
)

// Rewards is what a user earned in a period.
type Rewards struct {
	UserID    string           `json:"user_id"`
	Unit      string           `json:"unit"`
	Period    RewardsPeriod    `json:"period"`
	Summary   RewardsSummary   `json:"summary"`
	Breakdown Breakdown        `json:"breakdown"`
	Hotspots  []HotspotRewards `json:"hotspots"`
}

// RewardsPeriod is the period of rewards; End is exclusive.
type RewardsPeriod struct {
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Status string    `json:"status"` // "in_progress", "finalizing" or "settled"
}

// RewardsSummary adds up to TotalEarned.
type RewardsSummary struct {
	TotalEarned Amount `json:"total_earned"`
	Pending     Amount `json:"pending"`
	Settled     Amount `json:"settled"`
	Held        Amount `json:"held"`   // by staff
	Voided      Amount `json:"voided"` // held once, and not paid
}

// Breakdown is what was earned, by component.
type Breakdown struct {
	Availability Amount `json:"availability"`
	Performance  Amount `json:"performance"`
	Utilization  Amount `json:"utilization"`
}

// HotspotRewards is what one hotspot earned.
type HotspotRewards struct {
	HotspotID         string    `json:"hotspot_id"`
	Name              string    `json:"name"`
	Earned            Amount    `json:"earned"` // the sum of the next four
	Pending           Amount    `json:"pending"`
	Settled           Amount    `json:"settled"`
	Held              Amount    `json:"held"`
	Voided            Amount    `json:"voided"`
	AvailabilityScore float64   `json:"availability_score"`
	PerformanceTier   string    `json:"performance_tier"`
	Breakdown         Breakdown `json:"breakdown"`
}

// Rewards returns what a user earned in a period: [CurrentMonth], [LastMonth] or
// [AllMonths]. It needs the scope rewards:read.
func (c *Client) Rewards(ctx context.Context, user, period string) (Rewards, error) {
	return call[Rewards](ctx, c, get(path("users", user, "rewards"), given("period", period)))
}

// RewardsMonth is what a user earned in a month.
type RewardsMonth struct {
	Period          string  `json:"period"` // "2026-10"
	TotalEarned     Amount  `json:"total_earned"`
	HotspotCount    int     `json:"hotspot_count"`
	AvgAvailability float64 `json:"avg_availability"`
	Unit            string  `json:"unit"`

	// These add up to TotalEarned, as in RewardsSummary.
	Pending Amount `json:"pending"`
	Settled Amount `json:"settled"`
	Held    Amount `json:"held"`
	Voided  Amount `json:"voided"`
}

// RewardsHistoryQuery selects the months of a range of days, such as "2026-10-31".
// The default is the last twelve months.
type RewardsHistoryQuery struct {
	StartDate, EndDate string
}

// RewardsHistoryPage returns a page of what a user earned by month, newest first. It
// needs the scope rewards:read.
func (c *Client) RewardsHistoryPage(ctx context.Context, user string, q RewardsHistoryQuery, p PageQuery) (Page[RewardsMonth], error) {
	query := given("start_date", q.StartDate, "end_date", q.EndDate)
	return page[RewardsMonth](ctx, c, path("users", user, "rewards", "history"), query, p)
}

// RewardsHistory returns all months that RewardsHistoryPage returns, page by page.
func (c *Client) RewardsHistory(ctx context.Context, user string, q RewardsHistoryQuery) iter.Seq2[RewardsMonth, error] {
	return pages(func(p PageQuery) (Page[RewardsMonth], error) { return c.RewardsHistoryPage(ctx, user, q, p) })
}

// RewardsDays is what a user earned on each day of a month, up to today.
type RewardsDays struct {
	UserID string       `json:"user_id"`
	Period string       `json:"period"` // "2026-10"
	Unit   string       `json:"unit"`
	Days   []RewardsDay `json:"days"`
}

// RewardsDay is what a user's hotspots earned together on one day.
type RewardsDay struct {
	Date            string    `json:"date"`
	Open            bool      `json:"open"` // not closed: everything is up to now
	TotalEarned     Amount    `json:"total_earned"`
	HotspotCount    int       `json:"hotspot_count"`
	AvgAvailability float64   `json:"avg_availability"`
	Breakdown       Breakdown `json:"breakdown"`
}

// RewardsDays returns what a user earned on each day of a month, such as "2026-10"; an
// empty one is the current month. It needs the scope rewards:read.
func (c *Client) RewardsDays(ctx context.Context, user, month string) (RewardsDays, error) {
	return call[RewardsDays](ctx, c, get(path("users", user, "rewards", "days"), given("month", month)))
}

// PolicyTerms are the rules by which a day is paid.
type PolicyTerms struct {
	Version       int       `json:"version"`
	EffectiveFrom string    `json:"effective_from"`
	Availability  Amount    `json:"availability"`
	Performance   TierRates `json:"performance"`

	UtilizationPerGB Amount `json:"utilization_per_gb"`
	UtilizationCap   Amount `json:"utilization_cap"`

	// Only of a policy that pays places rather than devices.
	RadiusM       int    `json:"radius_m,omitzero"`
	UnprovenShare Amount `json:"unproven_share,omitzero"`

	// Only of one that counts standing in minutes.
	StandingMinutesADay int `json:"standing_minutes_a_day,omitzero"`
}

// TierRates are what each tier adds for each credit of availability.
type TierRates struct {
	Standard Amount `json:"standard"`
	Enhanced Amount `json:"enhanced"`
	Premium  Amount `json:"premium"`
}

// DayFacts is everything that a day's reward depends on.
type DayFacts struct {
	ServedMinutes   int    `json:"served_minutes"`
	ExpectedMinutes int    `json:"expected_minutes"`
	ClosedMinutes   int    `json:"closed_minutes"`
	ExcusedMinutes  int    `json:"excused_minutes"`
	OutsideMinutes  int    `json:"outside_minutes"`
	TrafficBytes    uint64 `json:"traffic_bytes"`
	PerformanceTier string `json:"performance_tier"`
	*GroundFacts           // nil if the policy does not pay places
}

// GroundFacts say how much of the ground around a hotspot was its own.
type GroundFacts struct {
	OwnedMinutes    Amount  `json:"owned_minutes"` // minutes, despite the type
	RecentShare     Amount  `json:"recent_share"`  // of the ground, on the last seven days
	Proof           Amount  `json:"proof"`         // 1, the policy's share for places that are not proven, or 0 where no visit has found the hotspot
	DaysServed      *int    `json:"days_served,omitempty"`
	StandingMinutes *int    `json:"standing_minutes,omitempty"` // instead of DaysServed, if the policy counts minutes
	PlaceLatE7      int32   `json:"place_lat_e7"`               // in ten-millionths of a degree
	PlaceLngE7      int32   `json:"place_lng_e7"`
	SharedMinutes   int     `json:"shared_minutes"`
	SharedWith      int     `json:"shared_with"`             // number of older hotspots
	DueMinutes      *Amount `json:"due_minutes,omitempty"`   // with StandingMinutes
	SpareCredits    *Amount `json:"spare_credits,omitempty"` // with StandingMinutes
}

// BreakdownWithTotal is a breakdown with its total.
type BreakdownWithTotal struct {
	Breakdown
	Total Amount `json:"total"`
}

// Explanation says why a day earned what it did: Potential is the sum of all Losses
// and Earned, exactly.
type Explanation struct {
	HotspotID string             `json:"hotspot_id"`
	Date      string             `json:"date"`
	Unit      string             `json:"unit"`
	Open      bool               `json:"open"`   // the day is not closed: everything is up to now
	Status    string             `json:"status"` // of the month
	Policy    PolicyTerms        `json:"policy"`
	Facts     DayFacts           `json:"facts"`
	Potential BreakdownWithTotal `json:"potential"`
	Losses    []Loss             `json:"losses"`
	Earned    BreakdownWithTotal `json:"earned"`
	Payment   string             `json:"payment"`        // of Earned: "pending", "settled", "held" or "voided"
	Hold      *Hold              `json:"hold,omitempty"` // nil: the day is not held

	Approximate bool `json:"approximate,omitzero"` // Facts are shown coarsely, and the amounts with them: statements have the exact ones
}

// Loss is what a day did not earn, and why.
type Loss struct {
	Reason  string `json:"reason"`
	Minutes int    `json:"minutes,omitzero"` // 0 if it is not about minutes
	BreakdownWithTotal
	Explanation string `json:"explanation"` // for people
}

// ExplainRewards returns why a hotspot earned what it did on a day such as
// "2026-10-31", or today if date is empty. It needs the scope rewards:read.
func (c *Client) ExplainRewards(ctx context.Context, hotspot, date string) (Explanation, error) {
	return call[Explanation](ctx, c, get(path("hotspots", hotspot, "rewards", "explain"), given("date", date)))
}

// LatLng is a place.
type LatLng struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// RewardsPlan is where hotspots are planned.
type RewardsPlan struct {
	Places []LatLng `json:"places"`
}

// RewardsEstimates is what planned hotspots might earn, each after those before it.
type RewardsEstimates struct {
	Unit   string            `json:"unit"`
	Days   int               `json:"days"`
	Places []RewardsEstimate `json:"places"`
}

// RewardsEstimate is what a planned hotspot might earn in 30 days for its service.
type RewardsEstimate struct {
	Lat        float64       `json:"lat"`
	Lng        float64       `json:"lng"`
	FreeGround float64       `json:"free_ground"` // the share that no other hotspot covers
	Neighbours int           `json:"neighbours"`
	Most       Amount        `json:"most"`
	Expected   *RewardsRange `json:"expected"` // nil if it has too few neighbours
}

// RewardsRange is what a hotspot would earn that did as well as its neighbours: a quarter of
// them would earn less than Low, half less than Middle, and a quarter more than High.
type RewardsRange struct {
	Low    Amount `json:"low"`
	Middle Amount `json:"middle"`
	High   Amount `json:"high"`
}

// EstimateRewards returns what hotspots at some places might earn, each of them after those
// before it. It stores nothing.
func (c *Client) EstimateRewards(ctx context.Context, places ...LatLng) ([]RewardsEstimate, error) {
	plan := RewardsPlan{Places: places}
	if places == nil {
		plan.Places = []LatLng{}
	}
	r := post(path("rewards", "estimate"), plan)
	r.again = true
	answer, err := call[RewardsEstimates](ctx, c, r)
	return answer.Places, err
}
