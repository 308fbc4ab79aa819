package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"golang.org/x/sync/errgroup"
)

// source is where rows are read from: a database, a snapshot of it, or a transaction.
type source interface {
	// scan reads each row of a query into the targets, which are a *string, *int, *int64,
	// *float64 or *[]byte for each column. Stopped is an error of the caller's function; it
	// ends the scan and is returned unchanged.
	scan(ctx context.Context, text string, targets []any, each func() (stopped, failed error), args ...any) error

	// retrying repeats a read that may succeed the next time.
	retrying(ctx context.Context, read func() error) error
}

// list reads all rows of a query.
func list[T any](ctx context.Context, from source, row fields[T], text string, args ...any) (all []T, err error) {
	err = from.retrying(ctx, func() error {
		all = nil
		return scanRows(ctx, from, row, func(one *T, damage error) (stopped, failed error) {
			all = append(all, *one)
			return nil, damage
		}, text, args...)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// first reads the single row of a query, and reports whether there was one.
func first[T any](ctx context.Context, from source, row fields[T], text string, args ...any) (one T, found bool, err error) {
	all, err := list(ctx, from, row, text, args...)
	if err != nil || len(all) == 0 {
		return one, false, err
	}
	return all[0], true, nil
}

// readRow reads the single row of a query into the fields, and reports whether there was
// one.
func readRow(ctx context.Context, from source, into []any, text string, args ...any) (found bool, err error) {
	_, found, err = first(ctx, from, func(*struct{}) []any { return into }, text, args...)
	return found, err
}

// readMap reads rows of a key and a value.
func readMap[K, V any, T comparable](ctx context.Context, from source, to func(K) T, text string, args ...any) (map[T]V, error) {
	type pair struct {
		key   K
		value V
	}
	all, err := list(ctx, from, func(p *pair) []any { return []any{&p.key, &p.value} }, text, args...)
	if err != nil {
		return nil, err
	}
	values := make(map[T]V, len(all))
	for _, p := range all {
		values[to(p.key)] = p.value
	}
	return values, nil
}

// same is for maps whose keys are as they are stored.
func same(key string) string { return key }

// listByID reads the rows of some ids, with a query of idsPerQuery at a time. The
// arguments come before the ids.
func listByID[T any, ID ~string](ctx context.Context, from source, row fields[T], text string, ids []ID, args ...any) (all []T, err error) {
	for some := range slices.Chunk(ids, idsPerQuery) {
		found, err := list(ctx, from, row, text, listArgs(some, slices.Clone(args)...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// idsPerQuery is how many ids a query with a list of them asks for at once. The list is
// padded with its last id, so that one prepared statement serves any number.
const idsPerQuery = 100

func listArgs[ID ~string](ids []ID, before ...any) []any {
	for i := range idsPerQuery {
		before = append(before, string(ids[min(i, len(ids)-1)]))
	}
	return before
}

// scanRows calls fn with every row of a query, and what is wrong with it.
func scanRows[T any](
	ctx context.Context, from source, row fields[T], fn func(one *T, damage error) (stopped, failed error), text string, args ...any,
) error {
	var one T
	targets, finish := bind(row(&one))
	return from.scan(ctx, text, targets, func() (stopped, failed error) { return fn(&one, finish()) }, args...)
}

// scan is not repeated if it fails: it may have called each.
func (db *core) scan(ctx context.Context, text string, targets []any, each func() (stopped, failed error), args ...any) error {
	conn, err := db.engine.Read.Conn(ctx)
	if err != nil {
		return db.readFailed(err)
	}
	defer conn.Close()
	stopped, failed := db.engine.scan(ctx, conn, text, targets, each, args)
	if failed != nil {
		return db.readFailed(failed)
	}
	return stopped
}

// scan is Scan into the targets. Failed is why the rows cannot be read.
func (e *Engine) scan(
	ctx context.Context, conn *sql.Conn, text string, targets []any, each func() (stopped, failed error), args []any,
) (stopped, failed error) {
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			args[i] = int64(n)
		}
	}
	failed = e.Scan(ctx, conn, fill(text, len(args)), targets, args, func() (failed error) {
		stopped, failed = each()
		return cmp.Or(failed, stopped)
	})
	if stopped != nil {
		return stopped, nil
	}
	return nil, failed
}

// retrying repeats a read that lost against a write, which happens to reads too where
// everything is serializable. It also repeats a read whose connection turned out to be
// dead, once for each connection that the pool may hold.
func (db *core) retrying(ctx context.Context, read func() error) (err error) {
	for try := range maxTries {
		if err = read(); err == nil || !db.worthRepeating(err, try) || !pause(ctx, try) {
			return err
		}
	}
	return err
}

func (db *core) worthRepeating(err error, try int) bool {
	switch db.engine.classify(err) {
	case Contended:
		return true
	case Away:
		return try < db.engine.Read.Stats().MaxOpenConnections
	default:
		return false
	}
}

func (db *core) readFailed(err error) error {
	if _, ours := errors.AsType[*beacon.Error](err); ours {
		return err
	}
	switch db.engine.classify(err) {
	case Contended, Busy, Away:
		return beacon.Unavailable(err)
	default:
		return internal("read", err)
	}
}

const (
	pageSize = 2_000 // rows of a page: far below what fits into a statement's time limit
	scanners = 2
)

// span is a page: the keys after one key, up to and including another.
type span struct{ after, end string }

// lastKey sorts after every key: keys are sorted by their bytes.
const lastKey = "\U0010FFFF"

var eachHotspotSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id > $1 AND id <= $2 AND (deleted_at = 0 OR deleted_at >= $3)`

// EachHotspot calls fn with every live hotspot, and with those deleted since a time
// (none for the zero time), in no particular order. It calls fn from several goroutines
// at once. It stops at the first error of fn.
//
// It is not a snapshot: hotspots that change meanwhile are read before or after their
// change. Read Heads first and follow Changes afterwards (see Heads).
func (db HotspotTable) EachHotspot(ctx context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error {
	since := int64(math.MaxInt64)
	if !deletedSince.IsZero() {
		since = micros(deletedSince)
	}
	const pages = `SELECT id FROM hotspots WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2`
	return db.eachPage(ctx, pages, scanners, func(ctx context.Context, s span) error {
		return scanRows(ctx, db, hotspotRow, func(h *beacon.Hotspot, damage error) (stopped, failed error) {
			if damage != nil {
				return nil, damage
			}
			return fn(*h), nil
		}, eachHotspotSQL, s.after, s.end, since)
	})
}

// eachPage reads a table in pages by key, several at a time. Text is the query for the
// end of a page.
func (db *core) eachPage(ctx context.Context, text string, scanners int, read func(context.Context, span) error) error {
	tasks, ctx := errgroup.WithContext(ctx)
	spans := make(chan span)
	tasks.Go(func() error {
		defer close(spans)
		return db.cut(ctx, text, spans)
	})
	for range scanners {
		tasks.Go(func() error {
			for s := range spans {
				if err := read(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return tasks.Wait()
}

// cut walks the primary key and sends the pages.
func (db *core) cut(ctx context.Context, text string, spans chan<- span) error {
	for next := (span{}); next.end != lastKey; {
		next = span{after: next.end}
		more, err := readRow(ctx, db, []any{&next.end}, text, next.after, pageSize-1)
		if err != nil {
			return err
		}
		if !more {
			next.end = lastKey
		}
		select {
		case spans <- next:
		case <-ctx.Done():
			return db.readFailed(context.Cause(ctx))
		}
	}
	return nil
}

// enoughRows is after how many rows scanAmong knows whether most of them are wanted.
const enoughRows = 16

var errFew = errors.New("few of these rows are wanted")

// scanAmong calls each for the rows of some hotspots, by scanning from the first id to the
// last. While few others lie in between, that takes less than half as long as looking up
// each (2.1 µs of CPU a record against 5.3). When many do, it is slower, so it stops and
// returns the ids still to be looked up. It does the same on an error: the lookup retries.
// Each may be called for rows of these ids too. The arguments come before those of the
// range and its limit.
func scanAmong[T any](
	ctx context.Context, db *core, row fields[T], of func(*T) beacon.HotspotID, ids []beacon.HotspotID, each func(*T), text string, args ...any,
) (rest []beacon.HotspotID) {
	if len(ids) == 0 {
		return nil
	}
	rest = slices.Sorted(slices.Values(ids))
	limit := 2*len(ids) + enoughRows
	read, wanted := 0, 0
	err := scanRows(ctx, db, row, func(one *T, damage error) (stopped, failed error) {
		read++
		for len(rest) > 0 && rest[0] < of(one) {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] == of(one) {
			wanted++
			if damage == nil {
				each(one)
			}
			return nil, damage
		}
		if read >= enoughRows && read > 2*wanted {
			return errFew, nil
		}
		return nil, nil
	}, text, append(args, string(rest[0]), string(rest[len(rest)-1]), int64(limit))...)
	if err == nil && read < limit {
		return nil // the whole range was read
	}
	return rest
}

// queryer is a connection, or a pool of them.
type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// ReadRows reads all rows of a query of an engine's own, each into the targets in a T.
func ReadRows[T any](ctx context.Context, on queryer, targets func(*T) []any, text string) (all []T, err error) {
	rows, err := on.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := rows.Scan(targets(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// rowError says which row is damaged.
type rowError struct {
	row string
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("%s: %v", e.row, e.err) }
func (e *rowError) Unwrap() error { return e.err }
