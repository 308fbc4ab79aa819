package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

var allHotspotsSQL = `SELECT ` + hotspotColumns + ` FROM hotspots`

// EachHotspot calls fn with every hotspot, deleted ones included, and the error found
// in its row, if any.
func (s Snapshot) EachHotspot(ctx context.Context, fn func(beacon.Hotspot, error) error) error {
	return each(ctx, s.books, allHotspotsSQL, hotspotRow, fn)
}

// TakenMAC is a MAC address in use by a hotspot.
type TakenMAC struct {
	Hotspot beacon.HotspotID
	MAC     beacon.MAC // as in the hotspot
	Taken   string     // as in the index
	Deleted bool
}

const allMACsSQL = `SELECT id, mac, mac_live, deleted_at FROM hotspots WHERE coalesce(mac_live, '') <> ''`

// EachMAC calls fn with every MAC address in use, from the rows themselves.
func (s Snapshot) EachMAC(ctx context.Context, fn func(TakenMAC) error) error {
	return each(ctx, s.books, allMACsSQL, func(m *TakenMAC) []any {
		return []any{(*string)(&m.Hotspot), (*string)(&m.MAC), &m.Taken, flag(&m.Deleted)}
	}, sound(fn))
}

// EachKey calls fn with every key, and the error found in its row, if any.
func (s Snapshot) EachKey(ctx context.Context, fn func(beacon.Key, error) error) error {
	return each(ctx, s.books, `SELECT `+keyColumns+` FROM api_keys`, keyRow, fn)
}

// EachPerson calls fn with every person, erased ones included, and the error found in their
// row, if any.
func (s Snapshot) EachPerson(ctx context.Context, fn func(beacon.Person, error) error) error {
	return each(ctx, s.books, `SELECT `+personColumns+` FROM people`, personRow, fn)
}

// EachMembership calls fn with every membership, and the error found in its row, if any.
func (s Snapshot) EachMembership(ctx context.Context, fn func(beacon.Membership, error) error) error {
	return each(ctx, s.books, `SELECT `+membershipColumns+` FROM memberships`, membershipRow, fn)
}

// EachInvite calls fn with every invitation, and the error found in its row, if any.
func (s Snapshot) EachInvite(ctx context.Context, fn func(beacon.Invite, error) error) error {
	return each(ctx, s.books, `SELECT `+inviteColumns+` FROM invitations`, inviteRow, fn)
}

const waysInSQL = `SELECT person_id FROM passkeys UNION SELECT person_id FROM identities UNION SELECT person_id FROM sessions WHERE expires_at > $1
	UNION SELECT person_id FROM tickets WHERE kind IN ('code', 'link') AND (expires_at = 0 OR expires_at > $1)`

// WaysIn returns the people who are signed in, or can sign in.
func (s Snapshot) WaysIn(ctx context.Context, now time.Time) ([]beacon.PersonID, error) {
	return list(ctx, s.books, func(p *beacon.PersonID) []any { return []any{(*string)(p)} }, waysInSQL, micros(now))
}

// EachChange calls fn with every change, stream by stream, each in order, and the error
// found in its row, if any.
func (s Snapshot) EachChange(ctx context.Context, fn func(beacon.Change, error) error) error {
	return each(ctx, s.books, `SELECT `+changeColumns+`, seal FROM changes ORDER BY node, seq`, sealedChangeRow, fn)
}

// NodeRow is a process that wrote to the database.
type NodeRow struct {
	Node    string
	Trimmed int64 // the last trimmed number of its journal
}

// Nodes returns all nodes that ever wrote.
func (s Snapshot) Nodes(ctx context.Context) ([]NodeRow, error) {
	return list(ctx, s.books, func(n *NodeRow) []any { return []any{&n.Node, &n.Trimmed} }, `SELECT node, journal_trimmed FROM nodes ORDER BY node`)
}

// EachEvent calls fn with every kept event, in order.
func (s Snapshot) EachEvent(ctx context.Context, fn func(beacon.Event) error) error {
	return each(ctx, s.books, `SELECT `+eventColumns+` FROM events ORDER BY seq`, eventRow, sound(fn))
}

