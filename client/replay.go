package client

import "context"

// ReplayForm asks what closed days would have earned.
type ReplayForm struct {
	From   string      `json:"from"` // such as "2026-10-01"
	To     string      `json:"to"`
	Policy *PolicyForm `json:"policy,omitempty"` // nil: those that were in force
}

// Replay is what closed days earned, and what they would have earned.
type Replay struct {
	From            string      `json:"from"`
	To              string      `json:"to"`
	Unit            string      `json:"unit"`
	Days            []ReplayDay `json:"days"`
	Rows            int         `json:"rows"`
	DifferentRows   int         `json:"different_rows"`   // that are not as in the ledger
	FirstDifference *string     `json:"first_difference"` // for people; nil if there is none

	UnvisitedHotspots int `json:"unvisited_hotspots"` // that would be paid nothing until a visit finds them
	ReplaySums
	Groups    []ReplayGroup    `json:"groups"`    // from the greatest loss to the greatest gain
	Operators []ReplayOperator `json:"operators"` // by id
}

// ReplaySums is what was earned, and what would have been.
type ReplaySums struct {
	Earned            Amount    `json:"earned"`
	Breakdown         Breakdown `json:"breakdown"`
	Replayed          Amount    `json:"replayed"`
	ReplayedBreakdown Breakdown `json:"replayed_breakdown"`
}

// ReplayDay is a day of a replay.
type ReplayDay struct {
	Date string `json:"date"`
	Rows int    `json:"rows"`
	ReplaySums
}

// ReplayGroup is how many operators would lose or gain how much.
type ReplayGroup struct {
	Group     string `json:"group"` // such as "lose_10_to_25", in percent, or "same"
	Operators int    `json:"operators"`
}

// ReplayOperator is an operator in a replay.
type ReplayOperator struct {
	UserID   string `json:"user_id"`
	Hotspots int    `json:"hotspots"`
	ReplaySums
}

// ReplayRewards tries a policy on closed days. It stores nothing. It can take minutes, is
// sent once, and ends with ctx alone. It needs the scope admin.
func (c *Client) ReplayRewards(ctx context.Context, form ReplayForm) (Replay, error) {
	patient := *c
	patient.timeout = 0
	return call[Replay](ctx, &patient, post(path("rewards", "replays"), form))
}
