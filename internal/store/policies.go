package store

import (
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/ledger"
)

// KeepPolicies stores the policies whose versions are new, and returns all stored ones,
// by version. A stored policy is never overwritten.
func (db *DB) KeepPolicies(ctx context.Context, policies []ledger.Policy) ([]ledger.Policy, error) {
	known, err := listAgain(ctx, db, rewardText.policies, policyRow)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(policies), func(p ledger.Policy) bool {
		return slices.ContainsFunc(known, func(k ledger.Policy) bool { return k.Version == p.Version })
	})
	if len(missing) == 0 {
		return known, nil
	}
	if err := db.putPolicies(ctx, missing); err != nil {
		return nil, err
	}
	return listAgain(ctx, db, rewardText.policies, policyRow)
}

func (db *DB) putPolicies(ctx context.Context, policies []ledger.Policy) error {
	for _, p := range policies {
		if err := storableText(p.Text); err != nil {
			return internal("keep policies", err)
		}
	}
	op := &operation{order: "policy"}
	op.run = func(tx *transaction) (changes, error) {
		for _, p := range policies {
			if _, err := tx.exec(rewardText.putPolicy, int64(p.Version), int64(p.From), p.Text); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return db.committer.do(ctx, op)
}
