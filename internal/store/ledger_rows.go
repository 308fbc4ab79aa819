package store

import (
	"cmp"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// rowReader returns the targets of a row, in column order, and a function that returns
// its value after each scan. A row is written as values in the same order.
type rowReader[T any] func() (targets []any, value func() (T, error))

func sumTargets(s *ledger.Sum) []any {
	return append([]any{&s.Served, &s.Expected}, earnedTargets(&s.Earned)...)
}

func earnedTargets(e *beacon.Earned) []any {
	return []any{(*int64)(&e.Availability), (*int64)(&e.Performance), (*int64)(&e.Utilization)}
}

func appendSum(values []any, s *ledger.Sum) []any {
	return append(values, s.Served, s.Expected, int64(s.Availability), int64(s.Performance), int64(s.Utilization))
}

func ledgerRow() ([]any, func() (ledger.Row, error)) {
	var r ledger.Row
	var bytes int64
	var tier int
	var ground string
	targets := []any{
		(*int64)(&r.Day), (*string)(&r.User), (*string)(&r.Hotspot), &r.Policy,
		&r.Served, &r.Expected, &r.Closed, &r.Excused, &r.Outside, &bytes, &tier,
	}
	return append(append(targets, earnedTargets(&r.Earned)...), &r.Revision, &ground, (*string)(&r.Hold)), func() (_ ledger.Row, err error) {
		r.Bytes = uint64(bytes) //nolint:gosec // as it was written: those above 2^63 are negative
		if r.Tier, err = tierOf(tier); err == nil {
			r.Ground, err = ledger.ParseGround(ground)
		}
		return r, err
	}
}

func appendLedgerRow(values []any, r *ledger.Row) []any {
	return append(values, int64(r.Day), string(r.User), string(r.Hotspot), int64(r.Policy),
		int64(r.Served), int64(r.Expected), int64(r.Closed), int64(r.Excused), int64(r.Outside),
		int64(r.Bytes), int64(r.Tier), //nolint:gosec // read back as it is written here
		int64(r.Availability), int64(r.Performance), int64(r.Utilization), r.Revision, ledger.GroundText(&r.Ground), string(r.Hold))
}

func hotspotMonthRow() ([]any, func() (ledger.HotspotMonth, error)) {
	var m ledger.HotspotMonth
	var tier int
	targets := []any{(*int64)(&m.Month), (*string)(&m.User), (*string)(&m.Hotspot), (*int64)(&m.Through), &tier}
	return append(targets, sumTargets(&m.Sum)...), func() (_ ledger.HotspotMonth, err error) {
		m.Tier, err = tierOf(tier)
		return m, err
	}
}

func appendHotspotMonth(values []any, m *ledger.HotspotMonth) []any {
	values = append(values, int64(m.Month), string(m.User), string(m.Hotspot), int64(m.Through), int64(m.Tier))
	return appendSum(values, &m.Sum)
}

// appendTotal appends the row of a hotspot for which m is the only month.
func appendTotal(values []any, m *ledger.HotspotMonth) []any {
	values = append(values, string(m.User), string(m.Hotspot), int64(m.Month), int64(m.Tier))
	return appendSum(values, &m.Sum)
}

func totalRow() ([]any, func() (ledger.HotspotTotal, error)) {
	var t ledger.HotspotTotal
	var tier int
	targets := []any{(*string)(&t.User), (*string)(&t.Hotspot), (*int64)(&t.Through), &tier}
	return append(targets, sumTargets(&t.Sum)...), func() (_ ledger.HotspotTotal, err error) {
		t.Tier, err = tierOf(tier)
		return t, err
	}
}

func userMonthRow() ([]any, func() (ledger.UserMonth, error)) {
	var m ledger.UserMonth
	var chain []byte
	return userMonthTargets(&m, &chain), func() (ledger.UserMonth, error) {
		err := readHash(&m.Chain, chain)
		return m, err
	}
}

func userMonthTargets(m *ledger.UserMonth, chain *[]byte) []any {
	targets := []any{(*int64)(&m.Month), (*string)(&m.User), &m.Hotspots, &m.Rows, chain, (*int64)(&m.Held)}
	return append(targets, sumTargets(&m.Sum)...)
}

func appendUserMonth(values []any, m *ledger.UserMonth) []any {
	values = append(values, int64(m.Month), string(m.User), int64(m.Hotspots), int64(m.Rows), m.Chain[:], int64(m.Held))
	return appendSum(values, &m.Sum)
}

// tierOf rejects what is not a tier, because it would have no name.
func tierOf(n int) (beacon.Tier, error) {
	if n < int(beacon.Standard) || n > int(beacon.Premium) {
		return 0, fmt.Errorf("unknown tier %d in the ledger", n)
	}
	return beacon.Tier(n), nil
}

func readHash(hash *ledger.Hash, data []byte) error {
	if len(data) != len(hash) {
		return fmt.Errorf("a hash of %d bytes in the ledger", len(data))
	}
	copy(hash[:], data)
	return nil
}

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
