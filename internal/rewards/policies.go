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
func (r *Ledger) Start(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	if err := r.agree(known); err != nil {
		return err
	}
	v, err := r.View(ctx, nil)
	if err != nil {
		return err
	}
	// If the ledger has begun and there are no policies, they were lost: they are not guessed.
	if len(known) == 0 && r.Founding != nil && !v.Begun {
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
	return r.checkDays(ctx)
}

// Known returns the known policies.
func (r *Ledger) Known() policy.Set { return *r.policies.Load() }

// Reload loads the policies of the database. Those that are known are only ever replaced by
// a longer list.
func (r *Ledger) Reload(ctx context.Context) error {
	known, err := r.Store.KeepPolicies(ctx, nil)
	if err != nil {
		return err
	}
	return r.agree(known)
}

// agree checks that the policies here match the stored ones, and adds those that are
// new here.
func (r *Ledger) agree(known []ledger.Policy) error {
	mine := r.Known()
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

// storeOwn stores the policies of this process that the database does not have yet. If
// another process stores the same version first, that one wins.
func (r *Ledger) storeOwn(ctx context.Context, v View, stored int) error {
	mine := r.Known()
	for _, p := range mine[stored:] {
		if first := max(r.Today(), v.Closing.Day) + 1; v.Begun && p.Version > 1 && p.From < first {
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
func (r *Ledger) Adopt(ctx context.Context, by beacon.Actor, p policy.Policy, from beacon.Day, confirmed bool) (Adoption, error) {
	if err := r.Reload(ctx); err != nil {
		return Adoption{}, err
	}
	v, err := r.View(ctx, nil)
	if err != nil {
		return Adoption{}, err
	}
	known := r.Known()
	if len(known) == 0 {
		return Adoption{}, Refuse("no server has been started with this database yet")
	}
	newest := known[len(known)-1]
	first := max(r.Today()+1, newest.From+1)
	switch {
	case !v.Begun && !v.Recorded: // nobody has served under a policy yet
		first = max(r.Today(), newest.From+1)
	case v.Begun:
		first = max(first, v.Closing.Day+2) // the day after a closed one has begun
	}
	p.Version, p.From = newest.Version, newest.From
	switch {
	case p == newest && p.Off():
		return Adoption{}, Refuse("rewards are off from %s on already", newest.From)
	case p == newest:
		return Adoption{}, Refuse("policy %d has the same terms, and is in force from %s on", newest.Version, newest.From)
	case from < first:
		return Adoption{}, Refuse("a new policy can start on %s at the earliest", first)
	}
	p.Version, p.From = newest.Version+1, from
	a := Adoption{Before: newest, Policy: p}
	if _, found := known.PlacesFrom(); p.PaysPlaces() && !found {
		a.ProvenBefore = from + GraceDays
	}
	if !confirmed {
		return a, nil
	}
	a.Confirmed = true
	if err := by.Once.Keep(a); err != nil {
		return a, err
	}
	err = r.Store.AdoptPolicy(ctx, line(&p), by, r.Clock.Now())
	if err == nil {
		_ = r.Reload(ctx) // it would happen within a second
	}
	return a, beacon.Word(err, beacon.Conflict, fmt.Sprintf("policy %d was adopted meanwhile", p.Version))
}

// Resumed returns the terms under which rewards are on again: those of the newest policy that
// has any.
func (r *Ledger) Resumed(ctx context.Context) (policy.Policy, error) {
	err := r.Reload(ctx)
	return r.Known().LastOn(), err
}

// Switch says whether rewards are on.
type Switch struct {
	On      bool
	Changes beacon.Day // the first day on which that is otherwise; zero: none is known
}

// Switch returns whether rewards are on today.
func (r *Ledger) Switch() Switch {
	known, today := r.Known(), r.Today()
	s := Switch{On: !known.On(today).Off()}
	for i := range known {
		if p := &known[i]; p.From > today && p.Off() == s.On {
			s.Changes = p.From
			break
		}
	}
	return s
}

// ByVersion returns the policy of a row. If it is not known here, another process
// added it, so ByVersion reloads.
func (r *Ledger) ByVersion(ctx context.Context, version int) (*policy.Policy, error) {
	if p := r.Known().Version(version); p != nil {
		return p, nil
	}
	if err := r.Reload(ctx); err != nil {
		return nil, err
	}
	if p := r.Known().Version(version); p != nil {
		return p, nil
	}
	return nil, beacon.Unexpected(fmt.Errorf("rows use reward policy %d, which does not exist", version))
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

// checkDays checks at startup that the closed days have no gap: the last of them
// decides which days are open.
func (r *Ledger) checkDays(ctx context.Context) error {
	return r.Store.Books(ctx, func(b ledger.Books) error {
		days, err := b.Closings(ctx)
		for i := 1; i < len(days); i++ {
			if days[i].Day != days[i-1].Day+1 || days[i-1].ClosedAt.IsZero() {
				return fmt.Errorf("closed days jump from %s to %s: the database is damaged; run beacon doctor, and restore a backup",
					days[i-1].Day, days[i].Day)
			}
		}
		return err
	})
}
