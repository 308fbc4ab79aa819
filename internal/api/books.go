package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// What staff do to the books by hand (decision D199). What cannot be undone returns what it
// would do unless it is confirmed.

type rewardsClock struct {
	Certain   *stamp    `json:"certain"`
	Waiting   bool      `json:"waiting"`
	OpenDay   *string   `json:"first_open_day"`
	OpenMonth *string   `json:"first_open_month"`
	Clocks    []reading `json:"clocks"`
}

type reading struct {
	Name    string `json:"name"`
	Says    stamp  `json:"says"`
	Closes  int    `json:"closes_days"`
	Settles int    `json:"settles_months"`
}

func (a *API) readClock(ctx context.Context, _ beacon.Principal, _ struct{}) (rewards.ClockReport, error) {
	return a.books.Clock(ctx)
}

func (a *API) confirmClock(ctx context.Context, p beacon.Principal, today beacon.Day) (rewards.ClockReport, error) {
	if err := a.books.ConfirmClock(ctx, p.Actor(), today); err != nil {
		return rewards.ClockReport{}, err
	}
	return a.books.Clock(ctx)
}

func decodeConfirmation(_ *http.Request, o *object) (beacon.Day, error) {
	today, _ := needed(o, "today", readDay)
	return today, o.settle(valid)
}

// needed reads a member that must be there. One of the wrong kind is not also missing.
func needed[T any](o *object, name string, read func(*object, string) beacon.Opt[T]) (v T, ok bool) {
	_, given := o.members[name]
	if value := read(o, name); value.Set || !given {
		return beacon.Required(value, o.path+name, o.faults)
	}
	return v, false
}

// readDay reads a UTC day.
func readDay(o *object, name string) beacon.Opt[beacon.Day] {
	return member(o, name, jsontext.KindString, "must be a string", func(value jsontext.Value) (beacon.Day, error) {
		text, err := readText(value)
		if err != nil {
			return 0, err
		}
		return beacon.ParseDay(text)
	})
}

func encodeClock(_ http.Header, c rewards.ClockReport) payload {
	out := rewardsClock{Waiting: c.Waits(), Clocks: []reading{}}
	if !c.Certain.IsZero() {
		out.Certain = new(stamp(c.Certain))
	}
	if c.Begun {
		out.OpenDay, out.OpenMonth = new(c.First.String()), new(c.Month.String())
	}
	show := func(name string, says time.Time) {
		if !says.IsZero() && len(out.Clocks) < maxClocks {
			days, months := c.Due(beacon.DayOf(says))
			out.Clocks = append(out.Clocks, reading{name, stamp(says), days, months})
		}
	}
	show("server", c.Now)
	show("database", c.Database)
	for _, m := range c.Marks {
		show(m.Node, m.Said)
	}
	return payload{Data: out}
}

const maxClocks = 1000

type settlementForm struct {
	month beacon.Month
	early bool
}

type settlement struct {
	Period     beacon.Month  `json:"period"`
	Statements int           `json:"statements"`
	Written    int           `json:"written"`
	Earned     beacon.Amount `json:"total_earned"`
}

func decodeSettlement(w http.ResponseWriter, r *http.Request) (in settlementForm, err error) {
	if in.month, err = beacon.ParseMonth(r.PathValue("month")); err != nil {
		return in, &beacon.Error{Kind: beacon.NotFound, Message: "months are settled, such as 2026-11"}
	}
	o, _, err := readBody(w, r)
	if err != nil {
		return in, err
	}
	in.early, _ = beacon.Optional(o.flag("early"), "early", o.faults)
	return in, o.settle(valid)
}

func (a *API) settle(ctx context.Context, p beacon.Principal, in settlementForm) (rewards.SettleReport, error) {
	return a.books.Settle(ctx, p.Actor(), in.month, in.early, func(int, int) {})
}

func encodeSettlement(_ http.Header, r rewards.SettleReport) payload {
	return payload{Data: settlement{r.Month, r.Statements, r.Written, r.Total}}
}

type reopeningForm struct {
	from    beacon.Day
	through *beacon.Day
	confirm bool
}

type reopening struct {
	From      string         `json:"from"`
	Through   string         `json:"through"`
	Rows      int            `json:"rows"`
	Users     int            `json:"users"`
	Earned    beacon.Amount  `json:"total_earned"`
	Largest   []reopenedUser `json:"largest"`
	Confirmed bool           `json:"confirmed"`
}

