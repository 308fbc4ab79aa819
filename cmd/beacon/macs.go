package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/oversight"
	"github.com/beacon-wifi/beacon/internal/store"
)

type macsCmd struct {
	Release macsReleaseCmd `cmd:"" help:"Let anyone register a MAC address that is reserved for its last operator."`
}

type macsReleaseCmd struct {
	MAC    string `arg:"" name:"mac" help:"The address, such as 02:00:5e:10:00:01."`
	Reason string `required:"" placeholder:"TEXT" help:"Why, for the audit."`
	database
}

func (macsReleaseCmd) Help() string {
	return `A MAC address that its operator gives up, by deleting a hotspot or changing its
hardware, is reserved for that operator for 30 days if the hotspot was in service.
Release it for someone who has bought the device. The address of a live hotspot is not reserved but in use: delete
the hotspot, or let its operator change the address.`
}

func (macsReleaseCmd) Examples() string {
	return "  beacon macs release 02:00:5e:10:00:01 --reason 'sold to the library'\n"
}

// Run ends the reservation.
func (c macsReleaseCmd) Run(out *console) error {
	mac, err := beacon.ParseMAC(c.MAC)
	if err != nil {
		return usageError("the MAC address " + err.Error())
	}
	reason, err := beacon.CleanKeyName(c.Reason)
	if err != nil || strings.TrimSpace(reason) == "" {
		return usageError("--reason must be a short text")
	}
	return c.with(out, func(db *store.DB) error {
		released, err := node.NewOversight(db, time.Now).ReleaseMAC(out.ctx, commandLine, oversight.Release{MAC: mac, Reason: reason})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.stdout, "%s was reserved for %s and is free now\n", mac.Canonical(), released.User)
		return err
	})
}
