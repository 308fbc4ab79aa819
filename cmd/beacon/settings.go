package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
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
	Name        *string `placeholder:"TEXT" help:"Name the network: everyone sees it in titles and on shared links; empty means Beacon."`
	Description *string `placeholder:"TEXT" help:"Say in a sentence what the network is; everyone sees it."`
	Contact     *string `placeholder:"MAIL|URL" help:"Say where people reach you: a mail address, or the URL of a page; everyone sees it."`
	Color       *string `placeholder:"#RRGGBB" help:"Set the color of links and buttons."`
	Logo        *string `placeholder:"FILE" help:"Set the logo: an SVG of shapes, or a PNG, of at most 40 kB; empty means none."`
	License     *string `placeholder:"URL" help:"Set the license of open data: the address of its text; every open feed names it."`
	Attribution *string `placeholder:"TEXT" help:"Say whom those who show open data must name, such as © Freifunk Berlin."`
	ShowClients string  `enum:"on,off," default:"" placeholder:"on|off" help:"Say whether open feeds tell how many clients hotspots have: in fives, and never of homes."`
	TimeZone    *string `name:"timezone" placeholder:"ZONE" help:"Set the time zone in which people of the network read times, such as Europe/Berlin; empty means UTC."`
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
	return "  beacon settings\n  beacon settings --home-privacy blur\n  beacon settings --start-view 52.52,13.405,12 --language de\n" +
		"  beacon settings --name 'Freifunk Berlin' --color '#dc0067' --logo logo.svg\n"
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
		i := s.Identity
		_, err = fmt.Fprintf(out.stdout, "home privacy: %s\nstart view:   %s\nlanguage:     %s\nname:         %s\ndescription:  %s\ncontact:      %s\ncolor:        %s\nlogo:         %s\nlicense:      %s\nattribution:  %s\nshow clients: %s\ntime zone:    %s\n",
			s.Homes, start, language, cmp.Or(i.Name, beacon.DefaultNetworkName), cmp.Or(i.Description, "none"), cmp.Or(i.Contact, "none"),
			cmp.Or(i.Color, beacon.DefaultColor), cmp.Or(i.Logo.Note(), "none"),
			cmp.Or(i.License, "none"), cmp.Or(i.Attribution, "none"), map[bool]string{true: "on", false: "off"}[i.ShowClients], i.Zone())
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
	patch.Identity, err = c.identity()
	return patch, err
}

func (c settingsCmd) identity() (beacon.IdentityPatch, error) {
	text := func(flag *string) beacon.Opt[string] {
		if flag == nil {
			return beacon.Opt[string]{}
		}
		return beacon.Opt[string]{Set: true, Null: *flag == "", V: *flag}
	}
	form := beacon.IdentityForm{Name: text(c.Name), Description: text(c.Description), Contact: text(c.Contact), Color: text(c.Color), Logo: text(c.Logo), License: text(c.License), Attribution: text(c.Attribution), TimeZone: text(c.TimeZone)}
	if c.ShowClients != "" {
		form.ShowClients = beacon.Some(c.ShowClients == "on")
	}
	if form.Logo.V != "" {
		file, err := os.ReadFile(form.Logo.V)
		if err != nil {
			return beacon.IdentityPatch{}, err
		}
		kind := beacon.SVG
		if http.DetectContentType(file) == beacon.PNG {
			kind = beacon.PNG
		}
		form.Logo.V = beacon.Logo{Type: kind, Data: string(file)}.String()
	}
	var f beacon.Faults
	patch := form.Validate(&f)
	if err, ok := errors.AsType[*beacon.Error](f.Err()); ok {
		return patch, usageError("--" + err.Fields[0].Field + " " + err.Fields[0].Message)
	}
	return patch, nil
}
