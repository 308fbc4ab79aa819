package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// database is the --db flag, the same in every command.
type database struct {
	DB string `name:"db" default:"beacon.db" placeholder:"FILE|URL" help:"The database: a SQLite file, or postgres://… for several servers. Default ${default}."`

	DBPooler postgres.Pooler `name:"db-pooler" enum:"auto,on,off" default:"auto" help:"Whether a pooler such as PgBouncer is in front of PostgreSQL and lends each transaction another session: auto, on or off. Default ${default}, which finds out."`
}

// defaultDB is the default of the flag.
const defaultDB = "beacon.db"

// serverLike matches text that looks like a server, with or without a password:
// password=…, postgres:…, user:password@host.
var serverLike = regexp.MustCompile(`(?i)password=|^postgres(ql)?:|:[^/\\]*@`)

// Validate is called for every command that has the flag. A server's address must not
// be taken for a file name: that would be printed, with the password in it.
func (d database) Validate() error {
	if fault := d.fault(); fault != "" {
		return usageError("--db" + fault)
	}
	return nil
}

// fault returns what is wrong with the value of a flag, or "".
func (d database) fault() string {
	const want = "give a file, or a server such as postgres://user@host/name"
	if scheme, _, ok := strings.Cut(d.DB, "://"); ok && !d.remote() {
		return fmt.Sprintf(" %.20q…: %s", scheme+"://", want)
	}
	if serverLike.MatchString(d.DB) && !d.remote() {
		return " looks like a server, maybe with a password: " + want
	}
	return ""
}

// commandWait is how long a command waits for others that write to the database. It is
// longer than a server's wait: nobody but the one who typed it waits for a command.
const commandWait = time.Minute

// open opens the database; see store.Open. A file that does not exist is created. Wait is
// that of the engine's options.
func (d database) open(ctx context.Context, allowed store.Upgrade, node string, now time.Time, wait time.Duration) (*store.DB, error) {
	if d.remote() {
		return postgres.Open(ctx, d.DB, postgres.Options{Upgrade: allowed, Node: node, Now: now, Wait: wait, Pooler: d.DBPooler})
	}
	db, err := sqlite.Open(ctx, d.DB, sqlite.Options{Upgrade: allowed, Node: node, Now: now, Wait: wait})
	if errors.Is(err, os.ErrNotExist) { // a missing file would have been created
		err = fmt.Errorf("%w; create that folder first, or choose another file with --db", err)
	}
	return db, err
}

// examine opens the database to look at it; see store.Examination.
func (d database) examine(ctx context.Context) (*store.Examination, error) {
	if d.remote() {
		return postgres.Examine(ctx, d.DB, d.DBPooler)
	}
	if d.missing() {
		return nil, d.errMissing()
	}
	return sqlite.Examine(d.DB)
}

func (d database) remote() bool {
	return strings.HasPrefix(d.DB, "postgres://") || strings.HasPrefix(d.DB, "postgresql://")
}

// with runs a command on the database, which must exist: a missing one is most likely
// misspelt, or in another folder. An older one stays as it is: the server of that version
// may be running on it.
func (d database) with(out *console, command func(*store.DB) error) error {
	if d.missing() {
		return d.errMissing()
	}
	return d.run(out, store.Never, command)
}

// withNew is with for a command that may be the first on a database (decision D170). It
// creates one if there is none, and says so, unless the default is meant for a server that
// is installed.
func (d database) withNew(out *console, command func(*store.DB) error) error {
	if !d.missing() {
		return d.run(out, store.FromEmpty, command)
	}
	if d.DB == defaultDB && len(existing(installed)) > 0 {
		return d.errMissing()
	}
	others := d.likely()
	err := d.run(out, store.FromEmpty, command)
	if err == nil {
		fmt.Fprintf(out.stderr, "beacon: created the database %s, because there was none%s\n", d.DB, orElse(others, "; if another is meant, use "))
	}
	return err
}

// run runs a command on the database, after what is allowed was done to its schema.
func (d database) run(out *console, allowed store.Upgrade, command func(*store.DB) error) error {
	db, err := d.open(out.ctx, allowed, store.SharedNode, time.Now(), commandWait)
	if err != nil {
		return err
	}
	return errors.Join(command(db), db.Close())
}

func (d database) missing() bool {
	_, err := os.Stat(d.DB)
	return !d.remote() && errors.Is(err, fs.ErrNotExist)
}

// errMissing names the databases that may be meant.
func (d database) errMissing() error {
	return fmt.Errorf("there is no database %s; choose another with --db%s", d.DB, orElse(d.likely(), ", such as "))
}

// orElse spells the flag for each of the files, after an introduction.
func orElse(files []string, intro string) string {
	if len(files) == 0 {
		return ""
	}
	return intro + "--db " + strings.Join(files, " or --db ")
}

const mostNamed = 3 // in an error

// installed are the databases of the packaged servers: see deploy.
var installed = []string{"/var/lib/beacon/beacon.db", "/data/beacon.db"}

// likely returns databases that may be meant by one that does not exist: those of the same
// folder, and of installed servers.
func (d database) likely() (found []string) {
	here, _ := os.ReadDir(filepath.Dir(d.DB)) // if there is none, there are no others
	for _, entry := range here {
		if strings.HasSuffix(entry.Name(), ".db") && entry.Type().IsRegular() {
			found = append(found, filepath.Join(filepath.Dir(d.DB), entry.Name()))
		}
	}
	found = append(found, existing(installed)...)
	return found[:min(len(found), mostNamed)]
}

func existing(files []string) (found []string) {
	for _, path := range files {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}
