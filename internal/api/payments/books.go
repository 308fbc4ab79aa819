package payments

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// What staff do to the books by hand (decision D199). What cannot be undone returns what it
// would do unless it is confirmed.

func (a *API) readClock(ctx context.Context, _ beacon.Principal, _ struct{}) (rewards.ClockReport, error) {
	return a.closing.ReportClock(ctx)
}

func (a *API) confirmClock(ctx context.Context, p beacon.Principal, today beacon.Day) (rewards.ClockReport, error) {
	if err := a.closing.ConfirmClock(ctx, p.Actor(), today); err != nil {
		return rewards.ClockReport{}, err
	}
	return a.closing.ReportClock(ctx)
}

func decodeConfirmation(_ *http.Request, o *edge.Object) (beacon.Day, error) {
	today, _ := edge.Needed(o, "today", readDay)
	return today, o.Finish(edge.Valid)
}

// readDay reads a UTC day.
func readDay(o *edge.Object, name string) beacon.Opt[beacon.Day] {
	return edge.Member(o, name, jsontext.KindString, "must be a string", func(value jsontext.Value) (beacon.Day, error) {
		text, err := edge.ReadText(value)
		if err != nil {
			return 0, err
		}
		return beacon.ParseDay(text)
	})
}

func encodeClock(_ http.Header, c rewards.ClockReport) edge.Payload {
	out := client.RewardsClock{Certain: edge.Maybe(c.Certain), Waiting: c.Waits()}
	if c.Begun {
		out.FirstOpenDay, out.FirstOpenMonth = new(c.First.String()), new(c.Month.String())
	}
	show := func(name string, says time.Time) {
		if !says.IsZero() && len(out.Clocks) < maxClocks {
			days, months := c.Due(beacon.DayOf(says))
			out.Clocks = append(out.Clocks, client.ClockReading{Name: name, Says: says, ClosesDays: days, SettlesMonths: months})
		}
	}
	show("server", c.Now)
	show("database", c.Database)
	for _, m := range c.Marks {
		show(m.Node, m.Said)
	}
	return edge.Payload{Data: out}
}

const maxClocks = 1000

type settlementForm struct {
	month beacon.Month
	early bool
}

func decodeSettlement(w http.ResponseWriter, r *http.Request) (in settlementForm, err error) {
	if in.month, err = beacon.ParseMonth(r.PathValue("month")); err != nil {
		return in, &beacon.Error{Kind: beacon.NotFound, Message: "months are settled, such as 2026-11"}
	}
	o, err := edge.ReadBody(w, r)
	if err != nil {
		return in, err
	}
	in.early, _ = beacon.Optional(o.Flag("early"), "early", o.Faults)
	return in, o.Finish(edge.Valid)
}

func (a *API) settle(ctx context.Context, p beacon.Principal, in settlementForm) (closing.SettleReport, error) {
	return a.closing.Settle(ctx, p.Actor(), in.month, in.early, func(int, int) {})
}

func encodeSettlement(_ http.Header, r closing.SettleReport) edge.Payload {
	return edge.Payload{Data: client.Settlement{Period: r.Month.String(), Statements: r.Statements, Written: r.Written, TotalEarned: client.Amount(r.Total)}}
}

type reopeningForm struct {
	from    beacon.Day
	through *beacon.Day
	confirm bool
}

// maxReopenedUsers is how many users a response names.
const maxReopenedUsers = 20

func decodeReopening(_ *http.Request, o *edge.Object) (in reopeningForm, err error) {
	in.from, _ = edge.Needed(o, "from", readDay)
	if through := readDay(o, "through"); through.Set && !through.Null {
		in.through = &through.V
	}
	in.confirm, _ = beacon.Optional(o.Flag("confirm"), "confirm", o.Faults)
	return in, o.Finish(edge.Valid)
}

func (a *API) reopen(ctx context.Context, p beacon.Principal, in reopeningForm) (closing.ReopenReport, error) {
	return a.closing.Reopen(ctx, p.Actor(), in.from, in.through, in.confirm)
}

func encodeReopening(_ http.Header, r closing.ReopenReport) edge.Payload {
	out := client.Reopening{
		From: r.From.String(), Through: r.Through.String(), Rows: r.Rows, Users: len(r.Users), TotalEarned: client.Amount(r.Total()), Confirmed: r.Confirmed,
	}
	slices.SortFunc(r.Users, func(a, b closing.ReopenedUser) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), strings.Compare(string(a.User), string(b.User)))
	})
	for _, u := range r.Users[:min(len(r.Users), maxReopenedUsers)] {
		out.Largest = append(out.Largest, client.ReopenedUser{UserID: string(u.User), Rows: u.Rows, Earned: client.Amount(u.Total())})
	}
	return edge.Payload{Data: out}
}

type policyAdoption struct {
	from    beacon.Day
	policy  policy.Policy
	resume  bool // with the terms of before rewards were turned off
	confirm bool
}

func decodeAdoption(_ *http.Request, o *edge.Object) (in policyAdoption, err error) {
	in.from, _ = edge.Needed(o, "from", readDay)
	in.policy = policy.Newest()
	terms := edge.Member(o, "policy", jsontext.KindBeginObject, "must be an object", func(value jsontext.Value) (policy.Policy, error) {
		return policy.ParseTerms(value)
	})
	if terms.Set && !terms.Null {
		in.policy = terms.V
	}
	if rewards, ok := beacon.Optional(o.Text("rewards"), "rewards", o.Faults); ok {
		switch {
		case rewards != "on" && rewards != "off":
			o.Faults.Add("rewards", "must be on or off")
		case terms.Set && !terms.Null:
			o.Faults.Add("rewards", "cannot be given together with policy: a policy turns rewards on")
		}
		in.policy, in.resume = policy.Policy{}, rewards == "on"
	}
	in.confirm, _ = beacon.Optional(o.Flag("confirm"), "confirm", o.Faults)
	return in, o.Finish(edge.Valid)
}

func (a *API) adopt(ctx context.Context, p beacon.Principal, in policyAdoption) (rewards.Adoption, error) {
	if in.resume {
		var err error
		if in.policy, err = a.closing.Resumed(ctx); err != nil {
			return rewards.Adoption{}, err
		}
	}
	return a.closing.Adopt(ctx, p.Actor(), in.policy, in.from, in.confirm)
}

func encodeAdoption(_ http.Header, done rewards.Adoption) edge.Payload {
	out := client.AdoptedPolicy{Before: showPolicy(&done.Before), Policy: showPolicy(&done.Policy), Confirmed: done.Confirmed}
	if done.ProvenBefore != 0 {
		out.ProvenThrough = new((done.ProvenBefore - 1).String())
	}
	return edge.Payload{Data: out}
}
