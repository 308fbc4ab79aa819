package network

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

type operatorsQuery struct {
	after beacon.UserID
	limit int
}

func decodeOperators(_ *http.Request, q *edge.Query) operatorsQuery {
	return operatorsQuery{limit: q.Whole("limit", 1, 100, 50), after: q.User("after")}
}

// listOperators lists users with hotspots. There is no total: counting them would read all
// hotspots (decision D197).
func (a *API) listOperators(ctx context.Context, _ beacon.Principal, q operatorsQuery) (client.Operators, error) {
	now := a.Now()
	month := beacon.MonthOf(now)
	out := client.Operators{Month: month.String()}
	page, err := a.store.Operators(ctx, q.after, month, now, q.limit)
	for _, o := range page {
		out.Operators = append(out.Operators, client.Operator{UserID: string(o.User), Hotspots: o.Hotspots, Waiting: o.Waiting, Keys: o.Keys, Earned: client.Amount(o.Earned)})
	}
	if len(page) == q.limit {
		out.Next = new(string(page[len(page)-1].User))
	}
	return out, err
}
