package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

type restoreCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The backup."`
	DB   string `name:"db" required:"" placeholder:"FILE" help:"The database to create; the file must not exist yet."`
}

func (restoreCmd) Help() string {
	return `The backup is checked first: that it is complete and consistent, and that this
version of beacon can read it. It is copied and not changed. A backup from an older
version is migrated when a server opens it.`
}

// Validate checks --db as in every command.
func (c restoreCmd) Validate() error { return database{DB: c.DB}.Validate() }

func (restoreCmd) Examples() string {
	return `  beacon restore beacon-2026-11-15.db --db restored.db
  beacon serve --db restored.db
`
}

// Run creates a database from a backup.
func (c restoreCmd) Run(out *console) error {
	if (database{DB: c.DB}).remote() {
		if sqlite.IsFile(c.File) {
			return usageError(fmt.Sprintf("%s is a SQLite database, which PostgreSQL cannot read: restore it into a file, with --db FILE, or move it into an empty database:\n  beacon move --from %s --to %s",
				shellWord(c.File), shellWord(c.File), shellWord(withoutPassword(c.DB))))
		}
		return usageError(fmt.Sprintf(`PostgreSQL has its own tool for this. Into an empty database:
  pg_restore --no-owner --exit-on-error --single-transaction --dbname=%s %s`, shellWord(withoutPassword(c.DB)), shellWord(c.File)))
	}
	err := copying(out, false, func(opts sqlite.Copying) error { return sqlite.Restore(out.ctx, c.File, c.DB, opts) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the file %s already exists, and a database is never replaced; choose another name, or move the file", c.DB)
	}
	if err != nil {
		return err
	}
	return said(out, c.DB, "the database", "is restored")
}
