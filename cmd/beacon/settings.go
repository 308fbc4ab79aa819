package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/oversight"
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
	patch, err := c.patch()
	if err != nil {
		return err
	}
	return c.with(out, func(db *store.DB) error {
		s, err := node.NewOversight(db, time.Now).ChangeSettings(out.ctx, commandLine, patch)
		if err != nil {
			return err
		}
		start := "where the hotspots are"
		if s.Maps.Start != nil {
			start = s.Maps.Start.String()
		}
		language := cmp.Or(s.Maps.Language, "as people there write it")
		_, err = fmt.Fprintf(out.stdout, "home privacy: %s\nstart view:   %s\nlanguage:     %s\n", s.Homes, start, language)
		return err
	})
}

// patch checks the flags.
func (c settingsCmd) patch() (patch oversight.SettingsPatch, err error) {
	patch.Homes = beacon.HomePrivacy(c.HomePrivacy)
	if c.Language != nil {
		if patch.Language = beacon.Some(*c.Language); *c.Language != "" {
			if err := beacon.CheckLanguage(*c.Language); err != nil {
				return patch, usageError("--language " + err.Error())
			}
		}
	}
	if c.StartView != nil {
		if patch.Start = (beacon.Opt[beacon.StartView]{Set: true, Null: *c.StartView == ""}); !patch.Start.Null {
			if patch.Start.V, err = beacon.ParseStartView(*c.StartView); err != nil {
				return patch, usageError("--start-view " + err.Error())
			}
		}
	}
	return patch, nil
}
