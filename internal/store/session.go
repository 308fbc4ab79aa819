package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// session is the committer's connection with the statements prepared on it. It
// says BEGIN and COMMIT itself: sql.Tx would cost a goroutine for each, and
// prepare each statement anew.
type session struct {
	conn     *sql.Conn
	rewrite  func(text string) string
	prepared map[string]*sql.Stmt
}

func openSession(ctx context.Context, engine *Engine) (*session, error) {
	conn, err := engine.Write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, rewrite: engine.Rewrite, prepared: map[string]*sql.Stmt{}}
	if s.rewrite == nil {
		s.rewrite = func(text string) string { return text }
	}
	return s, nil
}

// discard closes the connection itself, whatever state it is in, and does not
// hand it back to the pool.
func (s *session) discard() {
	s.closeStatements()
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}

func (s *session) close() {
	s.closeStatements()
	_ = s.conn.Close()
}

// closeStatements comes before anything that closes the connection: a statement
// of SQLite must not outlive it.
func (s *session) closeStatements() {
	for _, stmt := range s.prepared {
		_ = stmt.Close() // a lost connection takes them along anyway
	}
}

func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := s.prepared[text]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, s.rewrite(text))
	if err == nil {
		s.prepared[text] = stmt
	}
	return stmt, err
}

func (s *session) exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := s.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *session) query(ctx context.Context, read func(scan func(...any) error) error, text string, args ...any) error {
	stmt, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction is what an operation works with. The first failure of the
// database sticks: from then on nothing is sent, and the group starts over.
// So an operation can tell its own verdicts (not found, taken) from failures.
type transaction struct {
	ctx     context.Context // of the whole group, not of one caller
	session *session
	failed  error

	numbered    int64 // how many numbers of the stream it has taken
	numberTaken bool  // failed where a row was given a number
}

var errGroupFailed = errors.New("the transaction has failed")

// exec returns how many rows were written.
func (tx *transaction) exec(text string, args ...any) (int64, error) {
	if tx.failed != nil {
		return 0, errGroupFailed
	}
	var n int64
	n, tx.failed = tx.session.exec(tx.ctx, text, args...)
	return n, tx.failed
}

// append inserts rows under numbers that were counted out. Should one of them
// be taken after all, it is time to count again.
func (tx *transaction) append(text string, args ...any) error {
	sound := tx.failed == nil
	_, err := tx.exec(text, args...)
	tx.numberTaken = sound && err != nil
	return err
}

// row reads the one row that a query gives, and reports whether there was one.
func (tx *transaction) row(read func(scan func(...any) error) error, text string, args ...any) (found bool, err error) {
	if tx.failed != nil {
		return false, errGroupFailed
	}
	stmt, err := tx.session.prepare(tx.ctx, text)
	if err == nil {
		err = read(stmt.QueryRowContext(tx.ctx, args...).Scan)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	tx.failed = err
	return err == nil, err
}

// rows reads all the rows that a query gives.
func (tx *transaction) rows(read func(scan func(...any) error) error, text string, args ...any) error {
	if tx.failed != nil {
		return errGroupFailed
	}
	tx.failed = tx.session.query(tx.ctx, read, text, args...)
	return tx.failed
}
