package client

import (
	"context"
	"iter"
	"time"
)

// Hold is what staff hold back from an operator, and why. What was earned meanwhile is paid
// once the hold is over, unless it was voided.
type Hold struct {
	ID          string    `json:"id"`
	OperatorID  string    `json:"operator_id"`
	HotspotID   *string   `json:"hotspot_id"` // nil: all hotspots of the operator
	Status      string    `json:"status"`     // "active", "released" or "voided"
	Reason      string    `json:"reason"`
	Evidence    string    `json:"evidence"`
	PlacedAt    time.Time `json:"placed_at"`
	Until       time.Time `json:"until"`
	Extensions  []HoldAct `json:"extensions"`
	FailedVisit *HoldAct  `json:"failed_visit"`
	Answer      *HoldAct  `json:"answer"` // of the operator
	Ended       *HoldAct  `json:"ended"`
}

// HoldAct is what someone did about a hold, or said.
type HoldAct struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// HoldForm asks for a hold of a hotspot, or of all hotspots of an operator, until a moment
// at most 30 days away.
type HoldForm struct {
	HotspotID  string    `json:"hotspot_id,omitempty"`
	OperatorID string    `json:"operator_id,omitempty"`
	Reason     string    `json:"reason"`
	Evidence   string    `json:"evidence"`
	Until      time.Time `json:"until"`
}

// HoldDecision extends a hold or ends it. The action is "extend", "release" or "void".
type HoldDecision struct {
	Action string     `json:"action"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitempty"` // of an extension
}

// HoldReply is what an operator says about a hold.
type HoldReply struct {
	Text string `json:"text"`
}

// PlaceHold holds back what is earned from now on. It needs the scope hotspots:verify, like
// DecideHold.
func (c *Client) PlaceHold(ctx context.Context, in HoldForm) (Hold, error) {
	return call[Hold](ctx, c, post(path("holds"), in).once(""))
}

// DecideHold extends a hold, ends it, or says that a visit failed.
func (c *Client) DecideHold(ctx context.Context, id string, in HoldDecision) (Hold, error) {
	return call[Hold](ctx, c, post(path("holds", id, "decisions"), in).once(""))
}

// AnswerHold tells staff something about a hold of one's own. It needs the scope
// hotspots:write.
func (c *Client) AnswerHold(ctx context.Context, id, text string) (Hold, error) {
	return call[Hold](ctx, c, post(path("holds", id, "answer"), HoldReply{text}).once(""))
}

// HoldsPage returns a page of holds, newest first: those of a user, which need the scope
// rewards:read, and of others admin; or of everyone if user is empty, which needs
// hotspots:verify.
func (c *Client) HoldsPage(ctx context.Context, user string, p PageQuery) (Page[Hold], error) {
	if user == "" {
		return page[Hold](ctx, c, path("holds"), nil, p)
	}
	return page[Hold](ctx, c, path("users", user, "holds"), nil, p)
}

// Holds returns all holds that HoldsPage returns, page by page.
func (c *Client) Holds(ctx context.Context, user string) iter.Seq2[Hold, error] {
	return pages(func(p PageQuery) (Page[Hold], error) { return c.HoldsPage(ctx, user, p) })
}
