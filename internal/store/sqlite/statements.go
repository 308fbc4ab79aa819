package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// keptStatements is how many idle statements a connection keeps: nearly as many as the
// store has queries.
const keptStatements = 100

// openReaders opens a pool whose connections keep their statements: SQLite takes longer
// to parse a short query than to run it.
func openReaders(dsn string) (*sql.DB, error) {
	base, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(keepingConnector{base}), nil
}

type keepingConnector struct{ driver.Connector }

func (c keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &keepingConn{driverConn: conn.(driverConn), idle: map[string]driver.Stmt{}}, nil
}

// driverConn is what the driver's connections can do and database/sql makes use of.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A keepingConn runs queries with statements that it has kept. A statement is in idle
// only while no rows of it are open, so a query may run within itself.
type keepingConn struct {
	driverConn
	idle map[string]driver.Stmt // by the text of the query, before it is rewritten
}

// QueryContext implements [driver.QueryerContext].
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	stmt, kept := c.idle[text]
	if kept {
		delete(c.idle, text)
	} else {
		var err error
		if stmt, err = c.PrepareContext(ctx, positional(text)); err != nil {
			return nil, err
		}
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		_ = stmt.Close() // returns the query's error once more
		return nil, err
	}
	return &keepingRows{Rows: rows, conn: c, text: text, stmt: stmt}, nil
}

func (c *keepingConn) keep(text string, stmt driver.Stmt) error {
	if _, kept := c.idle[text]; kept {
		return stmt.Close()
	}
	if len(c.idle) >= keptStatements {
		for other, idle := range c.idle { // any
			delete(c.idle, other)
			if err := idle.Close(); err != nil {
				return err
			}
			break
		}
	}
	c.idle[text] = stmt
	return nil
}

// Close implements [driver.Conn]. Statements must not outlive the connection.
func (c *keepingConn) Close() error {
	for _, stmt := range c.idle {
		_ = stmt.Close() // the connection is closed in any case
	}
	clear(c.idle)
	return c.driverConn.Close()
}

type keepingRows struct {
	driver.Rows
	conn *keepingConn
	text string
	stmt driver.Stmt // nil once closed
}

// Close implements [driver.Rows].
func (r *keepingRows) Close() error {
	if r.stmt == nil {
		return nil
	}
	stmt := r.stmt
	r.stmt = nil
	if err := r.Rows.Close(); err != nil {
		_ = stmt.Close()
		return err
	}
	return r.conn.keep(r.text, stmt)
}
