package api

import (
	"encoding/json"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// bookkeeping says how far the books are: which days are closed, and which months settled.
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
