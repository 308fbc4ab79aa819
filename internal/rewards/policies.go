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
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	if err := r.agree(known); err != nil {
		return err
	}
	v, err := r.view(ctx, nil)
	if err != nil {
		return err
	}
	// If the ledger has begun and there are no policies, they were lost: they are not guessed.
	if len(known) == 0 && r.Founding != nil && !v.begun {
		if known, err = r.Store.FoundPolicies(ctx, lines(r.Founding)); err != nil {
			return err
		}
		if err := r.agree(known); err != nil {
			return err
		}
	}
	if err := r.storeOwn(ctx, v, len(known)); err != nil {
		return err
	}
	if err := r.checkDays(ctx); err != nil {
		return err
	}
	if v.begun {
		r.shown.closed(v.first - 1)
	}
	return nil
}

// policySet returns the known policies.
func (r *Rewards) policySet() policy.Set { return *r.policies.Load() }

// Reload loads the policies of the database. Those that are known are only ever replaced by
// a longer list.
func (r *Rewards) Reload(ctx context.Context) error {
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

// storeOwn stores the policies of this process after so many that the database has. If
// another process stores the same version first, that one wins.
func (r *Rewards) storeOwn(ctx context.Context, v view, stored int) error {
	mine := r.policySet()
	for _, p := range mine[stored:] {
		if first := max(r.today(), v.closing.Day) + 1; v.begun && p.Version > 1 && p.From < first {
			return fmt.Errorf("reward policy %d starts on %s; a new policy can start on %s at the earliest", p.Version, p.From, first)
		}
	}
	known, err := r.Store.KeepPolicies(ctx, lines(mine))
	if err != nil {
		return err
	}
	return r.agree(known)
}

// Adoption is what adopting a policy does.
type Adoption struct {
	Before policy.Policy // in force on the day before
	Policy policy.Policy
	// ProvenBefore is the first day on which a place needs a visit to count as proven, if
	// this is the first policy that pays places; else it is zero.
	ProvenBefore beacon.Day
	Confirmed    bool // it was adopted
}

// Adopt puts a policy into force from a day on that has not begun, as the next version.
// Servers take it from the database. Unless confirmed, nothing is written.
func (r *Rewards) Adopt(ctx context.Context, by beacon.Actor, p policy.Policy, from beacon.Day, confirmed bool) (Adoption, error) {
	if err := r.Reload(ctx); err != nil {
		return Adoption{}, err
	}
	v, err := r.view(ctx, nil)
	if err != nil {
		return Adoption{}, err
	}
	known := r.policySet()
	if len(known) == 0 {
		return Adoption{}, refuse("no server has been started with this database yet")
	}
	newest := known[len(known)-1]
	first := max(r.today()+1, newest.From+1)
	if v.begun {
		first = max(first, v.closing.Day+2) // the day after a closed one has begun
	}
	p.Version, p.From = newest.Version, newest.From
	switch {
	case p == newest:
		return Adoption{}, refuse("policy %d has the same terms, and is in force from %s on", newest.Version, newest.From)
	case from < first:
		return Adoption{}, refuse("a new policy can start on %s at the earliest", first)
	}
	p.Version, p.From = newest.Version+1, from
	a := Adoption{Before: newest, Policy: p}
	if _, any := known.PlacesFrom(); p.PaysPlaces() && !any {
		a.ProvenBefore = from + graceDays
	}
	if !confirmed {
		return a, nil
	}
	a.Confirmed = true
	if err := by.Once.Keep(a); err != nil {
		return a, err
	}
	return a, r.Store.AdoptPolicy(ctx, line(&p), by, r.Now())
}

// byVersion returns the policy of a row. If it is not known here, another process
// added it, so byVersion reloads.
func (r *Rewards) byVersion(ctx context.Context, version int) (*policy.Policy, error) {
	if p := r.policySet().Version(version); p != nil {
		return p, nil
	}
	if err := r.Reload(ctx); err != nil {
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
