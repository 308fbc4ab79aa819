package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/beacon-wifi/beacon/internal/store"
)

// SQLSTATE codes, from appendix A of the PostgreSQL manual.
const (
	uniqueViolation      = "23505"
	readOnlyTransaction  = "25006" // a standby, or a primary that became one
	idleInTransaction    = "25P03" // by idle_in_transaction_session_timeout: this process stood still
	serializationFailure = "40001"
	unknownCompletion    = "40003"
	deadlockDetected     = "40P01"
	unknownSetting       = "42704"
	duplicateObject      = "42710"
	duplicateTable       = "42P07"
	diskFull             = "53100"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014" // by statement_timeout
	internalError        = "XX000"
)

func classify(err error) store.Failure {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return store.Away // whatever the reason: without a connection nothing was sent
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		// Use of a connection that pgx closed itself has no type of its own.
		if pgconn.SafeToRetry(err) || pgconn.Timeout(err) || strings.Contains(err.Error(), "conn closed") {
			return store.Away
		}
		return store.Refused
	}
	switch e.Code {
	case uniqueViolation:
		return store.Duplicate
	case serializationFailure, deadlockDetected:
		return store.Contended
	case diskFull:
		return store.Full
	case lockNotAvailable, queryCanceled:
		return store.Busy
	case readOnlyTransaction, unknownCompletion, idleInTransaction:
		return store.Away // another connection may reach another server, or be in time
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "08", "53", "57", "58": // connection, resources, operator intervention, system
		return store.Away
	}
	return store.Refused
}
