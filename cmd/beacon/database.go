package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/store"
	"github.com/beacon-wifi/beacon/store/postgres"
	"github.com/beacon-wifi/beacon/store/sqlite"
)

// database is the flag that names a database, the same in every command.
type database struct {
	DB string `name:"db" default:"beacon.db" placeholder:"FILE|URL" help:"The database: a file of its own, or postgres://… for several machines. Default ${default}."`
}

// open opens the database, and makes it where there is none.
func (d database) open(ctx context.Context, now time.Time) (*store.DB, error) {
	if strings.HasPrefix(d.DB, "postgres://") || strings.HasPrefix(d.DB, "postgresql://") {
		return postgres.Open(ctx, d.DB, postgres.Options{Now: now})
	}
	db, err := sqlite.Open(ctx, d.DB, sqlite.Options{Now: now})
	if errors.Is(err, fs.ErrNotExist) { // the file itself would have been made
		err = fmt.Errorf("%w; make that folder first, or name another file with --db", err)
	}
	return db, err
}
