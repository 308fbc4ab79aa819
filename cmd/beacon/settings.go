package main

import (
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

type settingsCmd struct {
	HomePrivacy string `enum:"blur,off," default:"" placeholder:"blur|off" help:"Set what strangers see of homes: all that is documented (off), or another place and no address (blur)."`
	database
}

// Help is shown below the flags.
func (settingsCmd) Help() string {
	return `Without a flag, the settings are printed. They are stored in the database, so they
hold for all servers of a network; running servers follow within seconds.

With --home-privacy blur, everyone but its operator and staff sees a home at a place
up to 430 m away, which is always the same, without address, network name, MAC address,
clients and traffic. Searches and maps use that place for everyone.`
}

// Examples are shown by --help.
func (settingsCmd) Examples() string {
	return "  beacon settings\n  beacon settings --home-privacy blur\n"
}

// Run changes and prints the settings.
func (c settingsCmd) Run(out *console) error {
	return c.with(out, func(db *store.DB) error {
		if c.HomePrivacy != "" {
			if err := db.SetHomePrivacy(out.ctx, beacon.HomePrivacy(c.HomePrivacy), commandLine.Actor(), time.Now()); err != nil {
				return err
			}
		}
		blur, err := db.Blur(out.ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.stdout, "home privacy: %s\n", blur.Homes)
		return err
	})
}
