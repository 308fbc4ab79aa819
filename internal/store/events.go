package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// AppendEvents numbers events and appends them, together with the positions in the
// change streams that they cover: all or nothing. A position never moves back. It
// returns Conflict if the lease was lost. If the outcome is unknown, EventPlaces shows
// what happened once the next write has succeeded.
func (db *DB) AppendEvents(ctx context.Context, l lease.Lease, places map[string]int64, events []beacon.Event) error {
	places, events = maps.Clone(places), slices.Clone(events) // the caller may leave before they are written
	for _, e := range events {
		if err := storableText(string(e.Kind), e.Target, string(e.User)); err != nil {
			return internal("append events", err)
		}
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		for _, node := range slices.Sorted(maps.Keys(places)) {
			if err := tx.write(sqlText.putPlace, node, places[node]); err != nil {
				return err
			}
		}
		return appendEvents(tx, events)
	})
}

// appendEvents leaves no gaps, because nobody else appends while the lease row is
// locked. If a holder of another lease does, one of the two finds its number taken and
// numbers again.
func appendEvents(tx *transaction, events []beacon.Event) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if _, err := tx.row([]any{&last}, sqlText.lastEvent); err != nil {
		return err
	}
	return inChunks(sqlText.insertEvents[:], len(events), func(text string, from, to int) error {
		return tx.append(text, valuesOf(events[from:to], func(values []any, e *beacon.Event) []any {
			last++
			return append(values, last, string(e.Kind), e.Target, string(e.User), micros(e.At))
		})...)
	})
}

// EventPlaces returns, for each node, the last change that has become an event.
func (db *DB) EventPlaces(ctx context.Context) (map[string]int64, error) {
	return queryMap[string, int64](ctx, db, sqlText.eventPlaces)
}

// Events returns up to limit events after a number, in order and without gaps except
// for pruned ones. An event about a hotspot belongs to its operator.
func (db *DB) Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error) {
	return query(ctx, db, eventRow, sqlText.events, after, max(limit, 0))
}

func eventRow(e *beacon.Event) ([]any, func() error) {
	return []any{&e.Seq, (*string)(&e.Kind), &e.Target, (*string)(&e.User), (*moment)(&e.At)}, done
}

// EventHead returns the numbers of the oldest and newest kept event, or 0 and 0 if
// there never was one.
func (db *DB) EventHead(ctx context.Context) (oldest, newest int64, err error) {
	_, err = db.queryRow(ctx, []any{&oldest, &newest}, sqlText.eventRange)
	return oldest, newest, err
}

// PruneEvents deletes the oldest events, up to the first that is not before a time. The
// newest always stays, because the next is numbered after it. It returns Conflict if
// the lease was lost; some may be deleted by then.
func (db *DB) PruneEvents(ctx context.Context, l lease.Lease, before time.Time) error {
	for more := true; more; {
		err := db.fenced(ctx, l, func(tx *transaction) error {
			end, n, err := oldestBefore(tx, micros(before))
			if more = n == pruneSize; err != nil || n == 0 {
				return err
			}
			return tx.write(sqlText.deleteEvents, end)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldestBefore returns the end of up to pruneSize old events that are followed by
// another.
func oldestBefore(tx *transaction, before int64) (end int64, n int, err error) {
	var last int64 // an old event that may be the newest of all
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

// announceSize keeps transactions short, because other writes wait for them.
const announceSize = 1<<eventChunks - 1

// Announce records that hotspots came online or went offline, and appends an event for
// each hotspot whose last announcement was the opposite, or that had none: repeating an
// announcement, even from another node, creates no second event. It returns Conflict if
// the lease was lost. After any failure, part of it may be written; announcing all of
// it again is safe.
//
// The row of a deleted hotspot stays. It has no effect, because ids are never reused.
func (db *DB) Announce(ctx context.Context, l lease.Lease, transitions []beacon.Transition) error {
	for len(transitions) > 0 {
		some := distinct(transitions)
		transitions = transitions[len(some):]
		own := slices.Clone(some) // the caller may leave before they are written
		err := db.fenced(ctx, l, func(tx *transaction) error {
			fresh, err := announce(tx, own)
			if err != nil {
				return err
			}
			return appendEvents(tx, fresh)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// distinct returns the prefix that one statement can write: no hotspot occurs twice.
func distinct(transitions []beacon.Transition) []beacon.Transition {
	seen := make(map[beacon.HotspotID]bool, min(len(transitions), announceSize))
	for i, t := range transitions {
		if seen[t.Hotspot] || i == announceSize {
			return transitions[:i]
		}
		seen[t.Hotspot] = true
	}
	return transitions
}

// announce writes what is new and returns its events, in the order of the transitions.
func announce(tx *transaction, transitions []beacon.Transition) (events []beacon.Event, err error) {
	fresh := map[beacon.HotspotID]bool{}
	err = inChunks(sqlText.announce[:], len(transitions), func(text string, from, to int) error {
		return tx.rows(into(fresh), text, valuesOf(transitions[from:to], func(values []any, t *beacon.Transition) []any {
			return append(values, string(t.Hotspot), bit(t.Online), micros(t.At))
		})...)
	})
	for _, t := range transitions {
		if !fresh[t.Hotspot] {
			continue
		}
		kind := beacon.HotspotOffline
		if t.Online {
			kind = beacon.HotspotOnline
		}
		events = append(events, beacon.Event{Kind: kind, Target: string(t.Hotspot), User: t.User, At: t.At})
	}
	return events, err
}

// EachStatus calls fn with the last announced status of every hotspot, one at a time.
// It stops at the first error of fn.
func (db *DB) EachStatus(ctx context.Context, fn func(hotspot beacon.HotspotID, online bool) error) error {
	return db.eachPage(ctx, sqlText.statusPage, 1, func(ctx context.Context, s span) error {
		var hotspot string
		var online int64
		return db.scan(ctx, sqlText.eachStatus, []any{&hotspot, &online}, func() (stopped, failed error) {
			return fn(beacon.HotspotID(hotspot), online != 0), nil
		}, s.after, s.end)
	})
}
