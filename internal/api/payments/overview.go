package payments

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// maxBookMonths is how many months the overview shows at most.
const maxBookMonths = 24

func decodeOverview(_ *http.Request, q *edge.Query) int {
	return q.Whole("months", 1, maxBookMonths, 12)
}

func (a *API) overview(ctx context.Context, p beacon.Principal, months int) (earnings.Overview, error) {
	return a.rewards.Overview(ctx, p, months)
}

func encodeOverview(_ http.Header, b earnings.Overview) edge.Payload {
	out := client.Bookkeeping{Months: make([]client.BookMonth, len(b.Months)), Policies: make([]client.PolicyTerms, len(b.Policies)), NewestPolicy: showPolicy(new(policy.Newest()))}
	for i := range b.Policies {
		out.Policies[i] = showPolicy(&b.Policies[i])
	}
	if b.Begun {
		if through := b.Closing.Through(); through >= b.First {
			out.ClosedThrough = new(through.String())
		}
		if b.Closing.ClosedAt.IsZero() {
			out.Closing = &client.ClosingDay{Day: b.Closing.Day.String(), Hotspots: b.Closing.Hotspots}
		}
	}
	for i, m := range b.Months {
		days := int(m.Month.Last()-m.Month.First()) + 1
		out.Months[i] = client.BookMonth{
			Period: m.Month.String(), Status: string(m.Status), Days: days, ClosedDays: m.Closed, Users: m.Users, Statements: m.Statements, TotalEarned: client.Amount(m.Earned),
		}
	}
	return edge.Payload{Data: out}
}
