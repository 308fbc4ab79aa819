package store

import (
	"cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

func statementRow() ([]any, func() (ledger.Statement, error)) {
	var s ledger.Statement
	var chain, previous, hash []byte
	var at int64
	targets := append(userMonthTargets(&s.UserMonth, &chain), &previous, &hash, &at)
	return targets, func() (ledger.Statement, error) {
		s.SettledAt = fromMicros(at)
		return s, cmp.Or(readHash(&s.Chain, chain), readHash(&s.Previous, previous), readHash(&s.Hash, hash))
	}
}

func appendStatement(values []any, s *ledger.Statement) []any {
	values = appendUserMonth(values, &s.UserMonth)
	return append(values, s.Previous[:], s.Hash[:], micros(s.SettledAt))
}

func accountRow() ([]any, func() (ledger.Account, error)) {
	var a ledger.Account
	var previous, hash []byte
	targets := []any{(*string)(&a.User), (*int64)(&a.FirstDay), (*int64)(&a.Settled), &previous, &hash}
	return append(targets, sumTargets(&a.Sum)...), func() (ledger.Account, error) {
		err := readHash(&a.Hash, hash)
		return a, err
	}
}

// appendNewAccount appends the account of a user who has no statement yet.
func appendNewAccount(values []any, a *ledger.Account) []any {
	var none ledger.Hash
	values = append(values, string(a.User), int64(a.FirstDay), int64(ledger.NoMonth), none[:], none[:])
	return appendSum(values, &ledger.Sum{})
}

// appendToAccount appends what a statement adds to an existing account.
func appendToAccount(values []any, s *ledger.Statement) []any {
	values = append(values, string(s.User), int64(s.Month.First()), int64(s.Month), s.Previous[:], s.Hash[:])
	return appendSum(values, &s.Sum)
}

func closingRow() ([]any, func() (ledger.Closing, error)) {
	var c ledger.Closing
	var at int64
	targets := []any{(*int64)(&c.Day), (*string)(&c.Upto.User), (*string)(&c.Upto.Hotspot), &c.Hotspots}
	return append(append(targets, earnedTargets(&c.Earned)...), &at), func() (ledger.Closing, error) {
		c.ClosedAt = fromMicros(at)
		return c, nil
	}
}

func policyRow() ([]any, func() (ledger.Policy, error)) {
	var p ledger.Policy
	return []any{&p.Version, (*int64)(&p.From), &p.Text}, func() (ledger.Policy, error) { return p, nil }
}

func nameRow() ([]any, func() (beacon.HotspotName, error)) {
	var n beacon.HotspotName
	var deleted int64
	return []any{(*string)(&n.ID), &n.Name, &deleted}, func() (beacon.HotspotName, error) {
		n.DeletedAt = fromMicros(deleted)
		return n, nil
	}
}

func ownedRow() ([]any, func() (beacon.Owned, error)) {
	var o beacon.Owned
	return []any{(*string)(&o.User), (*string)(&o.Hotspot)}, func() (beacon.Owned, error) { return o, nil }
}

func numberRow() ([]any, func() (int64, error)) {
	var n int64
	return []any{&n}, func() (int64, error) { return n, nil }
}

func textRow() ([]any, func() (string, error)) {
	var text string
	return []any{&text}, func() (string, error) { return text, nil }
}
