package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Candidate is a hotspot of a batch, or what is wrong with it.
type Candidate struct {
	Form  beacon.Registration
	Fault error
}

// Outcome is the result for one candidate. It is remembered as beacon.Once.Keep says.
type Outcome struct {
	Hotspot beacon.HotspotID `json:",omitempty"`
	Refusal *beacon.Error    `json:",omitempty"` // nil: it is registered
}

// RegisterAll adds the hotspots of a batch in one transaction and in their order, but for
// those that are refused, and returns the outcome of each. A candidate is refused if Register
// would refuse it after those before it. A batch that registers nothing is not remembered.
func (r *Registry) RegisterAll(ctx context.Context, p beacon.Principal, batch []Candidate) ([]Outcome, error) {
	var out []Outcome
	outcomes, now := make([]Outcome, len(batch)), r.moment()
	var valid []beacon.Hotspot
	var places []int // of the valid ones in the batch
	for i, c := range batch {
		h, err := c.Form.Validate("", p.User, now)
		if err := cmp.Or(c.Fault, err); err != nil {
			outcomes[i].Refusal = refusal(err)
			continue
		}
		valid, places = append(valid, h), append(places, i)
	}
	if len(valid) == 0 {
		return outcomes, nil
	}
	r.number(valid)
	err := r.insert(ctx, p, valid, func(refused []error) error {
		out = slices.Clone(outcomes)
		registered := false
		for i, err := range refused {
			if err != nil {
				out[places[i]].Refusal = refusal(err)
				continue
			}
			out[places[i]].Hotspot, registered = valid[i].ID, true
		}
		if !registered {
			return nil
		}
		return p.Once.Keep(out)
	})
	return out, err
}

// number gives hotspots ids in their order: many are made in an instant, and lists are
// ordered by id.
func (r *Registry) number(all []beacon.Hotspot) {
	ids := make([]beacon.HotspotID, len(all))
	for i := range ids {
		ids[i] = r.newID()
	}
	slices.Sort(ids)
	for i := range all {
		all[i].ID = ids[i]
	}
}

// refusal returns what an error says to people, without its cause.
func refusal(err error) *beacon.Error {
	e, _ := errors.AsType[*beacon.Error](err)
	if e == nil {
		return &beacon.Error{}
	}
	return &beacon.Error{Kind: e.Kind, Message: e.Message, Fields: e.Fields, RetryAfter: e.RetryAfter}
}
