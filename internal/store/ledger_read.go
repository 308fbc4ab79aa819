package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Books calls read with a snapshot of the ledger: nothing that is committed after its
// first query is visible to a later one. An error of read is returned unchanged.
//
// It may run read again from the start if the database requires it. The snapshot may be
// used by one goroutine only, and only until read returns. At most half of the
// connections are used for snapshots, so that read may use the DB for other queries
// meanwhile.
func (db LedgerTable) Books(ctx context.Context, read func(ledger.Books) error) error {
	select {
	case db.snapshots <- struct{}{}:
	case <-ctx.Done():
		return db.readFailed(context.Cause(ctx))
	}
	defer func() { <-db.snapshots }()
	var verdict error
	failed := db.retrying(ctx, func() error {
		return db.snapshot(ctx, func(b *books) error {
			verdict = read(b.Books())
			return b.failed // even if read returns another error or none
		})
	})
	if failed != nil {
		return db.readFailed(failed)
	}
	return verdict
}

// Books returns the snapshot as a ledger.
func (b *books) Books() ledger.Books {
	return ledger.Books{Progress: b, Owners: b, Sums: b, RowReader: b, Holds: b}
}

// snapshot runs read in a transaction, which always ends with it.
func (db *core) snapshot(ctx context.Context, read func(*books) error) error {
	conn, err := db.engine.Read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, db.engine.BeginRead); err != nil {
		return err
	}
	defer endSnapshot(ctx, conn)
	return read(&books{db: db, conn: conn})
}

// endPatience limits how long it may take to end a read transaction.
const endPatience = 3 * time.Second

// endSnapshot ends the transaction, or discards the connection if that fails.
func endSnapshot(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// books is a transaction that reads.
type books struct {
	db     *core
	conn   *sql.Conn
	failed error // the first failure of the database; nothing is sent after it
}

func (b *books) scan(ctx context.Context, text string, targets []any, each func() (stopped, failed error), args ...any) error {
	if b.failed != nil {
		return b.db.readFailed(b.failed)
	}
	stopped, failed := b.db.engine.scan(ctx, b.conn, text, targets, each, args)
	if b.failed = failed; failed != nil {
		return b.db.readFailed(failed)
	}
	return stopped
}

// retrying implements source: Books repeats all of its reads.
func (b *books) retrying(_ context.Context, read func() error) error { return read() }

func (b *books) Closing(ctx context.Context) (c ledger.Closing, found bool, err error) {
	return first(ctx, b, closingRow, newestClosingSQL)
}

func (b *books) Closings(ctx context.Context) ([]ledger.Closing, error) {
	return list(ctx, b, closingRow, `SELECT `+rewardDayColumns+` FROM reward_days ORDER BY day`)
}

func (b *books) FirstRecord(ctx context.Context) (day beacon.Day, found bool, err error) {
	return first(ctx, b, number[beacon.Day], `SELECT day FROM records ORDER BY day LIMIT 1`)
}

func (b *books) Finished(ctx context.Context) (month beacon.Month, found bool, err error) {
	return first(ctx, b, number[beacon.Month], `SELECT month FROM reward_months ORDER BY month DESC LIMIT 1`)
}

var (
	ownNamesSQL    = `SELECT ` + ownedNameColumns + ` FROM hotspots WHERE operator_id = $1 AND (deleted_at = 0 OR deleted_at >= $2) ORDER BY id`
	formerNamesSQL = `SELECT ` + ownedNameColumns + ` FROM hotspots WHERE id IN (SELECT hotspot FROM former_owners WHERE user_id = $1 AND through >= $3)
		AND operator_id <> $1 AND (deleted_at = 0 OR deleted_at >= $2) ORDER BY id`
)

func (b *books) Names(ctx context.Context, user beacon.UserID, since time.Time) ([]beacon.OwnedName, error) {
	names, err := list(ctx, b, ownedNameRow, ownNamesSQL, string(user), micros(since))
	if err != nil {
		return nil, err
	}
	former, err := list(ctx, b, ownedNameRow, formerNamesSQL, string(user), micros(since), int64(beacon.DayOf(since)))
	if len(former) > 0 {
		names = append(names, former...)
		slices.SortFunc(names, func(x, y beacon.OwnedName) int { return cmp.Compare(x.ID, y.ID) })
	}
	return names, err
}

func (b *books) NamesOf(ctx context.Context, ids []beacon.HotspotID) (all []beacon.HotspotName, err error) {
	return listByID(ctx, b, nameRow, `SELECT id, name, deleted_at FROM hotspots WHERE id IN (…)`, ids)
}

func (b *books) Whose(ctx context.Context, id beacon.HotspotID) (o beacon.Owners, found bool, err error) {
	return first(ctx, b, ownersRow, `SELECT operator_id, former FROM hotspots WHERE id = $1`, string(id))
}

func (b *books) Account(ctx context.Context, user beacon.UserID) (a ledger.Account, found bool, err error) {
	return first(ctx, b, accountRow, `SELECT `+accountColumns+` FROM accounts WHERE user_id = $1`, string(user))
}

const statementSQL = `SELECT ` + statementColumns + ` FROM statements WHERE user_id = $1 AND month = $2`

func (b *books) Statement(ctx context.Context, user beacon.UserID, month beacon.Month) (s ledger.Statement, found bool, err error) {
	return first(ctx, b, statementRow, statementSQL, string(user), int64(month))
}

const statementsSQL = `SELECT ` + statementColumns + ` FROM statements WHERE user_id = $1 AND month >= $2 AND month <= $3 ORDER BY month`

func (b *books) Statements(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]ledger.Statement, error) {
	return list(ctx, b, statementRow, statementsSQL, string(user), int64(from), int64(to))
}

