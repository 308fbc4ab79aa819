package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

const putPlaceSQL = `INSERT INTO event_places (node, seq) VALUES ($1, $2)
		ON CONFLICT (node) DO UPDATE SET seq = excluded.seq WHERE event_places.seq < excluded.seq`

// AppendEvents numbers events and appends them, together with the positions in the
// change streams that they cover: all or nothing. A position never moves back. It
// returns Conflict if the lease was lost. If the outcome is unknown, EventPlaces shows
// what happened once the next write has succeeded.
func (db EventTable) AppendEvents(ctx context.Context, l lease.Lease, places map[string]int64, events []beacon.Event) error {
	places, events = maps.Clone(places), slices.Clone(events) // the caller may leave before they are written
	for _, e := range events {
		if err := storableText(string(e.Kind), e.Target, string(e.User)); err != nil {
			return internal("append events", err)
		}
	}
	return db.fenced(ctx, l, func(tx *transaction) error {
		for _, node := range slices.Sorted(maps.Keys(places)) {
			if err := tx.write(putPlaceSQL, node, places[node]); err != nil {
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
	if _, err := tx.row([]any{&last}, `SELECT coalesce(max(seq), 0) FROM events`); err != nil {
		return err
	}
	numbered := slices.Clone(events)
	for i := range numbered {
		numbered[i].Seq = last + 1 + int64(i)
	}
	return inChunks(len(numbered), func(from, to int) error {
		return tx.append(`INSERT INTO events (`+eventColumns+`) VALUES (…)`, valuesOf(tx, numbered[from:to], eventRow)...)
	})
}

// EventPlaces returns, for each node, the last change that has become an event.
func (db EventTable) EventPlaces(ctx context.Context) (map[string]int64, error) {
	return readMap[string, int64](ctx, db, same, `SELECT node, seq FROM event_places`)
}

const eventsSQL = `SELECT seq, kind, target, CASE WHEN user_id = '' THEN coalesce(operator_id, '') ELSE user_id END, at
		FROM events LEFT JOIN hotspots ON hotspots.id = target WHERE seq > $1 ORDER BY seq LIMIT $2`

// Events returns up to limit events after a number, in order and without gaps except
// for pruned ones. An event about a hotspot belongs to its operator.
func (db EventTable) Events(ctx context.Context, after int64, limit int) ([]beacon.Event, error) {
	return list(ctx, db, eventRow, eventsSQL, after, max(limit, 0))
}

func eventRow(e *beacon.Event) []any {
	return []any{&e.Seq, (*string)(&e.Kind), &e.Target, (*string)(&e.User), moment(&e.At)}
}

// EventHead returns the numbers of the oldest and newest kept event, or 0 and 0 if
// there never was one.
func (db EventTable) EventHead(ctx context.Context) (oldest, newest int64, err error) {
	_, err = readRow(ctx, db, []any{&oldest, &newest}, `SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM events`)
	return oldest, newest, err
}

// PruneEvents deletes the oldest events, up to the first that is not before a time. The
// newest always stays, because the next is numbered after it. It returns Conflict if
// the lease was lost; some may have been deleted before.
func (db EventTable) PruneEvents(ctx context.Context, l lease.Lease, before time.Time) error {
	for more := true; more; {
		err := db.fenced(ctx, l, func(tx *transaction) error {
			end, n, err := oldestBefore(tx, micros(before))
			if more = n == pruneSize; err != nil || n == 0 {
				return err
			}
			return tx.write(`DELETE FROM events WHERE seq <= $1`, end)
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
	oldest, err := list(tx.ctx, tx, func(e *beacon.Event) []any { return []any{&e.Seq, moment(&e.At)} },
		`SELECT seq, at FROM events ORDER BY seq LIMIT $1`, pruneSize+1)
	for _, e := range oldest {
		if last != 0 {
			end, n = last, n+1
		}
		if last = e.Seq; micros(e.At) >= before {
			break
		}
	}
	return end, n, err
}

// announceSize keeps transactions short, because other writes wait for them.
const announceSize = 255

// Announce records that hotspots came online or went offline, and appends an event for
// each hotspot whose last announcement was the opposite, or that had none: repeating an
// announcement, even from another node, creates no second event. It returns Conflict if
// the lease was lost. After any failure, part of it may be written; announcing all of
// it again is safe.
//
// The row of a deleted hotspot stays. It has no effect, because ids are never reused.
func (db EventTable) Announce(ctx context.Context, l lease.Lease, transitions []beacon.Transition) error {
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

const announceSQL = `INSERT INTO statuses (hotspot, online, at) VALUES (…) ON CONFLICT (hotspot) DO UPDATE SET online = excluded.online, at = excluded.at
			WHERE statuses.online <> excluded.online RETURNING hotspot`

// announce writes what is new and returns its events, in the order of the transitions.
func announce(tx *transaction, transitions []beacon.Transition) (events []beacon.Event, err error) {
	fresh := map[beacon.HotspotID]bool{}
	err = inChunks(len(transitions), func(from, to int) error {
		return keysIn(tx, fresh, announceSQL, valuesOf(tx, transitions[from:to], func(t *beacon.Transition) []any {
			return []any{(*string)(&t.Hotspot), flag(&t.Online), moment(&t.At)}
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

const (
	statusPageSQL = `SELECT hotspot FROM statuses WHERE hotspot > $1 ORDER BY hotspot LIMIT 1 OFFSET $2`
	eachStatusSQL = `SELECT hotspot, online FROM statuses WHERE hotspot > $1 AND hotspot <= $2`
)

// EachStatus calls fn with the last announced status of every hotspot, one at a time.
// It stops at the first error of fn.
func (db EventTable) EachStatus(ctx context.Context, fn func(hotspot beacon.HotspotID, online bool) error) error {
	return db.eachPage(ctx, statusPageSQL, 1, func(ctx context.Context, s span) error {
		return scanRows(ctx, db, func(t *beacon.Transition) []any { return []any{(*string)(&t.Hotspot), flag(&t.Online)} },
			func(t *beacon.Transition, _ error) (stopped, failed error) { return fn(t.Hotspot, t.Online), nil }, eachStatusSQL, s.after, s.end)
	})
}
