package network

import (
	"context"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/review"
)

// decodeQueue reads which page of the queue is asked for. Limit is an older name of per_page.
func decodeQueue(_ *http.Request, q *edge.Query) review.Query {
	in := review.Query{Page: q.Page(edge.FlagList)}
	in.Operator, in.Kind = q.User("operator_id"), beacon.FlagKind(q.OneOf("kind", edge.Texts(beacon.FlagKinds())...))
	if _, given := q.Get("limit"); given {
		in.Page.Size = q.Whole("limit", 1, 100, in.Page.Size)
	}
	return in
}

func encodeQueue(_ http.Header, in review.Queue) edge.Payload {
	out := client.Review{Total: in.Flags, Flags: make([]client.Flag, len(in.Items))}
	for i := range in.Items {
		f := &in.Items[i]
		facts := make([]client.FlagFact, 0, len(f.Facts))
		for _, name := range slices.Sorted(maps.Keys(f.Facts)) {
			facts = append(facts, client.FlagFact{Name: name, Value: f.Facts[name]})
		}
		out.Flags[i] = client.Flag{
			HotspotID: string(f.Hotspot), OperatorID: string(f.Operator), Kind: string(f.Kind), Weight: f.Weight, Facts: facts,
			FirstDay: f.First.String(), LastDay: f.Last.String(), Count: f.Count, AtStake: client.Amount(f.Stake),
		}
		for _, o := range f.Group {
			out.Flags[i].Group = append(out.Flags[i].Group, client.FlagMember{HotspotID: string(o.Hotspot), OperatorID: string(o.User)})
		}
	}
	place := func(l beacon.FlagLine) string { return l.Place().String() }
	return edge.Payload{Data: out, Pagination: new(edge.Paginate(in.Listed, edge.FlagList, place))}
}

var errNoFlag = beacon.NoSuch("flag")

func decodeDismissal(_ http.ResponseWriter, r *http.Request) (review.Dismissal, error) {
	in := review.Dismissal{Of: r.PathValue("id"), Kind: beacon.FlagKind(r.PathValue("kind"))}
	q, err := edge.NewQuery(r)
	if err != nil {
		return in, err
	}
	if q.Need("reason") {
		text, _ := q.Get("reason")
		in.Reason, err = beacon.CleanReason(text)
		q.Faults.Check("reason", err)
	}
	if err := q.Faults.Err(); err != nil {
		return in, err
	}
	known := id.Valid(beacon.HotspotPrefix, in.Of) || id.Valid(beacon.UserPrefix, in.Of)
	if !known || !slices.Contains(beacon.FlagKinds(), in.Kind) {
		return in, errNoFlag
	}
	return in, nil
}

// around lists what stands around a hotspot, with how long it has served, if that is
// known.
func (a *API) around(ctx context.Context, p beacon.Principal, hotspot beacon.HotspotID) (client.Neighbours, error) {
	found, err := a.registry.Neighbours(ctx, p, hotspot)
	if err != nil {
		return client.Neighbours{}, err
	}
	ids := make([]beacon.HotspotID, len(found.Nearest))
	for i := range found.Nearest {
		ids[i] = found.Nearest[i].ID
	}
	standings, err := a.rewards.Standings(ctx, ids)
	out := client.Neighbours{Total: found.Total, Neighbours: make([]client.Neighbour, len(found.Nearest))}
	for i := range found.Nearest {
		n := &found.Nearest[i]
		out.Neighbours[i] = client.Neighbour{
			ID: string(n.ID), Name: n.Name, Type: client.Type(n.Type), Status: client.Status(n.Status), Verified: !n.Location.VerifiedAt.IsZero(),
			OperatorID: string(n.Operator), SameOperator: n.SameOperator, DistanceM: math.Round(n.DistanceM*10) / 10,
		}
		if is, known := standings.Of[n.ID]; known && standings.Counts == beacon.InDays {
			out.Neighbours[i].DaysServed = &is
		} else if known {
			out.Neighbours[i].StandingMinutes = &is
		}
	}
	return out, err
}
