package store

import (
	"cmp"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// rowReader returns the targets of a row, in column order, and a function that completes
// and checks the row after each scan; it sets all that the scan does not, since the row
// before is still there. A row is written as values in the same order.
type rowReader[T any] func(row *T) (targets []any, finish func() error)

// done completes a row whose targets are all there is to it.
func done() error { return nil }

// moment is the target of a time in a column of microseconds.
type moment time.Time

// Scan implements [sql.Scanner].
func (m *moment) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*m = moment(fromMicros(n))
	return nil
}

func sumTargets(s *ledger.Sum) []any {
	return append([]any{&s.Served, &s.Expected}, earnedTargets(&s.Earned)...)
}

func earnedTargets(e *beacon.Earned) []any {
	return []any{(*int64)(&e.Availability), (*int64)(&e.Performance), (*int64)(&e.Utilization)}
}

func appendSum(values []any, s *ledger.Sum) []any {
	return append(values, s.Served, s.Expected, int64(s.Availability), int64(s.Performance), int64(s.Utilization))
}

func ledgerRow(r *ledger.Row) ([]any, func() error) {
	var bytes int64
	var tier int
	var ground string
	targets := []any{
		(*int64)(&r.Day), (*string)(&r.User), (*string)(&r.Hotspot), &r.Policy,
		&r.Served, &r.Expected, &r.Closed, &r.Excused, &r.Outside, &bytes, &tier,
	}
	return append(append(targets, earnedTargets(&r.Earned)...), &r.Revision, &ground, (*string)(&r.Hold)), func() (err error) {
		r.Bytes = uint64(bytes) //nolint:gosec // as it was written: those above 2^63 are negative
		if r.Tier, err = tierOf(tier); err == nil {
			r.Ground, err = ledger.ParseGround(ground)
		}
		return err
	}
}

func appendLedgerRow(values []any, r *ledger.Row) []any {
	return append(values, int64(r.Day), string(r.User), string(r.Hotspot), int64(r.Policy),
		int64(r.Served), int64(r.Expected), int64(r.Closed), int64(r.Excused), int64(r.Outside),
		int64(r.Bytes), int64(r.Tier), //nolint:gosec // read back as it is written here
		int64(r.Availability), int64(r.Performance), int64(r.Utilization), r.Revision, ledger.GroundText(&r.Ground), string(r.Hold))
}

func hotspotMonthRow(m *ledger.HotspotMonth) ([]any, func() error) {
	var tier int
	targets := []any{(*int64)(&m.Month), (*string)(&m.User), (*string)(&m.Hotspot), (*int64)(&m.Through), &tier}
	return append(targets, sumTargets(&m.Sum)...), func() (err error) {
		m.Tier, err = tierOf(tier)
		return err
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

func totalRow(t *ledger.HotspotTotal) ([]any, func() error) {
	var tier int
	targets := []any{(*string)(&t.User), (*string)(&t.Hotspot), (*int64)(&t.Through), &tier}
	return append(targets, sumTargets(&t.Sum)...), func() (err error) {
		t.Tier, err = tierOf(tier)
		return err
	}
}

func userMonthRow(m *ledger.UserMonth) ([]any, func() error) {
	var chain []byte
	targets := []any{(*int64)(&m.Month), (*string)(&m.User), &m.Hotspots, &m.Rows, &chain, (*int64)(&m.Held)}
	return append(targets, sumTargets(&m.Sum)...), func() error { return readHash(&m.Chain, chain) }
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

func statementRow(s *ledger.Statement) ([]any, func() error) {
	var previous, hash []byte
	targets, readChain := userMonthRow(&s.UserMonth)
	return append(targets, &previous, &hash, (*moment)(&s.SettledAt)), func() error {
		return cmp.Or(readChain(), readHash(&s.Previous, previous), readHash(&s.Hash, hash))
	}
}

func appendStatement(values []any, s *ledger.Statement) []any {
	values = appendUserMonth(values, &s.UserMonth)
	return append(values, s.Previous[:], s.Hash[:], micros(s.SettledAt))
}

func accountRow(a *ledger.Account) ([]any, func() error) {
	var previous, hash []byte
	targets := []any{(*string)(&a.User), (*int64)(&a.FirstDay), (*int64)(&a.Settled), &previous, &hash}
	return append(targets, sumTargets(&a.Sum)...), func() error { return readHash(&a.Hash, hash) }
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

func closingRow(c *ledger.Closing) ([]any, func() error) {
	targets := []any{(*int64)(&c.Day), (*string)(&c.Upto.User), (*string)(&c.Upto.Hotspot), &c.Hotspots}
	return append(append(targets, earnedTargets(&c.Earned)...), (*moment)(&c.ClosedAt)), done
}

func policyRow(p *ledger.Policy) ([]any, func() error) {
	return []any{&p.Version, (*int64)(&p.From), &p.Text}, done
}

func nameRow(n *beacon.HotspotName) ([]any, func() error) {
	return []any{(*string)(&n.ID), &n.Name, (*moment)(&n.DeletedAt)}, done
}

func ownedRow(o *beacon.Owned) ([]any, func() error) {
	return []any{(*string)(&o.User), (*string)(&o.Hotspot)}, done
}

func numberRow[T ~int64](n *T) ([]any, func() error) {
	var number int64
	return []any{&number}, func() error { *n = T(number); return nil }
}

func textRow[T ~string](t *T) ([]any, func() error) {
	var text string
	return []any{&text}, func() error { *t = T(text); return nil }
}