type reopenedUser struct {
	UserID beacon.UserID `json:"user_id"`
	Rows   int           `json:"rows"`
	Earned beacon.Amount `json:"earned"`
}

// maxReopenedUsers is how many users a response names.
const maxReopenedUsers = 20

func decodeReopening(_ *http.Request, o *object) (in reopeningForm, err error) {
	in.from, _ = needed(o, "from", readDay)
	if through := readDay(o, "through"); through.Set && !through.Null {
		in.through = &through.V
	}
	in.confirm, _ = beacon.Optional(o.flag("confirm"), "confirm", o.faults)
	return in, o.settle(valid)
}

func (a *API) reopen(ctx context.Context, p beacon.Principal, in reopeningForm) (rewards.ReopenReport, error) {
	return a.books.Reopen(ctx, p.Actor(), in.from, in.through, in.confirm)
}

func encodeReopening(_ http.Header, r rewards.ReopenReport) payload {
	out := reopening{r.From.String(), r.Through.String(), r.Rows, len(r.Users), r.Total(), []reopenedUser{}, r.Confirmed}
	slices.SortFunc(r.Users, func(a, b rewards.ReopenedUser) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), strings.Compare(string(a.User), string(b.User)))
	})
	for _, u := range r.Users[:min(len(r.Users), maxReopenedUsers)] {
		out.Largest = append(out.Largest, reopenedUser{u.User, u.Rows, u.Total()})
	}
	return payload{Data: out}
}

type policyAdoption struct {
	from    beacon.Day
	policy  policy.Policy
	confirm bool
}

type adoptedPolicy struct {
	Before        json.RawMessage `json:"before"`
	Policy        json.RawMessage `json:"policy"`
	ProvenThrough *string         `json:"proven_through"`
	Confirmed     bool            `json:"confirmed"`
}

func decodeAdoption(_ *http.Request, o *object) (in policyAdoption, err error) {
	in.from, _ = needed(o, "from", readDay)
	in.policy = policy.Places()
	terms := member(o, "policy", jsontext.KindBeginObject, "must be an object", func(value jsontext.Value) (policy.Policy, error) {
		return policy.ParseTerms(value)
	})
	if terms.Set && !terms.Null {
		in.policy = terms.V
	}
	in.confirm, _ = beacon.Optional(o.flag("confirm"), "confirm", o.faults)
	return in, o.settle(valid)
}

func (a *API) adopt(ctx context.Context, p beacon.Principal, in policyAdoption) (rewards.Adoption, error) {
	return a.books.Adopt(ctx, p.Actor(), in.policy, in.from, in.confirm)
}

func encodeAdoption(_ http.Header, done rewards.Adoption) payload {
	out := adoptedPolicy{Before: showPolicy(&done.Before), Policy: showPolicy(&done.Policy), Confirmed: done.Confirmed}
	if done.ProvenBefore != 0 {
		out.ProvenThrough = new((done.ProvenBefore - 1).String())
	}
	return payload{Data: out}
}

type macRelease struct {
	mac    beacon.MAC
	reason string
}

type releasedMAC struct {
	MAC    string        `json:"mac_address"`
	UserID beacon.UserID `json:"user_id"`
}

// decodeRelease reads the address from the body: paths end up in logs.
func decodeRelease(_ *http.Request, o *object) (in macRelease, err error) {
	if text, ok := needed(o, "mac_address", (*object).text); ok {
		in.mac, err = beacon.ParseMAC(text)
		o.faults.Check("mac_address", err)
	}
	if text, ok := needed(o, "reason", (*object).text); ok {
		in.reason, err = beacon.CleanKeyName(text)
		o.faults.Check("reason", err)
		if err == nil && in.reason == "" {
			o.faults.Add("reason", "must say why")
		}
	}
	return in, o.settle(valid)
}

func (a *API) releaseMAC(ctx context.Context, p beacon.Principal, in macRelease) (beacon.ReleasedMAC, error) {
	owner, err := a.store.ReleaseMAC(ctx, in.mac, in.reason, p.Actor(), a.now())
	return beacon.ReleasedMAC{MAC: in.mac, User: owner}, err
}

func encodeReleased(_ http.Header, m beacon.ReleasedMAC) payload {
	return payload{Data: releasedMAC{m.MAC.Canonical(), m.User}}
}
