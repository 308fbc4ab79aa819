// Package postgres opens a store in PostgreSQL, or in an engine that speaks its
// protocol, for several machines that serve together. It uses no extension, no
// advisory lock, no LISTEN and no sequence.
//
// Its invariant: what was acknowledged is on the server's disk. A server that
// acknowledges before that (synchronous_commit) is refused.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Options are the settings of a store. The zero value of each is usable, but
// for Now.
type Options struct {
	Now     time.Time // when the store is opened: part of the node's name
	Node    string    // whose stream of changes to write to, such as store.SharedNode; default a fresh one
	Readers int       // connections for reading; default 8
}

const (
	defaultReaders = 8
	writers        = 4 // those of the two committers, and one each to take its place when that died
	connectTimeout = 3 * time.Second
	patience       = 5 * time.Second
)

// limits are settings of our sessions that a URL may override. A statement that
// hangs must end before the committer's patience does, and a node that was
// frozen in a transaction must not keep its locks.
var limits = map[string]string{
	"application_name":                    "beacon",
	"statement_timeout":                   "4000",
	"idle_in_transaction_session_timeout": "10000",
}

// Statements lists the text of every statement that is ever sent to a server,
// migrations included, for checks of the SQL itself.
func Statements() ([]string, error) {
	steps, err := store.Migrations()
	if err != nil {
		return nil, err
	}
	all := []string{beginRead, showDurability, askOrder, lockTable, lockRow, takeLock, store.SchemaTable}
	for _, step := range steps {
		for _, statement := range step.Statements {
			all = append(all, portableWords.Replace(statement))
		}
	}
	return append(all, store.Statements()...), nil
}

// Open opens the database at url, such as postgres://user:password@host/name.
func Open(ctx context.Context, url string, opts Options) (*store.DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err) // pgx hides the password
	}
	if strings.Contains(config.Host, "@") {
		return nil, errors.New("open database: the URL has an @ too many: write one in a password as %40") // a part of which stands in the host now
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	// A standby would answer what was true a moment ago, and sums are made of what
	// is read: only who may write may be read from. A URL may ask for something else.
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	config.DialFunc = dial

	// Migrations may take long: they run without limits, on connections of their own.
	unlimited := stdlib.OpenDB(*config)
	defer unlimited.Close()
	if err := durable(ctx, unlimited); err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}
	words, err := wordsFor(ctx, unlimited)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}

	limited := config.Copy()
	limited.RuntimeParams = maps.Clone(limits)
	maps.Copy(limited.RuntimeParams, config.RuntimeParams)
	read := pool(reading(limited), cmp.Or(max(opts.Readers, 0), defaultReaders))
	limited.DialFunc = patiently(dial)
	db, err := store.Open(ctx, store.Engine{
		Write: pool(limited, writers), Read: read,
		Begin:     "BEGIN",
		BeginRead: beginRead,
		Words:     words,
		Classify:  classify,
		Exclusive: func(ctx context.Context, fn func(*sql.Conn) error) error { return exclusive(ctx, unlimited, fn) },
		Scan:      scan,
		Patience:  patience,
	}, opts.Node, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}
	return db, nil
}

const addColumn = "ADD COLUMN IF NOT EXISTS"

// Keys sort by their bytes. Most engines sort all text that way; PostgreSQL
// sorts by the language of the database, unless a column says otherwise in
// words that those engines do not understand.
var (
	portableWords = strings.NewReplacer("{key}", "text", "{clustered}", "", "{add column}", addColumn)
	languageWords = strings.NewReplacer("{key}", `text COLLATE "C"`, "{clustered}", "", "{add column}", addColumn)
)

func wordsFor(ctx context.Context, db *sql.DB) (*strings.Replacer, error) {
	var byBytes bool
	if err := db.QueryRowContext(ctx, askOrder).Scan(&byBytes); err != nil {
		return nil, err
	}
	if byBytes {
		return portableWords, nil
	}
	return languageWords, nil
}

// pool keeps its connections for some minutes: long enough to be of use, and
// short enough to find the new primary after a change of it.
func pool(config *pgx.ConnConfig, size int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxLifetime(10 * time.Minute)
	return db
}

// beginRead asks for the least that gives all reads one state. An engine that
// has only more gives more, and may ask for a repetition.
const beginRead = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

// reading undoes a stricter isolation that the URL asks for. A read of ours is
// one statement, which sees one state of the database in any case, or asks for
// that itself: stricter isolation gives it nothing, but makes it fail, and makes
// writes fail.
func reading(config *pgx.ConnConfig) *pgx.ConnConfig {
	const isolation = "default_transaction_isolation"
	config = config.Copy()
	if _, ok := config.RuntimeParams[isolation]; ok {
		config.RuntimeParams[isolation] = "read committed"
	}
	return config
}

func where(config *pgx.ConnConfig) string {
	return fmt.Sprintf("%s on %s:%d", config.Database, config.Host, config.Port)
}

// durable refuses a server that acknowledges a commit before it is on disk.
// Measured: with synchronous_commit = off, every crash lost acknowledged rows.
func durable(ctx context.Context, db *sql.DB) error {
	var setting string
	err := db.QueryRowContext(ctx, showDurability).Scan(&setting)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == unknownSetting {
		return nil // an engine without the choice
	}
	if err != nil {
		return err
	}
	switch setting {
	case "on", "remote_apply", "remote_write":
		return nil
	}
	return fmt.Errorf("synchronous_commit is %q for this user and database, so that an acknowledged write can be lost: "+
		"set it to on (ALTER DATABASE … SET synchronous_commit = on, or ?synchronous_commit=on in the URL)", setting)
}

// scanner reads rows through pgx itself, which is almost twice as fast as
// through database/sql.
func scan(
	ctx context.Context, conn *sql.Conn, columns []store.Column, tail string, args []any, each func(func(...any) error) error,
) error {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	return conn.Raw(func(driver any) error {
		query := "SELECT " + strings.Join(names, ", ") + " " + tail
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
