package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Moving are the settings of Move. The zero value of each is usable, except for Now.
type Moving struct {
	Now time.Time

	// Batch is how many rows are committed at once; default 8192.
	Batch int

	// Progress is called with how many rows are copied, committed or not, and then again
	// with how many are compared; may be nil.
	Progress func(what string, done, of int64)
}

// Moved is what Move has copied and compared.
type Moved struct {
	Tables int
	Rows   int64
	Digest string // of all rows, which is the same in every engine
}

const (
	// halfMoved is the version of the row that marks a database which Move has begun to
	// write. Programs older than Move refuse it too: it is newer than what they know.
	halfMoved     = 1_000_000
	halfMovedName = "half moved"

	batchRows  = 8192
	batchBytes = 8 << 20
)

// ErrHalfMoved is the error for a database that Move has begun to write.
var ErrHalfMoved = errors.New("this database is a half moved copy of another one: run the same beacon move again to complete it, or drop it")

var (
	errNotEmpty = errors.New("the database to move to is not empty: move to a new one")
	errOther    = errors.New("the database to move to is a half moved copy of another database, or of this one before somebody used it again: " +
		"drop it, and move to a new one")
)

// unmarked returns the versions without the mark of Move.
func unmarked(applied []Migration) []Migration {
	if n := len(applied); n > 0 && applied[n-1].Version == halfMoved {
		return applied[:n-1]
	}
	return applied
}

// Move copies all rows of a database, which nobody uses, into another one, which was opened
// ToReceive, and compares them all. The target must be empty, or what Move has left there
// when it was interrupted: it then continues. Until all rows agree, no program opens the
// target for anything else.
func Move(ctx context.Context, from *Examination, to *DB, opts Moving) (done Moved, err error) {
	steps, err := Migrations()
	if err != nil {
		return done, err
	}
	tables, err := tablesOf(steps)
	if err != nil {
		return done, err
	}
	m := &mover{Moving: opts, tables: tables, from: from.db, to: to.core}
	m.Batch = cmp.Or(m.Batch, batchRows)
	if m.session, err = openSession(ctx, to.engine); err != nil {
		return done, err
	}
	defer m.session.close() // before the readers: see Engine.close
	err = m.from.snapshot(ctx, func(b *books) error {
		if m.source, m.rows, err = m.state(ctx, b.conn); err != nil {
			return fmt.Errorf("the source: %w", err)
		}
		if err := m.begin(ctx); err != nil {
			return err
		}
		return m.copyAll(ctx, b.conn)
	})
	if err != nil {
		return done, err
	}
	return m.complete(ctx)
}

// mover is one run of Move.
type mover struct {
	Moving
	tables   []movedTable
	from, to *core
	session  *session // that writes to the target

	source string // the state of the source
	rows   int64  // of it
	done   int64
}

func (m *mover) tell(what string, more int) {
	m.done += int64(more)
	if m.Progress != nil {
		m.Progress(what, m.done, m.rows)
	}
}

// states are the tables that change whenever a server or a command uses a database.
var states = map[string]bool{"nodes": true, "service_spans": true, "clock_marks": true, "leases": true}

