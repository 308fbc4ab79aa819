package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
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

type bookkeeping struct {
	ClosedThrough *string     `json:"closed_through"`
	Closing       *closing    `json:"closing"`
	Months        []bookMonth `json:"months"`

	Policies []json.RawMessage `json:"policies"`
}

type closing struct {
	Day      string `json:"day"`
	Hotspots int    `json:"hotspots"`
}

type bookMonth struct {
	Period     beacon.Month   `json:"period"`
	Status     rewards.Status `json:"status"`
	Days       int            `json:"days"`
	Closed     int            `json:"closed_days"`
	Users      int            `json:"users"`
	Statements int            `json:"statements"`
	Earned     beacon.Amount  `json:"total_earned"`
}

// maxBookMonths is how many months the bookkeeping shows at most.
const maxBookMonths = 24

func decodeBookkeeping(_ *http.Request, q *query) int { return q.whole("months", 1, maxBookMonths, 12) }

func encodeBookkeeping(_ http.Header, b rewards.Bookkeeping) payload {
	out := bookkeeping{Months: make([]bookMonth, len(b.Months)), Policies: make([]json.RawMessage, len(b.Policies))}
	for i := range b.Policies {
		out.Policies[i] = showPolicy(&b.Policies[i])
	}
	if b.Begun {
		if through := b.Closing.Through(); through >= b.First {
			out.ClosedThrough = new(through.String())
		}
		if b.Closing.ClosedAt.IsZero() {
			out.Closing = &closing{b.Closing.Day.String(), b.Closing.Hotspots}
		}
	}
	for i, m := range b.Months {
		days := int(m.Month.Last()-m.Month.First()) + 1
		out.Months[i] = bookMonth{m.Month, m.Status, days, m.Closed, m.Users, m.Statements, m.Earned}
	}
	return payload{Data: out}
}