// Places returns, for each node, the last change that has become an event.
func (s Snapshot) Places(ctx context.Context) (map[string]int64, error) {
	return readMap[string, int64](ctx, s.books, same, `SELECT node, seq FROM event_places ORDER BY node`)
}

// Leases returns all leases.
func (s Snapshot) Leases(ctx context.Context) ([]lease.Lease, error) {
	return list(ctx, s.books, leaseRow, `SELECT name, holder, token, expires_at FROM leases ORDER BY name`)
}

const allSpansSQL = `SELECT node, from_minute, to_minute FROM service_spans ORDER BY node, from_minute`

// EachSpan calls fn with the spans in which nodes were up.
func (s Snapshot) EachSpan(ctx context.Context, fn func(node string, span beacon.ServiceSpan) error) error {
	var node string
	return each(ctx, s.books, allSpansSQL, func(span *beacon.ServiceSpan) []any {
		return []any{&node, &span.From, &span.To}
	}, func(span beacon.ServiceSpan, _ error) error { return fn(node, span) })
}

// EachBatch calls fn with every row of all journals, journal by journal, each in order.
func (s Snapshot) EachBatch(ctx context.Context, fn func(node string, row beacon.JournalRow) error) error {
	var node string
	return each(ctx, s.books, `SELECT node, seq, batch FROM journal ORDER BY node, seq`, func(row *beacon.JournalRow) []any {
		return []any{&node, &row.Seq, &row.Batch}
	}, func(row beacon.JournalRow, _ error) error { return fn(node, row) })
}

const allRecordsSQL = `SELECT day, hotspot, data, data_before FROM (SELECT r.day, r.hotspot, r.data, b.data AS data_before FROM records r
		LEFT JOIN records b ON r.day >= $1 AND b.day = r.day - 1 AND b.hotspot = r.hotspot) AS records_before`

// EachRecord calls fn with every record of every day. From a day on, before is the record
// of the same hotspot on the day before, or nil.
func (s Snapshot) EachRecord(ctx context.Context, from beacon.Day, fn func(r beacon.RecordRow, before []byte) error) error {
	var before []byte
	return each(ctx, s.books, allRecordsSQL, func(r *beacon.RecordRow) []any {
		return []any{(*int64)(&r.Day), (*string)(&r.Hotspot), &r.Data, &before}
	}, func(r beacon.RecordRow, _ error) error { return fn(r, before) }, int64(from))
}

// Records returns the records of some hotspots on a day.
func (s Snapshot) Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	found := make(map[beacon.HotspotID][]byte, len(ids))
	return found, recordsByID(ctx, s.books, day, ids, found)
}

// ValidRows returns what the method of LedgerTable does.
func (s Snapshot) ValidRows(ctx context.Context, day beacon.Day, from, to beacon.Owned, reopened ledger.Reopenings) ([]ledger.Row, error) {
	return validRows(ctx, s.books, day, from, to, reopened)
}

// Strays calls fn with every dangling reference, and returns the number of kinds of
// references.
func (s Snapshot) Strays(ctx context.Context, fn func(id, what string) error) (kinds int, err error) {
	for _, stray := range strays {
		err := each(ctx, s.books, stray.text, label[string], func(id string, _ error) error { return fn(id, stray.what) })
		if err != nil {
			return 0, err
		}
	}
	return len(strays), nil
}

const sumsOfOthersSQL = `SELECT user_id, hotspot FROM hotspot_months
		WHERE EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = hotspot_months.hotspot AND hotspots.operator_id <> hotspot_months.user_id)
		AND NOT EXISTS (SELECT 1 FROM former_owners WHERE former_owners.hotspot = hotspot_months.hotspot AND former_owners.user_id = hotspot_months.user_id)`

// EachSumOfOthers calls fn with every hotspot that has a monthly sum of a user whose it never
// was.
func (s Snapshot) EachSumOfOthers(ctx context.Context, fn func(beacon.Owned) error) error {
	return each(ctx, s.books, sumsOfOthersSQL, ownedRow, sound(fn))
}