// state returns a digest by which the source is recognized when a move continues, and its
// number of rows. The digest is another one after the source was used.
func (m *mover) state(ctx context.Context, on *sql.Conn) (state string, rows int64, err error) {
	sum := sha256.New()
	for i := range m.tables {
		t := &m.tables[i]
		n, err := t.count(ctx, on)
		if err != nil {
			return "", 0, err
		}
		rows += n
		fmt.Fprintln(sum, t.name, n)
		if !states[t.name] {
			continue
		}
		if _, err := t.digest(ctx, on, sum, nil); err != nil {
			return "", 0, err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), rows, nil
}

// begin marks an empty target, or makes sure that it has the mark of this source.
func (m *mover) begin(ctx context.Context) error {
	return m.transaction(ctx, func() error {
		applied, err := appliedVersions(ctx, m.session.conn)
		if err != nil {
			return err
		}
		if len(unmarked(applied)) < len(applied) {
			if applied[len(applied)-1].Checksum != m.source {
				return errOther
			}
			return nil
		}
		for i := range m.tables {
			if key, err := m.tables[i].lastKey(ctx, m.session.conn); err != nil || key != nil {
				return cmp.Or(err, errNotEmpty)
			}
		}
		_, err = m.session.exec(ctx, insertVersionSQL, int64(halfMoved), halfMovedName, m.source, micros(m.Now))
		return err
	})
}

// transaction runs fn in a transaction of the target.
func (m *mover) transaction(ctx context.Context, fn func() error) error {
	if _, err := m.session.conn.ExecContext(ctx, m.to.engine.Begin); err != nil {
		return err
	}
	if err := fn(); err != nil {
		endSnapshot(ctx, m.session.conn)
		return err
	}
	_, err := m.session.conn.ExecContext(ctx, "COMMIT")
	return err
}

// copyAll copies the rows that the target lacks: since all were written in the order of
// their keys, those after the last.
func (m *mover) copyAll(ctx context.Context, from *sql.Conn) error {
	for i := range m.tables {
		t := &m.tables[i]
		last, err := t.lastKey(ctx, m.session.conn)
		if err != nil {
			return err
		}
		if last != nil {
			there, err := t.count(ctx, m.session.conn)
			if err != nil {
				return err
			}
			m.tell("rows copied", int(there))
		}
		if err := m.copyTable(ctx, from, t, last); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	return nil
}

func (m *mover) copyTable(ctx context.Context, from *sql.Conn, t *movedTable, after []any) error {
	var batch [][]any
	size := 0
	flush := func() error {
		err := m.write(ctx, t, batch)
		batch, size = batch[:0], 0
		return err
	}
	err := t.each(ctx, from, after, func(values []any) error {
		batch = append(batch, values)
		for _, value := range values {
			switch value := value.(type) {
			case string:
				size += len(value)
			case []byte:
				size += len(value)
			}
		}
		if len(batch) < m.Batch && size < batchBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// write commits a batch of rows.
func (m *mover) write(ctx context.Context, t *movedTable, batch [][]any) error {
	if len(batch) == 0 {
		return nil
	}
	return m.transaction(ctx, func() error {
		return inChunks(len(batch), func(from, to int) error {
			values := make([]any, 0, (to-from)*len(t.columns))
			for _, row := range batch[from:to] {
				values = append(values, row...)
			}
			if _, err := m.session.exec(ctx, t.insertSQL(), values...); err != nil {
				return err
			}
			m.tell("rows copied", to-from)
			return ctx.Err()
		})
	})
}

// tableSum is what two copies of a table have in common.
type tableSum struct {
	rows   int64
	digest string
}

// complete compares all rows, and removes the mark of the target.
func (m *mover) complete(ctx context.Context) (done Moved, err error) {
	m.done = 0
	var source, target []tableSum
	both, reading := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		source, err = m.sums(reading, m.from, nil)
		return err
	})
	both.Go(func() (err error) {
		target, err = m.sums(reading, m.to, func() { m.tell("rows compared", 1) })
		return err
	})
	if err := both.Wait(); err != nil {
		return done, err
	}
	all := sha256.New()
	for i, sum := range source {
		name := m.tables[i].name
		if sum != target[i] {
			return done, fmt.Errorf("table %s differs: %d rows and %d, with the digests %.12s… and %.12s…: "+
				"was one of the databases used meanwhile? Drop the one to move to, and move again", name, sum.rows, target[i].rows, sum.digest, target[i].digest)
		}
		fmt.Fprintln(all, name, sum.rows, sum.digest)
		done.Rows += sum.rows
	}
	done.Tables, done.Digest = len(source), hex.EncodeToString(all.Sum(nil))
	if err := m.unchanged(ctx); err != nil {
		return done, err
	}
	return done, m.transaction(ctx, func() error {
		_, err := m.session.exec(ctx, `DELETE FROM schema_versions WHERE version = $1`, int64(halfMoved))
		return err
	})
}

func (m *mover) sums(ctx context.Context, db *core, each func()) (sums []tableSum, err error) {
	err = db.snapshot(ctx, func(b *books) error {
		for i := range m.tables {
			sum := sha256.New()
			rows, err := m.tables[i].digest(ctx, b.conn, sum, each)
			if err != nil {
				return fmt.Errorf("read table %s: %w", m.tables[i].name, err)
			}
			sums = append(sums, tableSum{rows, hex.EncodeToString(sum.Sum(nil))})
		}
		return nil
	})
	return sums, err
}

// unchanged makes sure that nobody used the source since the move began.
func (m *mover) unchanged(ctx context.Context) error {
	return m.from.snapshot(ctx, func(b *books) error {
		now, _, err := m.state(ctx, b.conn)
		if err == nil && now != m.source {
			err = errors.New("somebody used the source while it was moved: stop its servers, drop the database to move to, and move again")
		}
		return err
	})
}
