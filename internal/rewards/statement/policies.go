package statement

import (
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

var (
	policyNames = []string{
		"version", "effective_from", "availability", "performance", "utilization_per_gb", "utilization_cap",
	}
	tierNames = []string{beacon.Standard.String(), beacon.Enhanced.String(), beacon.Premium.String()}
)

// policy reads one of the statement's policies, and compares it with the known policy
// of that version.
func (v *verifier) policy() error {
	var p policy.Policy
	err := v.whole(policyNames, func(i int) error {
		switch policyNames[i] {
		case "version":
			return natural(&v.reader, &p.Version)
		case "effective_from":
			return v.day(&p.From)
		case "availability":
			return v.amount(&p.Availability)
		case "performance":
			return v.whole(tierNames, func(tier int) error { return v.amount(&p.Performance[tier]) })
		case "utilization_per_gb":
			return v.amount(&p.PerGB)
		default:
			return v.amount(&p.Cap)
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("policy %d: %w", len(v.policies)+1, err)
	case len(v.policies) > 0 && p.Version <= v.policies[len(v.policies)-1].Version:
		return fmt.Errorf("policy %d: versions must be in ascending order", p.Version)
	}
	v.policies = append(v.policies, p)
	known := v.known.Version(p.Version)
	if known == nil {
		return fmt.Errorf("policy %d is unknown here (the newest is %d): verify with the policies of the server", p.Version, len(v.known))
	}
	return differ(&p, known)
}

// differ returns an error for the first field in which a policy differs from the
// known one.
func differ(p, known *policy.Policy) error {
	for _, field := range []struct {
		name      string
		got, want fmt.Stringer
	}{
		{"effective_from", p.From, known.From},
		{"availability", p.Availability, known.Availability},
		{"performance.standard", p.Performance[beacon.Standard], known.Performance[beacon.Standard]},
		{"performance.enhanced", p.Performance[beacon.Enhanced], known.Performance[beacon.Enhanced]},
		{"performance.premium", p.Performance[beacon.Premium], known.Performance[beacon.Premium]},
		{"utilization_per_gb", p.PerGB, known.PerGB},
		{"utilization_cap", p.Cap, known.Cap},
	} {
		if field.got != field.want {
			return fmt.Errorf("policy %d: %s is %s, but policy %d has %s here",
				p.Version, field.name, field.got, p.Version, field.want)
		}
	}
	return nil
}

// inForce checks that the policies are exactly those in force in the month.
func (v *verifier) inForce() error {
	want := v.known.In(v.sum.Month)
	for i, p := range want {
		if i >= len(v.policies) || v.policies[i].Version != p.Version {
			return fmt.Errorf("policies: policy %d was in force in %s but is missing or out of order", p.Version, v.sum.Month)
		}
	}
	if len(v.policies) > len(want) {
		return fmt.Errorf("policies: policy %d was not in force in %s", v.policies[len(want)].Version, v.sum.Month)
	}
	return nil
}
