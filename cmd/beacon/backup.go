package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

type backupCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The file to write."`
	database
	Force bool `help:"Replace FILE if it exists."`
}

func (backupCmd) Help() string {
	return `The backup is one file: the database as it was at one moment, with everything that
was acknowledged before. Servers keep running. The backup is checked, and appears
only when all of it is on disk; only its owner can read it. It contains hashes of
keys, never keys.`
}

func (backupCmd) Examples() string {
	return `  beacon backup beacon-2026-11-15.db                        back up beacon.db in this folder
  beacon backup --db /var/lib/beacon/beacon.db --force /backup/beacon.db
  beacon restore beacon-2026-11-15.db --db restored.db      turn it into a database again
`
}

// Run makes a backup.
func (c backupCmd) Run(out *console) error {
	if c.remote() {
		return usageError(fmt.Sprintf(`PostgreSQL has its own tool for this, which also works while servers run:
  pg_dump --format=custom --file=%s %s
To restore a backup into an empty database:
  pg_restore --no-owner --exit-on-error --single-transaction --dbname=… %s`, shellWord(c.File), shellWord(withoutPassword(c.DB)), shellWord(c.File)))
	}
	if c.missing() {
		return c.errMissing()
	}
	err := copying(out, c.Force, func(opts sqlite.Copying) error { return sqlite.Backup(out.ctx, c.DB, c.File, opts) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the file %s already exists; choose another name, or replace it with --force", c.File)
	}
	if err != nil {
		return err
	}
	return said(out, c.File, "the backup", "is complete")
}

// copying runs a copy and shows its progress.
func copying(out *console, replace bool, do func(sqlite.Copying) error) error {
	var line atomic.Pointer[string]
	line.Store(new(""))
	stop := showProgress(out.stderr, func() string { return *line.Load() })
	err := do(sqlite.Copying{Replace: replace, Progress: func(what string, share float64) {
		line.Store(new(bar("% "+what, int64(100*share), 100)))
	}})
	stop()
	if err != nil && out.ctx.Err() != nil {
		return errors.New("interrupted; nothing was written")
	}
	return err
}

// said prints that a file was written, and its size.
func said(out *console, file, what, how string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "%s %s %s: %.1f MB\n", what, file, how, float64(info.Size())/1e6)
	return err
}

// withoutPassword returns a URL that may be printed.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://…"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	u.RawQuery = query.Encode()
	return u.String()
}

// plain matches text that needs no quotes in a shell.
var plain = regexp.MustCompile(`^[a-zA-Z0-9/._:@%+-]+$`)

// shellWord quotes text for a shell if needed.
func shellWord(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
