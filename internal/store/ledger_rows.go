package store

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

const (
	sumColumns          = `served, expected, availability, performance, utilization`
	ledgerColumns       = `day, user_id, hotspot, policy, served, expected, closed, excused, outside, bytes, tier, availability, performance, utilization, revision, ground, hold`
	hotspotMonthColumns = `month, user_id, hotspot, through, tier, ` + sumColumns
	userMonthColumns    = `month, user_id, hotspots, row_count, chain, held, ` + sumColumns
	totalColumns        = `user_id, hotspot, through, tier, ` + sumColumns
	statementColumns    = userMonthColumns + `, previous, hash, settled_at`
	accountColumns      = `user_id, first_day, settled, previous, hash, ` + sumColumns
	correctionColumns   = `user_id, month, revision, day, corrects, ` + sumColumns
	standingColumns     = `hotspot, since, through, before, days`
	holdColumns         = `user_id, number, id, hotspot, state, until, version, content, seal`
	heldDayColumns      = `user_id, day, hotspot, hold, hash, amount, listed, seal`
	rewardDayColumns    = `day, upto_user, upto_hotspot, hotspots, availability, performance, utilization, closed_at`
)

func sumRow(s *ledger.Sum) []any {
	return append([]any{&s.Served, &s.Expected}, earnedRow(&s.Earned)...)
}

func earnedRow(e *beacon.Earned) []any {
	return []any{(*int64)(&e.Availability), (*int64)(&e.Performance), (*int64)(&e.Utilization)}
}

func ledgerRow(r *ledger.Row) []any {
	row := []any{
		(*int64)(&r.Day), (*string)(&r.User), (*string)(&r.Hotspot), &r.Policy,
		&r.Served, &r.Expected, &r.Closed, &r.Excused, &r.Outside, unsigned(&r.Bytes), tier(&r.Tier),
	}
	return append(append(row, earnedRow(&r.Earned)...), &r.Revision, ground(&r.Ground), (*string)(&r.Hold))
}

func hotspotMonthRow(m *ledger.HotspotMonth) []any {
	row := []any{(*int64)(&m.Month), (*string)(&m.User), (*string)(&m.Hotspot), (*int64)(&m.Through), tier(&m.Tier)}
	return append(row, sumRow(&m.Sum)...)
}

func totalRow(t *ledger.HotspotTotal) []any {
	return append([]any{(*string)(&t.User), (*string)(&t.Hotspot), (*int64)(&t.Through), tier(&t.Tier)}, sumRow(&t.Sum)...)
}

// onlyMonthRow is the total of a hotspot for which m is the only month.
func onlyMonthRow(m *ledger.HotspotMonth) []any {
	return append([]any{(*string)(&m.User), (*string)(&m.Hotspot), (*int64)(&m.Month), tier(&m.Tier)}, sumRow(&m.Sum)...)
}

func userMonthRow(m *ledger.UserMonth) []any {
	return append([]any{(*int64)(&m.Month), (*string)(&m.User), &m.Hotspots, &m.Rows, hash(&m.Chain), (*int64)(&m.Held)}, sumRow(&m.Sum)...)
}

func statementRow(s *ledger.Statement) []any {
	return append(userMonthRow(&s.UserMonth), hash(&s.Previous), hash(&s.Hash), moment(&s.SettledAt))
}

func accountRow(a *ledger.Account) []any {
	return accountFields(&a.User, &a.FirstDay, &a.Settled, new(ledger.Hash), &a.Hash, &a.Sum)
}

// newAccountRow is the account of a user who has no statement yet.
func newAccountRow(a *ledger.Account) []any {
	settled := beacon.Month(ledger.NoMonth)
	return accountFields(&a.User, &a.FirstDay, &settled, new(ledger.Hash), new(ledger.Hash), new(ledger.Sum))
}

// settledRow is what a statement adds to an existing account.
func settledRow(s *ledger.Statement) []any {
	first := s.Month.First()
	return accountFields(&s.User, &first, &s.Month, &s.Previous, &s.Hash, &s.Sum)
}

func accountFields(user *beacon.UserID, first *beacon.Day, settled *beacon.Month, previous, last *ledger.Hash, sum *ledger.Sum) []any {
	return append([]any{(*string)(user), (*int64)(first), (*int64)(settled), hash(previous), hash(last)}, sumRow(sum)...)
}

func correctionRow(c *ledger.Row) []any {
	month := int64(c.Day.Month())
	row := []any{(*string)(&c.User), &month, &c.Revision, (*int64)(&c.Day), hash(&c.Corrects), &c.Served, &c.Expected}
	return append(row, earnedRow(&c.Earned)...)
}

func reopeningRow(r *ledger.Reopening) []any {
	return []any{&r.Revision, (*int64)(&r.From), (*int64)(&r.Through), moment(&r.At)}
}

func closingRow(c *ledger.Closing) []any {
	row := []any{(*int64)(&c.Day), (*string)(&c.Upto.User), (*string)(&c.Upto.Hotspot), &c.Hotspots}
	return append(append(row, earnedRow(&c.Earned)...), moment(&c.ClosedAt))
}

func policyRow(p *ledger.Policy) []any {
	return []any{&p.Version, (*int64)(&p.From), &p.Text}
}

func nameRow(n *beacon.HotspotName) []any {
	return []any{(*string)(&n.ID), &n.Name, moment(&n.DeletedAt)}
}

const ownedNameColumns = `id, name, deleted_at, operator_id, former`

func ownedNameRow(n *beacon.OwnedName) []any {
	return append(nameRow(&n.HotspotName), ownersRow(&n.Owners)...)
}

func ownersRow(o *beacon.Owners) []any {
	return []any{(*string)(&o.Operator), as(&o.Former, encodeFormer, decodeFormer)}
}

func ownedRow(o *beacon.Owned) []any {
	return []any{(*string)(&o.User), (*string)(&o.Hotspot)}
}

func standingRow(s *ledger.Standing) []any {
	return []any{(*string)(&s.Hotspot), (*int64)(&s.Since), (*int64)(&s.Through), &s.Before, &s.Is}
}
