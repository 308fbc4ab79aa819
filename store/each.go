package store

import (
	"context"
	"database/sql"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/beacon"
)

const (
	pageSize = 2_000 // rows of a page: far below what a statement may take in time
	scanners = 2
)

// span is the half-open range of ids that one page holds; an empty end is open.
type span struct{ after, end string }

// EachHotspot calls fn with every live hotspot, in no particular order and
// from more than one goroutine at a time: fn must be safe for that. It ends
// with the first error of fn.
//
// It is no snapshot: hotspots that change meanwhile are met before or after
// their change. Read Heads first and follow them after (see there).
func (db *DB) EachHotspot(ctx context.Context, fn func(beacon.Hotspot) error) error {
	tasks, ctx := errgroup.WithContext(ctx)
	spans := make(chan span)
	tasks.Go(func() error {
		defer close(spans)
		return db.cut(ctx, spans)
	})
	for range scanners {
		tasks.Go(func() error {
			for s := range spans {
				if err := db.eachIn(ctx, s, fn); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return tasks.Wait()
}

// cut walks the primary key and hands out pages.
func (db *DB) cut(ctx context.Context, spans chan<- span) error {
	for next := (span{}); ; next = (span{after: next.end}) {
		err := db.queryRow(ctx, func(scan func(...any) error) error { return scan(&next.end) },
			sqlText.pageEnd, next.after, pageSize-1)
		last := errors.Is(err, sql.ErrNoRows)
		if err != nil && !last {
			return err
		}
		select {
		case spans <- next:
		case <-ctx.Done():
			return db.readFailed(context.Cause(ctx))
		}
		if last {
			return nil
		}
	}
}

func (db *DB) eachIn(ctx context.Context, s span, fn func(beacon.Hotspot) error) error {
	tail, args := sqlText.page, []any{s.after, s.end}
	if s.end == "" {
		tail, args = sqlText.lastPage, args[:1]
	}
	var row hotspotRow // one for all: each row fills all of it
	targets := row.targets()
	var stopped error
	err := db.engine.Scan(ctx, bulkColumns(), tail, args, func(scan func(...any) error) error {
		if err := scan(targets...); err != nil {
			return err
		}
		h, err := row.hotspot()
		if err != nil {
			return err
		}
		stopped = fn(h)
		return stopped
	})
	if err != nil && stopped == nil {
		return db.readFailed(err)
	}
	return stopped
}
