package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"golang.org/x/sync/errgroup"
)

const (
	pageSize = 2_000 // rows of a page: far below what fits into a statement's time limit
	scanners = 2
)

// span is a page: the keys after one key, up to and including another.
type span struct{ after, end string }

// lastKey sorts after every key: keys are sorted by their bytes.
const lastKey = "\U0010FFFF"

// EachHotspot calls fn with every live hotspot, and with those deleted since a time
// (none for the zero time), in no particular order. It calls fn from several goroutines
// at once. It stops at the first error of fn.
//
// It is not a snapshot: hotspots that change meanwhile are read before or after their
// change. Read Heads first and follow Changes afterwards (see Heads).
func (db *DB) EachHotspot(ctx context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error {
	since := int64(math.MaxInt64)
	if !deletedSince.IsZero() {
		since = micros(deletedSince)
	}
	return db.eachPage(ctx, sqlText.hotspotPage, scanners, func(ctx context.Context, s span) error {
		var row hotspotRow // reused: each row overwrites all of it
		return db.scan(ctx, sqlText.eachHotspot, row.targets(), func() (stopped, failed error) {
			h, err := row.named()
			if err != nil {
				return nil, err
			}
			return fn(h), nil
		}, s.after, s.end, since)
	})
}

// eachPage reads a table in pages by key, several at a time. Text is the query for the
// end of a page.
func (db *DB) eachPage(ctx context.Context, text string, scanners int, read func(context.Context, span) error) error {
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
func (db *DB) cut(ctx context.Context, text string, spans chan<- span) error {
	for next := (span{}); next.end != lastKey; {
		next = span{after: next.end}
		more, err := db.queryRow(ctx, []any{&next.end}, text, next.after, pageSize-1)
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

// scan reads many rows, each into the targets. Stopped is an error of the caller's
// function; it ends the scan and is returned unchanged.
func (db *DB) scan(ctx context.Context, rows bulk, targets []any, each func() (stopped, failed error), args ...any) error {
	conn, err := db.engine.Read.Conn(ctx)
	if err != nil {
		return db.readFailed(err)
	}
	defer conn.Close()
	stopped, failed := db.engine.scan(ctx, conn, rows, targets, each, args)
	if failed != nil {
		return db.readFailed(failed)
	}
	return stopped
}

// scan is Scan into the targets. Failed is why the rows cannot be read.
func (e *Engine) scan(
	ctx context.Context, conn *sql.Conn, rows bulk, targets []any, each func() (stopped, failed error), args []any,
) (stopped, failed error) {
	failed = e.Scan(ctx, conn, rows.typed(), rows.from, args, func(scan func(...any) error) (failed error) {
		if err := scan(targets...); err != nil {
			return err
		}
		stopped, failed = each()
		return cmp.Or(failed, stopped)
	})
	if stopped != nil {
		return stopped, nil
	}
	return nil, failed
}

// enoughRows is after how many rows scanAmong knows whether most of them are wanted.
const enoughRows = 16

var errFew = errors.New("few of these rows are wanted")

// scanAmong calls each for the rows of some hotspots, by scanning from the first id to the
// last. While few others lie in between, that takes less than half as long as looking up
// each (2.1 µs of CPU a record against 5.3). When many do, it is slower, so it stops and
// returns the ids still to be looked up. It does the same on an error: the lookup retries.
// Each may be called for rows of these ids too. The arguments come before those of the
// range and its limit; hotspot is one of the targets.
func (db *DB) scanAmong(
	ctx context.Context, rows bulk, targets []any, hotspot *beacon.HotspotID, ids []beacon.HotspotID, each func() error, args ...any,
) (rest []beacon.HotspotID) {
	if len(ids) == 0 {
		return nil
	}
	rest = slices.Sorted(slices.Values(ids))
	limit := 2*len(ids) + enoughRows
	read, wanted := 0, 0
	err := db.scan(ctx, rows, targets, func() (stopped, failed error) {
		read++
		for len(rest) > 0 && rest[0] < *hotspot {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] == *hotspot {
			wanted++
			return nil, each()
		}
		if read >= enoughRows && read > 2*wanted {
			return errFew, nil
		}
		return nil, nil
	}, append(args, string(rest[0]), string(rest[len(rest)-1]), int64(limit))...)
	if err == nil && read < limit {
		return nil // the whole range was read
	}
	return rest
}

// scanner reads many rows: a DB outside of any transaction, books inside of one.
type scanner interface {
	scan(ctx context.Context, rows bulk, targets []any, each func() (stopped, failed error), args ...any) error
}

// list reads all rows of a query.
func list[T any](ctx context.Context, from scanner, rows bulk, row rowReader[T], args ...any) ([]T, error) {
	var all []T
	var one T
	targets, finish := row(&one)
	err := from.scan(ctx, rows, targets, func() (stopped, failed error) {
		failed = finish()
		all = append(all, one)
		return nil, failed
	}, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// first reads the single row of a query, and reports whether there was one.
func first[T any](ctx context.Context, from scanner, rows bulk, row rowReader[T], args ...any) (one T, any bool, err error) {
	all, err := list(ctx, from, rows, row, args...)
	if err != nil || len(all) == 0 {
		return one, false, err
	}
	return all[0], true, nil
}

// firstRetrying is first for a DB, with retries.
func firstRetrying[T any](ctx context.Context, db *DB, rows bulk, row rowReader[T], args ...any) (one T, any bool, err error) {
	err = db.retrying(ctx, func() (err error) {
		one, any, err = first(ctx, db, rows, row, args...)
		return err
	})
	return one, any, err
}

// appendByID appends the rows of some ids, with a query of idsPerQuery at a time.
func appendByID[T any](ctx context.Context, db *DB, all []T, rows bulk, row rowReader[T], ids []beacon.HotspotID) ([]T, error) {
	for some := range slices.Chunk(ids, idsPerQuery) {
		found, err := listRetrying(ctx, db, rows, row, listArgs(some, idsPerQuery)...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// listRetrying is list for a DB, with retries.
func listRetrying[T any](ctx context.Context, db *DB, rows bulk, row rowReader[T], args ...any) (all []T, err error) {
	err = db.retrying(ctx, func() (err error) {
		all, err = list(ctx, db, rows, row, args...)
		return err
	})
	return all, err
}
