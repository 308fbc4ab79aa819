package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

type restoreCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The backup."`
	DB   string `name:"db" required:"" placeholder:"FILE" help:"The database to make, which must not be there yet."`
}

// Help is shown below the flags.
func (restoreCmd) Help() string {
	return `The backup is checked: whether all of it is there and fits together, and whether
this program knows what to do with it. It is copied, and stays what it is. A
backup of an older version is brought up to date when a server opens it.`
}

// Validate checks --db as in every command.
func (c restoreCmd) Validate() error { return database{c.DB}.Validate() }

// Examples are shown by --help.
func (restoreCmd) Examples() string {
	return `  beacon restore beacon-2026-11-15.db --db restored.db
  beacon serve --db restored.db
`
}

// Run creates a database from a backup.
func (c restoreCmd) Run(out *console) error {
	if (database{DB: c.DB}).remote() {
		return usageError(fmt.Sprintf(`PostgreSQL has a tool of its own for this; into an empty database:
  pg_restore --no-owner --exit-on-error --single-transaction --dbname=%s %s`, shellWord(withoutPassword(c.DB)), shellWord(c.File)))
	}
	err := copying(out, false, func(opts sqlite.Copying) error { return sqlite.Restore(out.ctx, c.File, c.DB, opts) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is a file %s already: a database is never replaced; choose another name, or move it away", c.DB)
	}
	if err != nil {
		return err
	}
	return said(out, c.DB, "the database", "is restored")
}
