package api

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type operators struct {
	Month     beacon.Month `json:"month"`
	Operators []operator   `json:"operators"`
	Next      *string      `json:"next"`
}

type operator struct {
	UserID   beacon.UserID `json:"user_id"`
	Hotspots int           `json:"hotspots"`
	Waiting  int           `json:"waiting"`
	Keys     int           `json:"keys"`
	Earned   beacon.Amount `json:"earned"`
}

type operatorsQuery struct {
	after beacon.UserID
	limit int
}

func decodeOperators(_ *http.Request, q *query) operatorsQuery {
	return operatorsQuery{limit: q.whole("limit", 1, 100, 50), after: q.user("after")}
}

// listOperators lists users with hotspots. There is no total: counting them would read all
// hotspots (decision D197).
func (a *API) listOperators(ctx context.Context, _ beacon.Principal, q operatorsQuery) (operators, error) {
	now := a.now()
	out := operators{Month: beacon.MonthOf(now), Operators: []operator{}}
	page, err := a.store.Operators(ctx, q.after, out.Month, now, q.limit)
	for _, o := range page {
		out.Operators = append(out.Operators, operator{o.User, o.Hotspots, o.Waiting, o.Keys, o.Earned})
	}
	if len(page) == q.limit {
		out.Next = new(string(page[len(page)-1].User))
	}
	return out, err
}
