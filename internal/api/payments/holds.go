package payments

import (
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
)

func showAct(a beacon.HoldAct) *client.HoldAct {
	if a.IsZero() {
		return nil
	}
	return &client.HoldAct{At: a.At, Text: a.Note}
}

// ShowHold shows a hold to staff and to its operator. Who did what is in the audit alone.
func ShowHold(h beacon.Hold) client.Hold {
	shown := client.Hold{
		ID: string(h.ID), OperatorID: string(h.User), Status: string(h.State), Reason: h.Reason, Evidence: h.Evidence, PlacedAt: h.Placed.At,
		Until: h.Until, FailedVisit: showAct(h.Visit), Answer: showAct(h.Answer), Ended: showAct(h.Ended),
	}
	if h.Hotspot != "" {
		shown.HotspotID = new(string(h.Hotspot))
	}
	for _, e := range h.Extended {
		shown.Extensions = append(shown.Extensions, *showAct(e))
	}
	return shown
}

func encodeHold(_ http.Header, h beacon.Hold) edge.Payload { return edge.Payload{Data: ShowHold(h)} }

func encodeHolds(_ http.Header, list beacon.Listed[beacon.Hold]) edge.Payload {
	return edge.ShowPage(list, edge.HoldList, PlaceOfHold, ShowHold)
}

func PlaceOfHold(h beacon.Hold) string { return string(h.ID) }

// about reads a text about a hold.
func about(o *edge.Object, name string) string {
	text, ok := beacon.Required(o.Text(name), o.Path+name, o.Faults)
	if !ok {
		return ""
	}
	clean, err := beacon.CleanStatement(text)
	o.Faults.Check(o.Path+name, err)
	return clean
}

// end reads when a hold is to end.
func end(o *edge.Object) time.Time {
	until, _ := beacon.Required(edge.ReadTime(o, "until"), o.Path+"until", o.Faults)
	return until
}

func decodeNewHold(_ *http.Request, o *edge.Object) (holds.Request, error) {
	hotspot, one := beacon.Optional(o.Text("hotspot_id"), "hotspot_id", o.Faults)
	user, all := beacon.Optional(o.Text("operator_id"), "operator_id", o.Faults)
	switch {
	case one == all:
		o.Faults.Add("hotspot_id", "must be given, or operator_id, but not both")
	case one && !id.Valid(beacon.HotspotPrefix, hotspot):
		o.Faults.Add("hotspot_id", "must be the id of a hotspot")
	case all && !id.Valid(beacon.UserPrefix, user):
		o.Faults.Add("operator_id", "must be the id of a user")
	}
	in := holds.Request{
		Hotspot: beacon.HotspotID(hotspot), User: beacon.UserID(user), Reason: about(o, "reason"), Evidence: about(o, "evidence"), Until: end(o),
	}
	return in, o.Finish(edge.Valid)
}

func decodeHoldDecision(r *http.Request, o *edge.Object) (holds.Decision, error) {
	action, ok := beacon.Required(o.Text("action"), "action", o.Faults)
	in := holds.Decision{Hold: beacon.HoldID(r.PathValue("id")), Action: holds.Action(action), Reason: about(o, "reason")}
	switch in.Action {
	case holds.Extend:
		in.Until = end(o)
	case holds.Release, holds.Void:
	default:
		if ok {
			o.Faults.Add("action", "must be extend, release or void")
		}
	}
	return in, o.Finish(edge.Valid)
}

func decodeHoldAnswer(r *http.Request, o *edge.Object) (holds.Reply, error) {
	in := holds.Reply{Hold: beacon.HoldID(r.PathValue("id")), Text: about(o, "text")}
	return in, o.Finish(edge.Valid)
}

func decodeHolds(r *http.Request, q *edge.Query) holds.Query {
	return holds.Query{User: beacon.UserID(r.PathValue("id")), Page: q.Page(edge.HoldList)}
}
