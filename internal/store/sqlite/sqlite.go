// Package sqlite opens a store in one SQLite file: there is nothing to install or run.
// It is not for several machines; package store/postgres is.
//
// Its invariant: an acknowledged write survives a power cut, because the write-ahead
// log is synced at every commit (synchronous=FULL; NORMAL was measured to lose
// acknowledged commits). Only Options.Draft relaxes this.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Options are the settings of a store. The zero value of each is usable, except for
// Now.
type Options struct {
	Now  time.Time     // when the store is opened: part of the node's name
	Node string        // the change stream to write to, such as store.SharedNode; default a new one
	Wait time.Duration // for another writing process, such as the command line beside a server; default 5 s

	Upgrade store.Upgrade // what may be done to the schema; default: all that is needed

	// Draft is for a file that is worthless until complete: nothing is synced, and a
	// power cut may leave it in any state. The caller that completes it must sync and
	// rename it.
	Draft bool
}

const (
	readers     = 4 // connections for reading
	defaultWait = 5 * time.Second
)

// Open opens the database file at path, and creates it if there is none. Only the owner
// of the file may read it.
func Open(ctx context.Context, path string, opts Options) (*store.DB, error) {
	path, err := prepare(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	write, err := sql.Open("sqlite", writing(path, opts))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	read, err := openReaders(dsn(path, "ro", opts))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)

	file := &identity{path: path}
	db, err := store.Open(ctx, store.Engine{
		Write: write, Read: read, Confirm: file.confirm,
		Begin:     "BEGIN IMMEDIATE", // takes the single write lock now rather than fail later
		BeginRead: "BEGIN",           // the snapshot begins with the first read
		Words:     words,
		Classify:  classify,
		Exclusive: func(ctx context.Context, fn func(*sql.Conn) error) error {
			return exclusive(ctx, write, cmp.Or(opts.Wait, defaultWait), fn)
		},
		Foreign: foreign,
		Rewrite: positional,
		Scan:    newScan(),
	}, opts.Upgrade, opts.Node, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

// words does not contain IF NOT EXISTS for a column, which SQLite lacks: a failed
// migration is rolled back.
var words = strings.NewReplacer("{key}", "text", "{clustered}", "WITHOUT ROWID", "{add column}", "ADD COLUMN")

// foreign is a store.Foreign.
func foreign(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return store.ReadRows(ctx, conn, func(what *string) []any { return []any{what} },
		`SELECT type || ' ' || name || iif(type = 'trigger', ' on ' || tbl_name, '') FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY 1`)
}

// prepare creates the file, so that it never exists with wider permissions. The log and
// the shared memory beside it inherit them.
func prepare(path string) (string, error) {
	if path == "" || path == ":memory:" {
		return "", errors.New("give the path of a file: a database in memory would lose every write")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // it may be gone again, or a link to what is not there
	} else if err == nil {
		giveToFolder(file)
	}
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// syncFull makes each commit wait for the disk.
const syncFull = "synchronous(FULL)"

// writing returns the DSN of the single write connection. Readers see the last commit
// while it works (WAL), and each commit is synced (FULL). The log is checkpointed every
// 16 MB rather than every 4: the last pages of each table are in every commit, and are
// then written once for four times as many commits.
func writing(path string, opts Options) string {
	sync := syncFull
	if opts.Draft {
		sync = "synchronous(OFF)"
	}
	return dsn(path, "rwc", opts, "journal_mode(WAL)", sync, "wal_autocheckpoint(4000)", "cache_size(-32768)")
}

func dsn(path, mode string, opts Options, pragmas ...string) string {
	wait := cmp.Or(opts.Wait, defaultWait)
	// The wait comes first: switching to WAL may already have to wait.
	settings := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds())}}
	for _, pragma := range pragmas {
		settings.Add("_pragma", pragma)
	}
	return fileURL(path, settings)
}

func classify(err error) store.Failure {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return store.Refused
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return store.Duplicate
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return store.Broken
	}
	switch e.Code() & 0xff { // the other bits are details
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL:
		return store.Busy
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return store.Away
	case sqlite3.SQLITE_FULL:
		return store.Full
	}
	return store.Refused
}

// exclusive holds the file's write lock, and rolls back a migration that fails.
func exclusive(ctx context.Context, write *sql.DB, wait time.Duration, fn func(*sql.Conn) error) (err error) {
	conn, err := lock(ctx, write, wait)
	if err != nil {
		return err
	}
	defer conn.Close()
	end := "COMMIT"
	if err = fn(conn); err != nil {
		end = "ROLLBACK"
	}
	_, endErr := conn.ExecContext(context.WithoutCancel(ctx), end)
	return errors.Join(err, endErr)
}

// retryPause is the average wait before another attempt to open.
const retryPause = 2 * time.Millisecond

// lock opens the write connection and takes the write lock. SQLite itself waits for a
// lock, except when two processes switch a new file to WAL at once: each could be
// waiting for the other, so one fails immediately. Only waiting for another process is
// limited: a slow disk may take as long as it needs.
func lock(ctx context.Context, write *sql.DB, wait time.Duration) (*sql.Conn, error) {
	waited := time.After(wait)
	for {
		conn, err := tryLock(ctx, write)
		if err == nil || classify(err) != store.Busy {
			return conn, err
		}
		select {
		case <-time.After(rand.N(2 * retryPause)):
		case <-waited:
			return nil, err
		case <-ctx.Done():
			return nil, err
		}
	}
}

func tryLock(ctx context.Context, write *sql.DB) (*sql.Conn, error) {
	conn, err := write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
