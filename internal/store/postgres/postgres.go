// Package postgres opens a store in PostgreSQL, or in an engine that speaks its
// protocol, for several machines that serve together. It uses no extension, no advisory
// lock, no LISTEN and no sequence.
//
// Its invariant: an acknowledged write is on the server's disk. A server that
// acknowledges earlier (synchronous_commit) is rejected.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Options are the settings of a store. The zero value of each is usable, except for
// Now.
type Options struct {
	Now  time.Time // when the store is opened: part of the node's name
	Node string    // the change stream to write to, such as store.SharedNode; default a new one

	Upgrade store.Upgrade // what may be done to the schema; default: all that is needed

	// Wait is how long a statement may take, and a transaction between two of them, if the
	// URL does not say; default 4 and 10 seconds.
	Wait time.Duration

	Pooler Pooler // whether a pooler is in front of the database
}

const (
	readers        = 8 // connections for reading
	writers        = 4 // one for each of the two committers, and a spare for each if it dies
	connectTimeout = 3 * time.Second
	patience       = 5 * time.Second
)

// limits are session settings that a URL may override. A statement that hangs must end
// before the committer's patience does, and a node that froze in a transaction must not
// keep its locks.
var limits = map[string]string{
	"application_name":                    "beacon",
	"statement_timeout":                   "4000",
	"idle_in_transaction_session_timeout": "10000",
}

// timeouts are the limits that a pooler does not pass on.
var timeouts = []string{"statement_timeout", "idle_in_transaction_session_timeout"}

// patienceFor returns the committer's patience. If the URL lets statements take longer,
// so does the committer.
func patienceFor(settings map[string]string) time.Duration {
	limit, err := strconv.Atoi(settings["statement_timeout"])
	if err != nil { // such as "1min"
		return patience
	}
	return max(patience, time.Duration(limit)*time.Millisecond+time.Second)
}

// Schema returns the statements of the migrations as they are sent to a server, for checks
// of the SQL itself.
func Schema() ([]string, error) {
	steps, err := store.Migrations()
	if err != nil {
		return nil, err
	}
	all := []string{store.SchemaTable}
	for _, step := range steps {
		for _, statement := range step.Statements {
			all = append(all, portableWords.Replace(statement))
		}
	}
	return all, nil
}

// askClock returns the server's time in microseconds since 1970.
const askClock = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"

// parse reads a URL. What is wrong with it can be shown to anyone.
func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err) // pgx hides the password
	}
	hosts := config.Host
	for _, other := range config.Fallbacks {
		hosts += other.Host
	}
	if strings.Contains(hosts, "@") {
		return nil, errors.New("open database: the URL has more than one @; write an @ in a password as %40") // part of the password is in the host now, so neither is in the error
	}
	config.OnNotice = doubt
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return config, nil
}

// doubt notes that a COMMIT of a connection stopped waiting for a synchronous standby, since
// somebody canceled it. The server reports success, with a notice: what it acknowledges may be
// lost with the machine.
func doubt(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.Routine == "SyncRepWaitForLSN" {
		conn.CustomData()[doubted] = true
	}
}

const doubted = "doubted"

// inDoubt reports whether a COMMIT of the connection may be lost.
func inDoubt(conn *sql.Conn) (is bool) {
	_ = conn.Raw(func(driver any) error {
		is = driver.(*stdlib.Conn).Conn().PgConn().CustomData()[doubted] != nil
		return nil
	})
	return is
}

