package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// AppendEvents numbers events and writes them behind those that are there,
// together with the places in the streams of changes up to which they reach:
// all or none. A place never moves back. It answers Conflict when the lease was
// lost. When the outcome is unknown, EventPlaces tells what happened once the
// next write has succeeded.
func (db *DB) AppendEvents(ctx context.Context, l lease.Lease, places map[string]int64, events []beacon.Event) error {
	places, events = maps.Clone(places), slices.Clone(events) // the caller may leave before they are written
	for _, e := range events {
		if err := storableText(string(e.Kind), e.Target, string(e.User)); err != nil {
			return internal("append events", err)
		}
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		for _, node := range slices.Sorted(maps.Keys(places)) {
			if _, err := tx.exec(sqlText.putPlace, node, places[node]); err != nil {
				return err
			}
		}
		return appendEvents(tx, events)
	})
}

// appendEvents is gapless, because nobody else appends while the row of the
// lease is locked; should someone, by another lease, one of the two is told that
// its number is taken, and counts again.
func appendEvents(tx *transaction, events []beacon.Event) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if _, err := tx.row(func(scan func(...any) error) error { return scan(&last) }, sqlText.lastEvent); err != nil {
		return err
	}
	return inChunks(sqlText.insertEvents[:], len(events), func(text string, from, to int) error {
		args := make([]any, 0, 5*(to-from))
		for _, e := range events[from:to] {
			last++
			args = append(args, last, string(e.Kind), e.Target, string(e.User), micros(e.At))
		}
		return tx.append(text, args...)
	})
}

// EventPlaces answers up to which number the changes of each node have become
// events.
func (db *DB) EventPlaces(ctx context.Context) (map[string]int64, error) {
	return db.numbersByNode(ctx, sqlText.eventPlaces)
}

// Events answers up to limit events that come after a number, in their order
// and without a gap, but for what is pruned.
func (db *DB) Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error) {
	return query(ctx, db, func(scan func(...any) error) (e beacon.Event, err error) {
		var at int64
		err = scan(&e.Seq, &e.Kind, &e.Target, &e.User, &at)
		e.At = fromMicros(at)
		return e, err
	}, sqlText.events, after, max(limit, 0))
}

// EventHead answers the numbers of the oldest and of the newest event that is
// kept, 0 and 0 when there never was one.
func (db *DB) EventHead(ctx context.Context) (oldest, newest int64, err error) {
	err = db.queryRow(ctx, func(scan func(...any) error) error { return scan(&oldest, &newest) }, sqlText.eventRange)
	return oldest, newest, err
}

// PruneEvents deletes the oldest events up to the first that is not before a
// time. The newest always stays, for the next is numbered after it. It answers
// Conflict when the lease was lost; some may be deleted by then.
func (db *DB) PruneEvents(ctx context.Context, l lease.Lease, before time.Time) error {
	for more := true; more; {
		err := db.fenced(ctx, l, func(tx *transaction) error {
			end, n, err := oldestBefore(tx, micros(before))
			if more = n == pruneSize; err != nil || n == 0 {
				return err
			}
			_, err = tx.exec(sqlText.deleteEvents, end)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldestBefore finds the end of up to pruneSize old events that another follows.
func oldestBefore(tx *transaction, before int64) (end int64, n int, err error) {
	var last int64 // an old one, of which it is not known yet whether another follows
	open := true
	err = tx.rows(func(scan func(...any) error) error {
		var seq, at int64
		if err := scan(&seq, &at); err != nil {
			return err
		}
		if !open {
			return nil
		}
		if last != 0 {
			end, n = last, n+1
		}
		last, open = seq, at < before
		return nil
	}, sqlText.oldestEvents, pruneSize+1)
	return end, n, err
}
