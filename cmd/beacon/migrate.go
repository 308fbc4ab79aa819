package main

import (
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/store"
)

type migrateCmd struct{ database }

func (migrateCmd) Help() string {
	return `A server does this when it starts. Other commands refuse a database of an older
version, since the servers of that version may be running on it. There is no way back
but a backup: make one first. In an empty PostgreSQL database the tables are created.`
}

func (migrateCmd) Examples() string {
	return `  beacon backup before-upgrade.db && beacon migrate
  beacon migrate --db postgres://beacon@db.example.org/beacon
`
}

// Run migrates the database.
func (c migrateCmd) Run(out *console) error {
	if c.missing() {
		return c.errMissing()
	}
	db, err := c.open(out.ctx, store.ToCurrent, store.SharedNode, time.Now(), commandWait)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	steps, err := store.Migrations()
	if err == nil {
		_, err = fmt.Fprintf(out.stdout, "the database is at version %d, which is current\n", len(steps))
	}
	return err
}