// EachFormer calls fn with every former owner by which a hotspot is found.
func (s Snapshot) EachFormer(ctx context.Context, fn func(beacon.HotspotID, beacon.Tenure) error) error {
	var hotspot string
	return each(ctx, s.books, `SELECT hotspot, through, user_id FROM former_owners`, func(t *beacon.Tenure) []any {
		return []any{&hotspot, (*int64)(&t.Through), (*string)(&t.User)}
	}, func(t beacon.Tenure, _ error) error { return fn(beacon.HotspotID(hotspot), t) })
}

// firstNumber sorts before every day and month.
const firstNumber = math.MinInt64

// Days returns all days that have ledger rows.
func (s Snapshot) Days(ctx context.Context) ([]beacon.Day, error) {
	return numbers[beacon.Day](ctx, s, `SELECT day FROM ledger WHERE day > $1 ORDER BY day LIMIT 1`)
}

const nextHotspotMonthSQL = `SELECT month FROM hotspot_months WHERE month > $1 ORDER BY month LIMIT 1`

// Months returns all months that have sums.
func (s Snapshot) Months(ctx context.Context) (ofHotspots, ofUsers []beacon.Month, err error) {
	if ofHotspots, err = numbers[beacon.Month](ctx, s, nextHotspotMonthSQL); err != nil {
		return nil, nil, err
	}
	ofUsers, err = numbers[beacon.Month](ctx, s, `SELECT month FROM user_months WHERE month > $1 ORDER BY month LIMIT 1`)
	return ofHotspots, ofUsers, err
}

// numbers skips from one number of a key to the next, without reading the rows between
// them.
func numbers[T ~int64](ctx context.Context, s Snapshot, next string) (all []T, err error) {
	var last T = firstNumber
	for {
		n, found, err := first(ctx, s.books, number[T], next, int64(last))
		if err != nil || !found {
			return all, err
		}
		if n <= last {
			return all, errors.New("a table is not in the order of its key") // else it would loop forever
		}
		all, last = append(all, n), n
	}
}

// EachLedgerRow calls fn with every row, void or not, in no order, and the error found in
// it, if any.
func (s Snapshot) EachLedgerRow(ctx context.Context, fn func(ledger.Row, error) error) error {
	if err := each(ctx, s.books, `SELECT `+ledgerColumns+` FROM ledger`, ledgerRow, fn); err != nil {
		return err
	}
	return each(ctx, s.books, `SELECT `+ledgerColumns+` FROM ledger_again`, ledgerRow, fn)
}

// Revision returns the revision of the ledger; 0 if nothing was written to it.
func (s Snapshot) Revision(ctx context.Context) (int64, error) {
	revision, _, err := first(ctx, s.books, number[int64], `SELECT revision FROM reward_revision WHERE id = 1`)
	return revision, err
}

// AnyHeldDay reports whether any day was closed under a hold.
func (s Snapshot) AnyHeldDay(ctx context.Context) (bool, error) {
	_, found, err := first(ctx, s.books, label[string], `SELECT user_id FROM held_days ORDER BY user_id LIMIT 1`)
	if err == nil && !found {
		_, found, err = first(ctx, s.books, label[string], `SELECT user_id FROM user_months WHERE held <> 0 LIMIT 1`)
	}
	return found, err
}

// EachHold calls fn for every hold, by user and number, with an error if it is damaged.
func (s Snapshot) EachHold(ctx context.Context, fn func(h beacon.Hold, damage error) error) error {
	return each(ctx, s.books, `SELECT `+holdColumns+` FROM holds ORDER BY user_id, number`, holdRow, fn)
}

const strayHeldSQL = `SELECT hold FROM held_days WHERE NOT EXISTS (SELECT 1 FROM holds WHERE holds.id = held_days.hold AND holds.user_id = held_days.user_id
			AND (holds.hotspot = '' OR holds.hotspot = held_days.hotspot))
		GROUP BY hold ORDER BY hold`

// StrayHeld returns the holds that held days name and that do not hold them.
func (s Snapshot) StrayHeld(ctx context.Context) ([]string, error) {
	return list(ctx, s.books, label[string], strayHeldSQL)
}

const standingsThroughSQL = `SELECT day, revision, minutes_a_day FROM standings_through WHERE id = 1`

