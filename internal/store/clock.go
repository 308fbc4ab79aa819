package store

import (
	"cmp"
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// clockText holds the statements for clocks, as sqlText does for the rest.
var clockText = struct {
	mark, forget, marks string
	begin, raise, set   string
	certain, lastUp     string
	examine             bulk
}{
	mark: `INSERT INTO clock_marks (node, said, marks) VALUES ($1, $2, 1)
		ON CONFLICT (node) DO UPDATE SET said = excluded.said, marks = clock_marks.marks + 1`,
	forget: `DELETE FROM clock_marks WHERE node = $1 AND marks = $2`,
	marks:  `SELECT node, said, marks FROM clock_marks ORDER BY node`,
	begin: `INSERT INTO clock_certain (id, certain, confirmed) VALUES (1, $1, $2)
		ON CONFLICT (id) DO NOTHING`,
	raise: `UPDATE clock_certain SET certain = $1 WHERE id = 1 AND confirmed = $2 AND certain < $1`,
	set: `INSERT INTO clock_certain (id, certain, confirmed) VALUES (1, $1, 1)
		ON CONFLICT (id) DO UPDATE SET certain = excluded.certain, confirmed = clock_certain.confirmed + 1`,
	examine: bulk{`certain`, `FROM clock_certain WHERE id = 1`},
	certain: `SELECT certain, confirmed FROM clock_certain WHERE id = 1`,
	lastUp:  `SELECT coalesce(max(to_minute), 0) FROM service_spans WHERE node <> $1`,
}

// MarkClock records what the clock of this server says. If certain is not zero, it also
// records that this moment has come, unless staff have said since what day it is:
// confirmed is how often they had when certain was found.
func (db *DB) MarkClock(ctx context.Context, said, certain time.Time, confirmed int64) error {
	return db.commit(ctx, "clock "+db.node, func(tx *transaction) (changes, error) {
		err := tx.write(clockText.mark, db.node, micros(said))
		if certain.IsZero() {
			return nil, err
		}
		return nil, cmp.Or(err,
			tx.write(clockText.begin, micros(certain), confirmed),
			tx.write(clockText.raise, micros(certain), confirmed))
	})
}

// ForgetClocks deletes the marks of servers that have ended: those that are still as
// they are given.
func (db *DB) ForgetClocks(ctx context.Context, marks []ledger.ClockMark) error {
	return db.commit(ctx, "clock", func(tx *transaction) (changes, error) {
		for _, m := range marks {
			if err := tx.write(clockText.forget, m.Node, m.Marks); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// ConfirmClock sets the moment that has certainly come, to an earlier or a later one,
// as staff say.
func (db *DB) ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error {
	change := beacon.Change{Kind: beacon.ClockConfirmed, Target: certain.UTC().Format(time.DateOnly), Actor: by, At: at}
	return db.exec(ctx, "clock", changes{&change}, clockText.set, micros(certain))
}

// ClockState returns what the database knows about the time.
func (db *DB) ClockState(ctx context.Context) (s ledger.ClockState, err error) {
	if _, err := db.queryRow(ctx, []any{(*moment)(&s.Certain), &s.Confirmed}, clockText.certain); err != nil {
		return s, err
	}
	var up int64
	if _, err := db.queryRow(ctx, []any{&up}, clockText.lastUp, db.node); err != nil {
		return s, err
	}
	if up > 0 {
		s.Up = time.Unix(up*60, 0).UTC()
	}
	if db.engine.Clock != "" {
		if _, err := db.queryRow(ctx, []any{(*moment)(&s.Database)}, db.engine.Clock); err != nil {
			return s, err
		}
	}
	s.Marks, err = query(ctx, db, func(m *ledger.ClockMark) ([]any, func() error) {
		return []any{&m.Node, (*moment)(&m.Said), &m.Marks}, done
	}, clockText.marks)
	return s, err
}

// Certain returns the latest moment that had certainly come, as of the snapshot.
func (b *books) Certain(ctx context.Context) (certain time.Time, known bool, err error) {
	return first(ctx, b, clockText.examine, func(certain *time.Time) ([]any, func() error) { return []any{(*moment)(certain)}, done })
}
