package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Books calls read with a snapshot of the ledger: nothing that is committed after its
// first query is visible to a later one. An error of read is returned unchanged.
//
// It may run read again from the start if the database requires it. The snapshot may be
// used by one goroutine only, and only until read returns. At most half of the
// connections are used for snapshots, so that read may use the DB for other queries
// meanwhile.
func (db *DB) Books(ctx context.Context, read func(ledger.Books) error) error {
	select {
	case db.snapshots <- struct{}{}:
	case <-ctx.Done():
		return db.readFailed(context.Cause(ctx))
	}
	defer func() { <-db.snapshots }()
	var verdict error
	failed := db.retrying(ctx, func() (failed error) {
		verdict, failed = db.snapshot(ctx, read)
		return failed
	})
	if failed != nil {
		return db.readFailed(failed)
	}
	return verdict
}

// newSnapshots has slots for half of the connections.
func newSnapshots(read *sql.DB) chan struct{} {
	return make(chan struct{}, max(1, read.Stats().MaxOpenConnections/2))
}

// snapshot runs read in a transaction, which always ends with it. Failed is the failure
// of the database, even if read returns another error or none.
func (db *DB) snapshot(ctx context.Context, read func(ledger.Books) error) (verdict, failed error) {
	conn, err := db.engine.Read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, db.engine.BeginRead); err != nil {
		return nil, err
	}
	defer endSnapshot(ctx, conn)
	b := &books{db: db, conn: conn}
	verdict = read(b)
	return verdict, b.failed
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
	db     *DB
	conn   *sql.Conn
	failed error // the first failure of the database; nothing is sent after it
}

var _ ledger.Books = (*books)(nil)

func (b *books) scan(ctx context.Context, rows bulk, targets []any, each func() (stopped, failed error), args ...any) error {
	if b.failed != nil {
		return b.db.readFailed(b.failed)
	}
	var stopped error
	err := b.db.engine.Scan(ctx, b.conn, rows.typed(), rows.from, args, func(scan func(...any) error) (failed error) {
		if err := scan(targets...); err != nil {
			return err
		}
		stopped, failed = each()
		return cmp.Or(failed, stopped)
	})
	if err != nil && stopped == nil {
		b.failed = err
		return b.db.readFailed(err)
	}
	return stopped
}
