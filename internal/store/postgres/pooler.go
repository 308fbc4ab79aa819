package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Pooler says whether a pooler such as PgBouncer may lend each transaction another session
// of the database. Statements are not prepared then, and what a session would be told is said
// in each transaction that writes.
type Pooler string

// Whether there is one. Empty is PoolerAuto.
const (
	PoolerAuto Pooler = "auto" // as it turns out
	PoolerOn   Pooler = "on"
	PoolerOff  Pooler = "off"
)

const askBackend = `SELECT pg_backend_pid()`

// pooled reports whether the database is behind a pooler. A pooler gives each client a
// process number that it made up: the one of the session that the database lends may
// differ from one transaction to the next.
func (p Pooler) pooled(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	if p != PoolerAuto && p != "" {
		return p == PoolerOn, nil
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	var backend int64
	err = conn.QueryRow(ctx, askBackend).Scan(&backend)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(e.Code, notUnderstood) {
		return false, nil // another engine, which has no processes
	}
	return backend > 0 && uint32(backend) != conn.PgConn().PID(), err
}

// A pooler that refuses a startup parameter says so, with the SQLSTATE of a violation of the
// protocol.
const (
	protocolViolation    = "08P01"
	unsupportedParameter = "unsupported startup parameter"
)

// explainParameter adds what to do to the error of a pooler that refuses a parameter of the
// URL.
func explainParameter(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == protocolViolation && strings.Contains(e.Error(), unsupportedParameter) {
		return fmt.Errorf("%w: the pooler in front of the database passes on no such setting; take it out of the URL, and set it for the user (ALTER ROLE … SET …)", err)
	}
	return err
}

// withoutLimits returns the configuration of sessions that are told no limits, and whose
// statements are not prepared. It works with and without a pooler.
func withoutLimits(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	for _, name := range timeouts {
		delete(config.RuntimeParams, name)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return config
}

// beginLimited returns a BEGIN that sets the limits for its transaction alone.
func beginLimited(settings map[string]string) string {
	text := begin
	for _, name := range timeouts {
		if value, ok := settings[name]; ok {
			text += "; SET LOCAL " + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'"
		}
	}
	return text
}

// limitsFor returns the settings of sessions for who waits for that long, or the usual ones
// for 0. What the URL says goes first.
func limitsFor(wait time.Duration, url map[string]string) map[string]string {
	all := maps.Clone(limits)
	if wait > 0 {
		for _, name := range timeouts {
			all[name] = strconv.FormatInt(wait.Milliseconds(), 10)
		}
	}
	maps.Copy(all, url)
	return all
}
