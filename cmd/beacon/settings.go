package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

type settingsCmd struct {
	HomePrivacy string  `enum:"blur,off," default:"" placeholder:"blur|off" help:"Set what strangers see of homes: all that is documented (off), or another place and no address (blur)."`
	StartView   *string `placeholder:"LAT,LNG,ZOOM" help:"Set what maps show at first, such as 52.52,13.405,12; empty means where the hotspots are."`
	Language    *string `placeholder:"CODE" help:"Set the language of names on maps, such as de; empty means as people there write them."`
	database
}

func (settingsCmd) Help() string {
	return `Without a flag, the settings are printed. They are stored in the database, so they
hold for all servers of a network; running servers follow within seconds.

With --home-privacy blur, everyone but its operator and staff sees a home at a place
up to 430 m away, which is always the same, without address, network name, MAC address,
clients and traffic. Searches and maps use that place for everyone.`
}

func (settingsCmd) Examples() string {
	return "  beacon settings\n  beacon settings --home-privacy blur\n  beacon settings --start-view 52.52,13.405,12 --language de\n"
}

// Run changes and prints the settings.
func (c settingsCmd) Run(out *console) error {
	start, err := c.start()
	if err != nil {
		return err
	}
	return c.with(out, func(db *store.DB) error {
		if c.HomePrivacy != "" {
			if err := db.Settings.SetHomePrivacy(out.ctx, beacon.HomePrivacy(c.HomePrivacy), commandLine.Actor(), time.Now()); err != nil {
				return err
			}
		}
		if c.StartView != nil {
			if err := db.Settings.SetStartView(out.ctx, start, commandLine.Actor(), time.Now()); err != nil {
				return err
			}
		}
		if c.Language != nil {
			if err := db.Settings.SetLanguage(out.ctx, *c.Language, commandLine.Actor(), time.Now()); err != nil {
				return err
			}
		}
		return c.print(out, db)
	})
}

// start checks the flags of the map, and returns the start view.
func (c settingsCmd) start() (*beacon.StartView, error) {
	if c.Language != nil && *c.Language != "" {
		if err := beacon.CheckLanguage(*c.Language); err != nil {
			return nil, usageError("--language " + err.Error())
		}
	}
	if c.StartView == nil || *c.StartView == "" {
		return nil, nil
	}
	view, err := beacon.ParseStartView(*c.StartView)
	if err != nil {
		return nil, usageError("--start-view " + err.Error())
	}
	return &view, nil
}

func (c settingsCmd) print(out *console, db *store.DB) error {
	blur, err := db.Settings.Blur(out.ctx)
	if err != nil {
		return err
	}
	shown, err := db.Settings.MapSettings(out.ctx)
	if err != nil {
		return err
	}
	start := "where the hotspots are"
	if shown.Start != nil {
		start = shown.Start.String()
	}
	language := cmp.Or(shown.Language, "as people there write it")
	_, err = fmt.Fprintf(out.stdout, "home privacy: %s\nstart view:   %s\nlanguage:     %s\n", blur.Homes, start, language)
	return err
}
