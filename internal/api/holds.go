package api

import (
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// hold shows a hold to staff and to its operator. Who did what is in the audit alone.
type hold struct {
	ID         beacon.HoldID     `json:"id"`
	OperatorID beacon.UserID     `json:"operator_id"`
	HotspotID  *beacon.HotspotID `json:"hotspot_id"`
	Status     beacon.HoldState  `json:"status"`
	Reason     string            `json:"reason"`
	Evidence   string            `json:"evidence"`
	PlacedAt   stamp             `json:"placed_at"`
	Until      stamp             `json:"until"`
	Extensions []holdAct         `json:"extensions"`
	Visit      *holdAct          `json:"failed_visit"`
	Answer     *holdAct          `json:"answer"`
	Ended      *holdAct          `json:"ended"`
}

type holdAct struct {
	At   stamp  `json:"at"`
	Text string `json:"text"`
}

func showAct(a beacon.HoldAct) *holdAct {
	if a == (beacon.HoldAct{}) {
		return nil
	}
	return &holdAct{stamp(a.At), a.Note}
}

func showHold(h beacon.Hold) hold {
	shown := hold{
		ID: h.ID, OperatorID: h.User, Status: h.State, Reason: h.Reason, Evidence: h.Evidence, PlacedAt: stamp(h.Placed.At),
		Until: stamp(h.Until), Extensions: []holdAct{}, Visit: showAct(h.Visit), Answer: showAct(h.Answer), Ended: showAct(h.Ended),
	}
	if h.Hotspot != "" {
		shown.HotspotID = &h.Hotspot
	}
	for _, e := range h.Extended {
		shown.Extensions = append(shown.Extensions, *showAct(e))
	}
	return shown
}

func encodeHold(_ http.Header, h beacon.Hold) payload { return payload{Data: showHold(h)} }

func encodeHolds(_ http.Header, list beacon.Listed[beacon.Hold]) payload {
	return showPage(list, holdList, placeOfHold, showHold)
}

func placeOfHold(h beacon.Hold) string { return string(h.ID) }

// about reads a text about a hold.
func about(o *object, name string) string {
	text, ok := beacon.Required(o.text(name), o.path+name, o.faults)
	if !ok {
		return ""
	}
	clean, err := beacon.CleanStatement(text)
	o.faults.Check(o.path+name, err)
	return clean
}

// valid is for forms whose faults were all found while they were read.
func valid() error { return nil }

// end reads when a hold is to end.
func end(o *object) time.Time {
	until, _ := beacon.Required(readTime(o, "until"), o.path+"until", o.faults)
	return until
}

func decodeNewHold(_ *http.Request, o *object) (rewards.NewHold, error) {
	hotspot, one := beacon.Optional(o.text("hotspot_id"), "hotspot_id", o.faults)
	user, all := beacon.Optional(o.text("operator_id"), "operator_id", o.faults)
	switch {
	case one == all:
		o.faults.Add("hotspot_id", "must be given, or operator_id, but not both")
	case one && !id.Valid(beacon.HotspotPrefix, hotspot):
		o.faults.Add("hotspot_id", "must be the id of a hotspot")
	case all && !id.Valid(beacon.UserPrefix, user):
		o.faults.Add("operator_id", "must be the id of a user")
	}
	in := rewards.NewHold{
		Hotspot: beacon.HotspotID(hotspot), User: beacon.UserID(user), Reason: about(o, "reason"), Evidence: about(o, "evidence"), Until: end(o),
	}
	return in, o.settle(valid)
}

func decodeHoldDecision(r *http.Request, o *object) (rewards.HoldDecision, error) {
	action, ok := beacon.Required(o.text("action"), "action", o.faults)
	in := rewards.HoldDecision{Hold: beacon.HoldID(r.PathValue("id")), Action: rewards.HoldAction(action), Reason: about(o, "reason")}
	switch in.Action {
	case rewards.ExtendHold:
		in.Until = end(o)
	case rewards.ReleaseHold, rewards.VoidHold:
	default:
		if ok {
			o.faults.Add("action", "must be extend, release or void")
		}
	}
	return in, o.settle(valid)
}

func decodeHoldAnswer(r *http.Request, o *object) (rewards.HoldAnswer, error) {
	in := rewards.HoldAnswer{Hold: beacon.HoldID(r.PathValue("id")), Text: about(o, "text")}
	return in, o.settle(valid)
}

func decodeHolds(r *http.Request, q *query) rewards.HoldsQuery {
	return rewards.HoldsQuery{User: beacon.UserID(r.PathValue("id")), Page: q.page(holdList)}
}
