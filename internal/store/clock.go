package store

import (
	"context"
	"database/sql"
	"errors"
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
	op := &operation{order: "clock " + db.node}
	op.run = func(tx *transaction) (changes, error) {
		_, err := tx.exec(clockText.mark, db.node, micros(said))
		if err != nil || certain.IsZero() {
			return nil, err
		}
		if _, err := tx.exec(clockText.begin, micros(certain), confirmed); err != nil {
			return nil, err
		}
		_, err = tx.exec(clockText.raise, micros(certain), confirmed)
		return nil, err
	}
	return db.committer.do(ctx, op)
}

// ForgetClocks deletes the marks of servers that have ended: those that are still as
// they are given.
func (db *DB) ForgetClocks(ctx context.Context, marks []ledger.ClockMark) error {
	op := &operation{order: "clock"}
	op.run = func(tx *transaction) (changes, error) {
		for _, m := range marks {
			if _, err := tx.exec(clockText.forget, m.Node, m.Marks); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return db.committer.do(ctx, op)
}

// ConfirmClock sets the moment that has certainly come, to an earlier or a later one,
// as staff say.
func (db *DB) ConfirmClock(ctx context.Context, certain time.Time, by beacon.Actor, at time.Time) error {
	change := beacon.Change{Kind: beacon.ClockConfirmed, Target: certain.UTC().Format(time.DateOnly), Actor: by, At: at}
	op := &operation{order: "clock"}
	op.run = func(tx *transaction) (changes, error) {
		_, err := tx.exec(clockText.set, micros(certain))
		return changes{&change}, err
	}
	return db.committer.do(ctx, op)
}

// ClockState returns what the database knows about the time.
func (db *DB) ClockState(ctx context.Context) (s ledger.ClockState, err error) {
	var certain, up int64
	err = db.queryRow(ctx, func(scan func(...any) error) error { return scan(&certain, &s.Confirmed) }, clockText.certain)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	s.Certain = fromMicros(certain)
	if err := db.queryRow(ctx, func(scan func(...any) error) error { return scan(&up) }, clockText.lastUp, db.node); err != nil {
		return s, err
	}
	if up > 0 {
		s.Up = time.Unix(up*60, 0).UTC()
	}
	if db.engine.Clock != "" {
		var now int64
		if err := db.queryRow(ctx, func(scan func(...any) error) error { return scan(&now) }, db.engine.Clock); err != nil {
			return s, err
		}
		s.Database = fromMicros(now)
	}
	s.Marks, err = query(ctx, db, func(scan func(...any) error) (m ledger.ClockMark, err error) {
		var said int64
		err = scan(&m.Node, &said, &m.Marks)
		m.Said = fromMicros(said)
		return m, err
	}, clockText.marks)
	return s, err
}

// Certain returns the moment that has certainly come by then.
func (b *books) Certain(ctx context.Context) (certain time.Time, known bool, err error) {
	n, known, err := first(ctx, b, clockText.examine, numberRow)
	return fromMicros(n), known, err
}