// monthsPerQuery is how many months UserMonths requests at once. Each is looked up by
// its key, because the table is ordered by month.
const monthsPerQuery = 16

const userMonthsSQL = `SELECT ` + userMonthColumns + ` FROM user_months
		WHERE user_id = $1 AND month IN (…) ORDER BY month`

func (b *books) UserMonths(ctx context.Context, user beacon.UserID, from, to beacon.Month) ([]ledger.UserMonth, error) {
	var all []ledger.UserMonth
	for ; from <= to; from += monthsPerQuery {
		args := make([]any, 1+monthsPerQuery)
		args[0] = string(user)
		for i := range beacon.Month(monthsPerQuery) {
			args[1+i] = int64(min(from+i, to))
		}
		some, err := list(ctx, b, userMonthRow, userMonthsSQL, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

const hotspotMonthsSQL = `SELECT ` + hotspotMonthColumns + ` FROM hotspot_months WHERE month = $1 AND user_id = $2 ORDER BY hotspot`

func (b *books) HotspotMonths(ctx context.Context, user beacon.UserID, month beacon.Month) ([]ledger.HotspotMonth, error) {
	return list(ctx, b, hotspotMonthRow, hotspotMonthsSQL, int64(month), string(user))
}

const totalsSQL = `SELECT ` + totalColumns + ` FROM hotspot_totals WHERE user_id = $1 ORDER BY hotspot`

func (b *books) Totals(ctx context.Context, user beacon.UserID) ([]ledger.HotspotTotal, error) {
	return list(ctx, b, totalRow, totalsSQL, string(user))
}

const ledgerPageSQL = `SELECT ` + ledgerColumns + ` FROM ledger
		WHERE day = $1 AND user_id = $2 AND hotspot > $3 ORDER BY hotspot LIMIT $4`

// Rows reads a page at a time and calls fn while no query is open, so that fn may make
// other queries.
func (b *books) Rows(ctx context.Context, user beacon.UserID, day beacon.Day, fn func(ledger.Row) error) error {
	for after, more := beacon.HotspotID(""), true; more; {
		page, err := list(ctx, b, ledgerRow, ledgerPageSQL, int64(day), string(user), string(after), int64(pageSize))
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := fn(row); err != nil {
				return err
			}
			after = row.Hotspot
		}
		more = len(page) == pageSize
	}
	return nil
}
