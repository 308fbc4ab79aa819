package rewards

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

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
	if err := r.reload(ctx); err != nil {
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