// StandingsThrough returns through which day standings are complete; false if they never
// were.
func (s Snapshot) StandingsThrough(ctx context.Context) (ledger.StandingsThrough, bool, error) {
	return first(ctx, s.books, standingsThroughRow, standingsThroughSQL)
}

// EachStanding calls fn with every standing.
func (s Snapshot) EachStanding(ctx context.Context, fn func(ledger.Standing) error) error {
	return each(ctx, s.books, `SELECT `+standingColumns+` FROM standings`, standingRow, sound(fn))
}

// FinishedMonths returns the months that are settled for everyone.
func (s Snapshot) FinishedMonths(ctx context.Context) ([]beacon.Month, error) {
	return list(ctx, s.books, number[beacon.Month], `SELECT month FROM reward_months ORDER BY month`)
}

const policiesSQL = `SELECT version, first_day, content FROM reward_policies ORDER BY version`

// Policies returns the stored policies, by version.
func (s Snapshot) Policies(ctx context.Context) ([]ledger.Policy, error) {
	return list(ctx, s.books, policyRow, policiesSQL)
}

// The methods below return pages of the ledger: the rows after one, ordered by user and
// then by hotspot or month. An empty page is the end.

const allLedgerPageSQL = `SELECT ` + ledgerColumns + ` FROM ledger
		WHERE day = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`

// LedgerAfter returns a page of the rows of a day.
func (s Snapshot) LedgerAfter(ctx context.Context, day beacon.Day, after beacon.Owned) ([]ledger.Row, error) {
	return list(ctx, s.books, ledgerRow, allLedgerPageSQL, int64(day), string(after.User), string(after.Hotspot), int64(pageSize))
}

const allHotspotMonthPageSQL = `SELECT ` + hotspotMonthColumns + ` FROM hotspot_months
		WHERE month = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`

// HotspotMonthsAfter returns a page of the sums of hotspots in a month.
func (s Snapshot) HotspotMonthsAfter(ctx context.Context, month beacon.Month, after beacon.Owned) ([]ledger.HotspotMonth, error) {
	return list(ctx, s.books, hotspotMonthRow, allHotspotMonthPageSQL,
		int64(month), string(after.User), string(after.Hotspot), int64(pageSize))
}

const allUserMonthPageSQL = `SELECT ` + userMonthColumns + ` FROM user_months
		WHERE month = $1 AND user_id > $2 ORDER BY user_id LIMIT $3`

// UserMonthsAfter returns a page of the sums of users in a month.
func (s Snapshot) UserMonthsAfter(ctx context.Context, month beacon.Month, after beacon.UserID) ([]ledger.UserMonth, error) {
	return list(ctx, s.books, userMonthRow, allUserMonthPageSQL, int64(month), string(after), int64(pageSize))
}

const allStatementPageSQL = `SELECT ` + statementColumns + ` FROM statements
		WHERE user_id >= $1 AND (user_id, month) > ($1, $2) ORDER BY user_id, month LIMIT $3`

// StatementsAfter returns a page of all statements.
func (s Snapshot) StatementsAfter(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.Statement, error) {
	return list(ctx, s.books, statementRow, allStatementPageSQL, string(user), int64(month), int64(pageSize))
}

const allAccountPageSQL = `SELECT ` + accountColumns + ` FROM accounts WHERE user_id > $1 ORDER BY user_id LIMIT $2`

// AccountsAfter returns a page of all accounts.
func (s Snapshot) AccountsAfter(ctx context.Context, after beacon.UserID) ([]ledger.Account, error) {
	return list(ctx, s.books, accountRow, allAccountPageSQL, string(after), int64(pageSize))
}

const allTotalPageSQL = `SELECT ` + totalColumns + ` FROM hotspot_totals
		WHERE user_id >= $1 AND (user_id, hotspot) > ($1, $2) ORDER BY user_id, hotspot LIMIT $3`

// TotalsAfter returns a page of the totals of all hotspots.
func (s Snapshot) TotalsAfter(ctx context.Context, after beacon.Owned) ([]ledger.HotspotTotal, error) {
	return list(ctx, s.books, totalRow, allTotalPageSQL, string(after.User), string(after.Hotspot), int64(pageSize))
}
