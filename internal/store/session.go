package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// session is the committer's connection with its prepared statements. It sends BEGIN
// and COMMIT itself: sql.Tx would start a goroutine for each transaction and prepare
// each statement again.
type session struct {
	conn     *sql.Conn
	pooled   bool // nothing is prepared
	rewrite  func(text string) string
	prepared map[statement]*sql.Stmt
}

// statement is a text for a number of arguments: see fill.
type statement struct {
	text string
	args int
}

func openSession(ctx context.Context, engine *Engine) (*session, error) {
	conn, err := engine.Write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, pooled: engine.Pooled, rewrite: engine.Rewrite, prepared: map[statement]*sql.Stmt{}}
	if s.rewrite == nil {
		s.rewrite = func(text string) string { return text }
	}
	return s, nil
}

// discard closes the connection itself, whatever its state, instead of returning it to
// the pool.
func (s *session) discard() {
	s.closeStatements()
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}

func (s *session) close() {
	s.closeStatements()
	_ = s.conn.Close()
}

// closeStatements must run before the connection is closed: a SQLite statement must not
// outlive it.
func (s *session) closeStatements() {
	for _, stmt := range s.prepared {
		_ = stmt.Close() // a lost connection closes them anyway
	}
}

func (s *session) prepare(ctx context.Context, text string, args int) (*sql.Stmt, error) {
	wanted := statement{text, args}
	if stmt, ok := s.prepared[wanted]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, s.rewrite(fill(text, args)))
	if err == nil {
		s.prepared[wanted] = stmt
	}
	return stmt, err
}

func (s *session) exec(ctx context.Context, text string, args ...any) (int64, error) {
	result, err := s.send(ctx, text, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *session) send(ctx context.Context, text string, args []any) (sql.Result, error) {
	if s.pooled {
		return s.conn.ExecContext(ctx, s.rewrite(fill(text, len(args))), args...)
	}
	stmt, err := s.prepare(ctx, text, len(args))
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

func (s *session) ask(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	if s.pooled {
		return s.conn.QueryContext(ctx, s.rewrite(fill(text, len(args))), args...)
	}
	stmt, err := s.prepare(ctx, text, len(args))
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

func (s *session) query(ctx context.Context, text string, targets []any, each func() (stopped, failed error), args []any) error {
	rows, err := s.ask(ctx, text, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if _, err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction is what an operation works with. The first failure of the database
// sticks: nothing is sent after it, and the group is retried. This separates an
// operation's own verdicts (not found, taken) from failures.
type transaction struct {
	ctx     context.Context // of the whole group, not of one caller
	session *session
	failed  error

	numbered    int64 // how many stream numbers it has taken
	numberTaken bool  // it failed while inserting a numbered row

	tallies map[tallyKey]beacon.Tally // what it has counted and not yet written
}

var errGroupFailed = errors.New("the transaction has failed")

// exec returns the number of rows written.
func (tx *transaction) exec(text string, args ...any) (int64, error) {
	if tx.failed != nil {
		return 0, errGroupFailed
	}
	var n int64
	n, tx.failed = tx.session.exec(tx.ctx, text, args...)
	return n, tx.failed
}

// write is exec where the number of rows does not matter. Since nothing is sent after a
// failure, cmp.Or of several writes returns the error of the first that failed.
func (tx *transaction) write(text string, args ...any) error {
	_, err := tx.exec(text, args...)
	return err
}

// append inserts rows under numbers that were assigned in memory. If that fails, the
// number may be taken, and the head of the stream must be read again.
func (tx *transaction) append(text string, args ...any) error {
	sound := tx.failed == nil
	err := tx.write(text, args...)
	tx.numberTaken = sound && err != nil
	return err
}

// row reads the single row of a query into the fields, and reports whether there was one.
func (tx *transaction) row(into []any, text string, args ...any) (found bool, err error) {
	return readRow(tx.ctx, tx, into, text, args...)
}

// scan implements source.
func (tx *transaction) scan(_ context.Context, text string, targets []any, each func() (stopped, failed error), args ...any) error {
	if tx.failed != nil {
		return errGroupFailed
	}
	tx.failed = tx.session.query(tx.ctx, text, targets, each, args)
	return tx.failed
}

// retrying implements source: the group is repeated, not a read of it.
func (tx *transaction) retrying(_ context.Context, read func() error) error { return read() }

// exists reports whether a query finds a row.
func (tx *transaction) exists(text string, args ...any) (bool, error) {
	return tx.row([]any{new(string)}, text, args...)
}

// numbering assigns the rows of one stream of a node their numbers: 1, 2, 3, … without
// a gap. That works because one committer writes the stream, one transaction at a time.
// The primary key of the stream protects the numbers: if an older transaction of ours
// is still pending in the database, the next one waits for it and then either succeeds
// or finds its number taken.
type numbering struct {
	node       string
	opened     time.Time
	last       string // the query for the number of the last row
	head       int64
	known      bool // head is known; false after a COMMIT with an unknown outcome
	moved      bool // the session is not the one that wrote last
	registered bool // our row in nodes is known to be committed
}

const insertNodeSQL = `INSERT INTO nodes (node, started_at) VALUES ($1, $2) ON CONFLICT (node) DO NOTHING`

// next assigns n numbers, starting with first. They take effect once tx is committed.
func (s *numbering) next(tx *transaction, n int) (first int64, err error) {
	if !s.known || s.moved {
		if err := s.readHead(tx); err != nil {
			return 0, err
		}
	}
	if !s.registered && tx.numbered == 0 {
		if err := tx.write(insertNodeSQL, s.node, micros(s.opened)); err != nil {
			return 0, err
		}
	}
	first = s.head + tx.numbered + 1
	tx.numbered += int64(n)
	return first, nil
}

// readHead reads the head from the database. It may be ahead of what we know, if the
// response to a COMMIT was lost or others write to the stream too, but never behind.
func (s *numbering) readHead(tx *transaction) error {
	var head int64
	if _, err := tx.row([]any{&head}, s.last, s.node); err != nil {
		return err
	}
	if head < s.head {
		tx.failed = wentBack(s.node, s.head, head) // for all operations in the group
		return tx.failed
	}
	s.head, s.known, s.moved = head, true, false
	return nil
}

// committed advances the head by the numbers that tx has taken.
func (s *numbering) committed(tx *transaction) {
	s.head += tx.numbered
	s.registered = s.registered || tx.numbered > 0
}
