package store

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

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
		own := append([]beacon.Transition{}, some...) // the caller may leave before they are written
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
		args := make([]any, 0, 3*(to-from))
		for _, t := range transitions[from:to] {
			args = append(args, string(t.Hotspot), onlineRow(t.Online), micros(t.At))
		}
		return tx.rows(func(scan func(...any) error) error {
			var hotspot beacon.HotspotID
			err := scan(&hotspot)
			fresh[hotspot] = true
			return err
		}, text, args...)
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

func onlineRow(online bool) int64 {
	if online {
		return 1
	}
	return 0
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
