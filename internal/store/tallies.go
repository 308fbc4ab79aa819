package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// tallyKey names a tally: what a user did on a day.
type tallyKey struct {
	day  beacon.Day
	user beacon.UserID
}

const tallySQL = `SELECT coalesce((SELECT changes FROM tallies WHERE day = $1 AND user_id = $2), 0),
		coalesce((SELECT macs FROM tallies WHERE day = $1 AND user_id = $2), 0),
		coalesce((SELECT hotspots FROM quotas WHERE user_id = $2), 0)`

// mayDo returns an error for an actor who is counted and may do no more on this day. One
// process counts exactly; two that write at the same time may together exceed what a user
// may do by what they have under way.
func (tx *transaction) mayDo(by beacon.Actor, more beacon.Tally) error {
	if by.CountedAt.IsZero() {
		return nil
	}
	key := tallyKey{beacon.DayOf(by.CountedAt), cmp.Or(by.User, beacon.UserID(by.Person))}
	var did beacon.Tally
	var quota int
	if _, err := tx.row([]any{&did.Changes, &did.MACs, &quota}, tallySQL, int64(key.day), string(key.user)); err != nil {
		return err
	}
	return did.Plus(tx.tallies[key]).Allows(more, quota, by.CountedAt)
}

// did counts what an actor did, if the actor is counted.
func (tx *transaction) did(by beacon.Actor, more beacon.Tally) {
	if by.CountedAt.IsZero() {
		return
	}
	if tx.tallies == nil {
		tx.tallies = map[tallyKey]beacon.Tally{}
	}
	key := tallyKey{beacon.DayOf(by.CountedAt), cmp.Or(by.User, beacon.UserID(by.Person))}
	tx.tallies[key] = tx.tallies[key].Plus(more)
}

// counted returns run with the changes counted that it makes, and refused if its actor
// may make no more.
func counted(by beacon.Actor, run func(*transaction) (changes, error)) func(*transaction) (changes, error) {
	if by.CountedAt.IsZero() {
		return run
	}
	return func(tx *transaction) (changes, error) {
		if err := tx.mayDo(by, beacon.Tally{Changes: 1}); err != nil {
			return nil, err
		}
		made, err := run(tx)
		if err == nil {
			tx.did(by, beacon.Tally{Changes: len(made)})
		}
		return made, err
	}
}

const addTallySQL = `INSERT INTO tallies (day, user_id, changes, macs) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day, user_id) DO UPDATE SET changes = tallies.changes + excluded.changes, macs = tallies.macs + excluded.macs`

// writeTallies writes what a group counted, at its end and in order: two nodes lock these
// rows after all others, and do not deadlock.
func writeTallies(tx *transaction) error {
	keys := slices.SortedFunc(maps.Keys(tx.tallies), func(a, b tallyKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.user, b.user))
	})
	for _, key := range keys {
		more := tx.tallies[key]
		if err := tx.write(addTallySQL, int64(key.day), string(key.user), more.Changes, more.MACs); err != nil {
			return err
		}
	}
	return nil
}

const pruneTalliesSQL = `DELETE FROM tallies WHERE (day, user_id) IN
		(SELECT day, user_id FROM tallies WHERE day < $1 ORDER BY day, user_id LIMIT $2)`

// PruneTallies deletes what users did before the day of now.
func (db UserTable) PruneTallies(ctx context.Context, now time.Time) error {
	_, err := db.prune(ctx, "tallies", pruneTalliesSQL, int64(beacon.DayOf(now)))
	return err
}
