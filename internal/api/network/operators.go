package network

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/oversight"
)

func decodeOperators(_ *http.Request, q *edge.Query) oversight.OperatorsQuery {
	return oversight.OperatorsQuery{Limit: q.Whole("limit", 1, 100, 50), After: q.User("after")}
}

func encodeOperators(_ http.Header, in oversight.Operators) edge.Payload {
	out := client.Operators{Month: in.Month.String()}
	for _, o := range in.Page {
		out.Operators = append(out.Operators, client.Operator{UserID: string(o.User), Hotspots: o.Hotspots, Waiting: o.Waiting, Keys: o.Keys, Earned: client.Amount(o.Earned)})
	}
	if in.More {
		out.Next = new(string(in.Page[len(in.Page)-1].User))
	}
	return edge.Payload{Data: out}
}
