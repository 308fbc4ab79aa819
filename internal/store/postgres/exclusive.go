package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	showDurability = `SHOW synchronous_commit`
	askOrder       = `SELECT 'B' < 'a'` // true by bytes, false in every language
	lockTable      = `CREATE TABLE IF NOT EXISTS schema_lock (
		name   text NOT NULL,
		holder text NOT NULL,
		CONSTRAINT schema_lock_pk PRIMARY KEY (name)
	)`
	lockRow  = `INSERT INTO schema_lock (name, holder) VALUES ('migration', '') ON CONFLICT (name) DO NOTHING`
	takeLock = `UPDATE schema_lock SET holder = 'beacon' WHERE name = 'migration'`
)

// raceTries is ample: a race is lost once for each process that starts at the same
// time.
const raceTries = 50

// exclusive holds a row lock in a separate transaction while fn works on another
// connection. Such a lock needs no clock, ends with the process, and also works in
// engines without transactional DDL.
func exclusive(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	err := racing(ctx, func() error {
		_, err := db.ExecContext(ctx, lockTable)
		return err
	})
	if err != nil {
		return err
	}
	return racing(ctx, func() error { return underLock(ctx, db, fn) })
}

func underLock(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	if _, err := db.ExecContext(ctx, lockRow); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing to commit: the transaction only holds the lock
	if _, err := tx.ExecContext(ctx, takeLock); err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return fn(conn)
}

// racing retries what may fail only because another process does the same at the same
// time. All of it is safe to repeat.
func racing(ctx context.Context, do func() error) (err error) {
	for range raceTries {
		if err = do(); !lostRace(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(rand.N(50 * time.Millisecond)):
		}
	}
	return err
}

// lostRace reports whether an error is a lost race. CREATE TABLE IF NOT EXISTS itself
// races in PostgreSQL, and then fails on an index of the system tables.
func lostRace(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case uniqueViolation, duplicateTable, duplicateObject, serializationFailure, deadlockDetected, internalError:
		return true
	}
	return false
}
