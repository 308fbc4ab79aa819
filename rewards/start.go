package rewards

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/ledger"
	"github.com/beacon-wifi/beacon/policy"
)

// Start makes sure that the policies are those that the books were kept by, and
// writes down the new ones. What was in force once stays in force for its days,
// so a policy is never changed: another one follows it.
func (r *Rewards) Start(ctx context.Context) error {
	if err := r.checkPolicies(ctx); err != nil {
		return err
	}
	if _, err := r.Store.KeepPolicies(ctx, written(r.Policies)); err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err == nil && v.begun {
		r.shown.closed(v.first - 1)
	}
	return err
}

// checkPolicies compares the policies with those that are written down.
func (r *Rewards) checkPolicies(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	for _, k := range known {
		switch mine := r.Policies.Version(k.Version); {
		case mine == nil:
			return fmt.Errorf("the database has reward policy %d, and this program does not: name the file that has it with --policy", k.Version)
		case mine.Line() != k.Text:
			return fmt.Errorf("reward policy %d is not the one that the database has (%s): add a new version, and leave the old ones as they were",
				k.Version, k.Text)
		}
	}
	return r.checkNew(ctx, r.Policies[min(len(known), len(r.Policies)):])
}

// checkNew refuses a policy for days that are closed: they were computed by
// another.
func (r *Rewards) checkNew(ctx context.Context, added policy.Book) error {
	v, err := r.view(ctx, nil)
	if err != nil {
		return err
	}
	for i := range added {
		if p := &added[i]; v.begun && p.Version > 1 && p.From <= v.closing.Day {
			return fmt.Errorf("reward policy %d is to be in force from %s on, but days up to %s are closed: let it begin later",
				p.Version, p.From, v.closing.Day)
		}
	}
	return nil
}

// written are policies as the database keeps them.
func written(policies policy.Book) []ledger.Policy {
	all := make([]ledger.Policy, len(policies))
	for i := range policies {
		all[i] = line(&policies[i])
	}
	return all
}

func line(p *policy.Policy) ledger.Policy {
	return ledger.Policy{Version: p.Version, From: p.From, Text: p.Line()}
}
