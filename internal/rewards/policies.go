package rewards

import (
	"context"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// Start stores the policies of this process in the database, and loads the others
// from there. A policy stays in force for its days for good, so it is never changed:
// a new version follows it.
func (r *Rewards) Start(ctx context.Context) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	if err := r.storeFounding(ctx); err != nil {
		return err
	}
	if err := r.storeOwn(ctx); err != nil {
		return err
	}
	if err := r.checkDays(ctx); err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err == nil && v.begun {
		r.shown.closed(v.first - 1)
	}
	return err
}

// Follow loads the policies of the database, for a command that has none of its own.
func (r *Rewards) Follow(ctx context.Context) error { return r.reload(ctx) }

// policySet returns the known policies.
func (r *Rewards) policySet() policy.Set { return *r.policies.Load() }

// reload loads what another process has added. Policies are only ever replaced by a
// longer list.
func (r *Rewards) reload(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	return r.agree(known)
}

// agree checks that the policies here match the stored ones, and adds those that are
// new here.
func (r *Rewards) agree(known []ledger.Policy) error {
	mine := r.policySet()
	longer := slices.Clone(mine)
	for _, k := range known {
		switch here := longer.Version(k.Version); {
		case here == nil:
			p, err := policy.ParseLine(k.Text)
			if err == nil && p.Version != len(longer)+1 {
				err = fmt.Errorf("it comes after %d policies", len(longer))
			}
			if err != nil {
				return fmt.Errorf("reward policy %d in the database cannot be used: %w", k.Version, err)
			}
			longer = append(longer, p)
		case here.Line() != k.Text:
			return fmt.Errorf("reward policy %d differs from the one in the database (%s): add a new version instead of changing it",
				k.Version, k.Text)
		}
	}
	if len(longer) > len(mine) {
		r.policies.Store(&longer)
	}
	return nil
}

// storeFounding stores the founding policies if the network is new. If its ledger has begun
// and there are no policies, they were lost: they are not guessed.
func (r *Rewards) storeFounding(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil || len(known) > 0 || r.Founding == nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err != nil || v.begun {
		return err
	}
	if known, err = r.Store.FoundPolicies(ctx, lines(r.Founding)); err != nil {
		return err
	}
	return r.agree(known)
}

// storeOwn stores the policies of this process that the database does not have. If another
// process stores the same version first, that one wins.
func (r *Rewards) storeOwn(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err != nil {
		return err
	}
	mine := r.policySet()
	for _, p := range mine[min(len(known), len(mine)):] {
		if first := r.today() + 1; v.begun && p.Version > 1 && p.From < max(first, v.closing.Day+1) {
			return fmt.Errorf("reward policy %d starts on %s; a new policy can start on %s at the earliest",
				p.Version, p.From, max(first, v.closing.Day+1))
		}
	}
	if known, err = r.Store.KeepPolicies(ctx, lines(mine)); err != nil {
		return err
	}
	return r.agree(known)
}

// byVersion returns the policy of a row. If it is not known here, another process
// added it, so byVersion reloads.
func (r *Rewards) byVersion(ctx context.Context, version int) (*policy.Policy, error) {
	if p := r.policySet().Version(version); p != nil {
		return p, nil
	}
	if err := r.reload(ctx); err != nil {
		return nil, err
	}
	if p := r.policySet().Version(version); p != nil {
		return p, nil
	}
	return nil, &beacon.Error{
		Kind: beacon.Internal, Message: "internal error", Err: fmt.Errorf("rows use reward policy %d, which does not exist", version),
	}
}

// lines converts policies to their stored form.
func lines(policies policy.Set) []ledger.Policy {
	all := make([]ledger.Policy, len(policies))
	for i := range policies {
		all[i] = line(&policies[i])
	}
	return all
}

func line(p *policy.Policy) ledger.Policy {
	return ledger.Policy{Version: p.Version, From: p.From, Text: p.Line()}
}