// Open opens the database at url, such as postgres://user:password@host/name.
func Open(ctx context.Context, url string, opts Options) (*store.DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	// A standby would return slightly old data, and sums are computed from what is
	// read: read only from a server that can be written to. A URL may choose otherwise.
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	config.DialFunc = dial

	// Migrations may take long: they run without limits, on connections of their own.
	bare := withoutLimits(config)
	pooled, err := opts.Pooler.pooled(ctx, bare)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), explainParameter(err))
	}
	unlimited := stdlib.OpenDB(*bare)
	defer unlimited.Close()
	if err := durable(ctx, unlimited); err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}
	words, err := wordsFor(ctx, unlimited)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}

	limited, begin, settings := config.Copy(), begin, limitsFor(opts.Wait, config.RuntimeParams)
	if pooled {
		limited, begin = bare.Copy(), beginLimited(settings)
	} else {
		limited.RuntimeParams = settings
	}
	read := pool(reading(limited), readers)
	limited.DialFunc = patiently(dial)
	db, err := store.Open(ctx, store.Engine{
		Write: pool(limited, writers), Read: read,
		Begin:     begin,
		BeginRead: beginRead,
		Pooled:    pooled,
		InDoubt:   inDoubt,
		Words:     words,
		Classify:  classify,
		Exclusive: func(ctx context.Context, fn func(*sql.Conn) error) error { return exclusive(ctx, unlimited, fn) },
		Foreign:   foreign,
		Scan:      scan,
		Patience:  patienceFor(settings),
		Clock:     askClock,
	}, opts.Upgrade, opts.Node, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), err)
	}
	return db, nil
}

const addColumn = "ADD COLUMN IF NOT EXISTS"

// Keys sort by their bytes. Most engines sort all text that way; PostgreSQL sorts by
// the language of the database, unless a column says otherwise in syntax that those
// engines do not understand.
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

// pool keeps its connections for some minutes: long enough to be useful, and short
// enough to find the new primary after a failover.
func pool(config *pgx.ConnConfig, size int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxLifetime(10 * time.Minute)
	return db
}

// begin starts a transaction that writes.
const begin = "BEGIN"

// beginRead requests the weakest isolation in which all reads see one snapshot. An
// engine may provide a stricter one, and may require a retry.
const beginRead = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

// reading undoes a stricter isolation that the URL asks for. Each of our reads is one
// statement, which sees one snapshot in any case, or is in a transaction that requests
// one. Stricter isolation adds nothing, but makes reads and writes fail.
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

// durable rejects a server that acknowledges a commit before it is on disk. Measured:
// with synchronous_commit = off, every crash lost acknowledged rows.
func durable(ctx context.Context, db *sql.DB) error {
	var setting string
	err := db.QueryRowContext(ctx, showDurability).Scan(&setting)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == unknownSetting {
		return nil // an engine without this setting
	}
	if err != nil {
		return err
	}
	switch setting {
	case "on", "remote_apply", "remote_write":
		return nil
	}
	return fmt.Errorf("synchronous_commit is %q for this user and database, so an acknowledged write can be lost: "+
		"set it to on (ALTER DATABASE … SET synchronous_commit = on, or ?synchronous_commit=on in the URL)", setting)
}

// scan reads rows through pgx itself, which is almost twice as fast as through
// database/sql.
func scan(ctx context.Context, conn *sql.Conn, text string, targets, args []any, each func() error) error {
	return conn.Raw(func(driver any) error {
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			if err := each(); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// dial detects within half a minute that the other side is gone.
var dial = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
}}).DialContext

// patiently returns connections whose statements are never canceled. Whenever the
// driver gives up waiting for a response, it would send a cancel request on a second
// connection. That does not undo a COMMIT that waits for a synchronous standby:
// PostgreSQL stops waiting, and makes visible what the standby does not have. Servers
// then applied changes that, after the standby had taken over, had never existed, and
// missed those that reused their numbers.
//
// Left alone, such a COMMIT stays invisible until the standby is back, or ends with the
// primary. Other statements end by their own timeout.
func patiently(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return patient{conn}, nil
	}
}

// patient is a connection that hides its remote address, to which the driver would send
// the cancel request.
type patient struct{ net.Conn }

func (patient) RemoteAddr() net.Addr { return nowhere{} }

// nowhere is an address that cannot be dialed.
type nowhere struct{}

func (nowhere) Network() string { return "nowhere" }
func (nowhere) String() string  { return "nowhere" }
