package rewards

import (
	"context"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Start brings the policies that this process has into the database, and those
// of others from there. What was in force once stays in force for its days, so a
// policy is never changed: another one follows it.
func (r *Rewards) Start(ctx context.Context) error {
	if err := r.adopt(ctx); err != nil {
		return err
	}
	if err := r.bring(ctx); err != nil {
		return err
	}
	if err := r.unbroken(ctx); err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err == nil && v.begun {
		r.shown.closed(v.first - 1)
	}
	return err
}

// Follow takes over the policies of the database, for a command that brings none.
func (r *Rewards) Follow(ctx context.Context) error { return r.adopt(ctx) }

// book is the policies that are known.
func (r *Rewards) book() policy.Book { return *r.policies.Load() }

// adopt takes over what another process has brought. Only it replaces the book,
// and only with a longer one.
func (r *Rewards) adopt(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	return r.agree(known)
}

// agree makes sure that the policies are those that are written down, and adds
// those that are new here.
func (r *Rewards) agree(known []ledger.Policy) error {
	mine := r.book()
	longer := slices.Clone(mine)
	for _, k := range known {
		switch here := longer.Version(k.Version); {
		case here == nil:
			p, err := policy.ParseLine(k.Text)
			if err == nil && p.Version != len(longer)+1 {
				err = fmt.Errorf("it comes after %d policies", len(longer))
			}
			if err != nil {
				return fmt.Errorf("reward policy %d of the database cannot be used: %w", k.Version, err)
			}
			longer = append(longer, p)
		case here.Line() != k.Text:
			return fmt.Errorf("reward policy %d is not the one that the database has (%s): add a new version, and leave the old ones as they were",
				k.Version, k.Text)
		}
	}
	if len(longer) > len(mine) {
		r.policies.Store(&longer)
	}
	return nil
}

// bring writes down the policies that the database does not have. Who was faster
// with another of the same version wins.
func (r *Rewards) bring(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err != nil {
		return err
	}
	mine := r.book()
	for _, p := range mine[min(len(known), len(mine)):] {
		if first := r.today() + 1; v.begun && p.Version > 1 && p.From < max(first, v.closing.Day+1) {
			return fmt.Errorf("reward policy %d is to be in force from %s on; a new one can begin on %s or later, when no day that it is for has begun",
				p.Version, p.From, max(first, v.closing.Day+1))
		}
	}
	if known, err = r.Store.KeepPolicies(ctx, written(mine)); err != nil {
		return err
	}
	return r.agree(known)
}

// byVersion answers the policy of a row. One that is not known here was brought
// by another process.
func (r *Rewards) byVersion(ctx context.Context, version int) (*policy.Policy, error) {
	if p := r.book().Version(version); p != nil {
		return p, nil
	}
	if err := r.adopt(ctx); err != nil {
		return nil, err
	}
	if p := r.book().Version(version); p != nil {
		return p, nil
	}
	return nil, &beacon.Error{
		Kind: beacon.Internal, Message: "internal error", Err: fmt.Errorf("rows were written by reward policy %d, and there is none", version),
	}
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
