package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

type moveCmd struct {
	From string `required:"" placeholder:"FILE|URL" help:"The database to move. It is only read. Stop its servers first."`
	To   string `required:"" placeholder:"FILE|URL" help:"The database to move to: a new file, or an empty PostgreSQL database."`
}

func (moveCmd) Help() string {
	return `Copies everything from SQLite to PostgreSQL, or back. Then all rows of both are
compared, and the new database is checked as beacon doctor does. Until they agree, no
server starts on it. If this is interrupted, the same command continues.`
}

func (moveCmd) Examples() string {
	return `  beacon move --from beacon.db --to postgres://beacon@db.example.org/beacon
  beacon move --from postgres://beacon@db.example.org/beacon --to beacon.db
`
}

// Validate checks the databases as --db is checked in every command.
func (c moveCmd) Validate() error {
	if fault := (database{DB: c.From}).fault(); fault != "" {
		return usageError("--from" + fault)
	}
	if fault := (database{DB: c.To}).fault(); fault != "" {
		return usageError("--to" + fault)
	}
	return nil
}

// moveWait is how long a statement may take: as long as it needs to count or to compare.
const moveWait = 24 * time.Hour

// Run moves a database.
func (c moveCmd) Run(out *console) error {
	from, err := c.source(out.ctx)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	moved, err := c.move(out, from)
	err = errors.Join(err, from.Close())
	switch {
	case err != nil && out.ctx.Err() != nil:
		return errors.New("interrupted; the same command continues")
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "%s of %s are moved, and compared: both databases have the digest %.16s\n",
		count(int(moved.Rows), "row"), count(moved.Tables, "table"), moved.Digest)
	if err != nil {
		return err
	}
	wrong, err := doctorCmd{database: database{DB: c.To}}.check(out)
	switch {
	case err != nil:
		return err
	case slices.Equal(wrong, []string{"settings"}): // of the database server, not of what was moved
		_, err = fmt.Fprintln(out.stdout, "the database is sound, but for its settings")
	case len(wrong) > 0:
		err = errors.New("the database is not sound; its rows are those of the one it was moved from")
	default:
		_, err = fmt.Fprintln(out.stdout, "the database is sound")
	}
	return err
}

func (c moveCmd) move(out *console, from *store.Examination) (moved store.Moved, err error) {
	to, err := database{DB: c.To}.open(out.ctx, store.ToReceive, store.SharedNode, time.Now(), moveWait)
	if err != nil {
		return moved, fmt.Errorf("--to: %w", err)
	}
	type progress struct {
		what     string
		done, of int64
	}
	var reached atomic.Pointer[progress]
	reached.Store(&progress{what: "rows counted"})
	stop := showProgress(out.stderr, func() string { p := reached.Load(); return bar(p.what, p.done, p.of) })
	moved, err = store.Move(out.ctx, from, to, store.Moving{Now: time.Now(), Progress: func(what string, done, of int64) {
		reached.Store(&progress{what, done, of})
	}})
	stop()
	return moved, errors.Join(err, to.Close())
}

// source opens the database to move, which must be complete, of the current version, and
// not in use.
func (c moveCmd) source(ctx context.Context) (*store.Examination, error) {
	from := database{DB: c.From}
	if from.missing() {
		return nil, fmt.Errorf("there is no database %s%s", c.From, orElse(from.likely(), "; try "))
	}
	if !from.remote() {
		if err := sqlite.Unused(c.From); err != nil {
			return nil, err
		}
	}
	x, err := from.examine(ctx)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, x); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// ready returns an error if a database cannot be moved as it is.
func ready(ctx context.Context, x *store.Examination) error {
	schema, err := x.Schema(ctx)
	switch {
	case err != nil:
		return err
	case schema.Version < schema.Known:
		return fmt.Errorf("the database is at version %d of %d: run beacon migrate on it first", schema.Version, schema.Known)
	case len(schema.Missing) > 0 || len(schema.Foreign) > 0:
		return fmt.Errorf("the database is not as beacon makes it (%s): run beacon doctor on it", strings.Join(append(schema.Missing, schema.Foreign...), "; "))
	}
	return x.Snapshot(ctx, func(s store.Snapshot) error {
		leases, err := s.Leases(ctx)
		for _, l := range leases {
			if l.Until.After(time.Now()) {
				return fmt.Errorf("a server uses the database: stop it; if it was killed, wait until %s", l.Until.Add(time.Second).UTC().Format(time.TimeOnly+" MST"))
			}
		}
		return err
	})
}
