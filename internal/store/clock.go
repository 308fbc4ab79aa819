package store

import (
	"cmp"
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

const markClockSQL = `INSERT INTO clock_marks (node, said, marks) VALUES ($1, $2, 1)
		ON CONFLICT (node) DO UPDATE SET said = excluded.said, marks = clock_marks.marks + 1`

const beginCertainSQL = `INSERT INTO clock_certain (id, certain, confirmed) VALUES (1, $1, $2)
		ON CONFLICT (id) DO NOTHING`
const raiseCertainSQL = `UPDATE clock_certain SET certain = $1 WHERE id = 1 AND confirmed = $2 AND certain < $1`

// MarkClock records what the clock of this server says. If certain is not zero, it also
// records that this moment is past, unless staff have said since what day it is:
// confirmed is how often they had when certain was found.
func (db ClockTable) MarkClock(ctx context.Context, said, certain time.Time, confirmed int64) error {
	return db.commit(ctx, "clock "+db.node, func(tx *transaction) (changes, error) {
		err := tx.write(markClockSQL, db.node, micros(said))
		if certain.IsZero() {
			return nil, err
		}
		return nil, cmp.Or(err,
			tx.write(beginCertainSQL, micros(certain), confirmed),
			tx.write(raiseCertainSQL, micros(certain), confirmed))
	})
}

// ForgetClocks deletes the marks of servers that have ended: those that are still as
// they are given.
func (db ClockTable) ForgetClocks(ctx context.Context, marks []clock.Mark) error {
	return db.commit(ctx, "clock", func(tx *transaction) (changes, error) {
		for _, m := range marks {
			if err := tx.write(`DELETE FROM clock_marks WHERE node = $1 AND marks = $2`, m.Node, m.Marks); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

const setCertainSQL = `INSERT INTO clock_certain (id, certain, confirmed) VALUES (1, $1, 1)
		ON CONFLICT (id) DO UPDATE SET certain = excluded.certain, confirmed = clock_certain.confirmed + 1`

// ConfirmClock sets the moment that has certainly come, to an earlier or a later one,
// as staff say.
func (db ClockTable) ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error {
	change := beacon.Change{Kind: beacon.ClockConfirmed, Target: certain.UTC().Format(time.DateOnly), Actor: by, At: at}
	return db.exec(ctx, "clock", changes{&change}, setCertainSQL, micros(certain))
}

// ClockState returns what the database knows about the time.
func (db ClockTable) ClockState(ctx context.Context) (s clock.State, err error) {
	if _, err := readRow(ctx, db, []any{moment(&s.Certain), &s.Confirmed}, `SELECT certain, confirmed FROM clock_certain WHERE id = 1`); err != nil {
		return s, err
	}
	var up int64
	if _, err := readRow(ctx, db, []any{&up}, `SELECT coalesce(max(to_minute), 0) FROM service_spans WHERE node <> $1`, db.node); err != nil {
		return s, err
	}
	if up > 0 {
		s.Up = time.Unix(up*60, 0).UTC()
	}
	if db.engine.Clock != "" {
		if _, err := readRow(ctx, db, []any{moment(&s.Database)}, db.engine.Clock); err != nil {
			return s, err
		}
	}
	s.Marks, err = list(ctx, db, func(m *clock.Mark) []any {
		return []any{&m.Node, moment(&m.Said), &m.Marks}
	}, `SELECT node, said, marks FROM clock_marks ORDER BY node`)
	return s, err
}

// Certain returns the latest moment that had certainly come, as of the snapshot.
func (b *books) Certain(ctx context.Context) (certain time.Time, known bool, err error) {
	return first(ctx, b, func(certain *time.Time) []any { return []any{moment(certain)} }, `SELECT certain FROM clock_certain WHERE id = 1`)
}
