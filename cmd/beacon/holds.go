package main

import (
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

type holdsCmd struct {
	List    holdsListCmd    `cmd:"" help:"List all holds, newest first."`
	Create  holdsCreateCmd  `cmd:"" help:"Hold back what a hotspot or an operator earns."`
	Extend  holdsExtendCmd  `cmd:"" help:"Move the end of a hold; takes a second person."`
	Release holdsReleaseCmd `cmd:"" help:"End a hold: the next statement pays what was held."`
	Void    holdsVoidCmd    `cmd:"" help:"Say that a visit failed; the second person who does ends the hold, and nothing is paid."`
}

func (holdsCmd) Help() string {
	return `These commands talk to a server, as a person: who may decide depends on the user of
the key, so everyone needs a key of their own.`
}

// decider is a person at a server.
type decider struct {
	URL string `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server. Default ${default}."`
	Key string `placeholder:"bcn_…" help:"Your key, with the scope hotspots:verify. Better set as BEACON_KEY: other users can see a command line."`
}

func (d decider) client() (*client.Client, error) {
	if d.Key == "" {
		return nil, usageError("holds needs a key: set BEACON_KEY")
	}
	c, err := client.New(d.URL, d.Key)
	if err != nil {
		return nil, usageError("--url " + err.Error())
	}
	return c, nil
}

// holdsUntil is the end of a hold.
type holdsUntil struct {
	Until string `required:"" placeholder:"DAY" help:"The end: a day such as 2026-12-10, which is not held any more, or a time. At most 30 days away."`
}

func (u holdsUntil) time() (time.Time, error) {
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, u.Until); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, usageError("--until must be a day such as 2026-12-10, or a time such as 2026-12-10T12:00:00Z")
}

type holdsListCmd struct{ decider }

func (holdsListCmd) Examples() string { return "  BEACON_KEY=bcn_… beacon holds list\n" }

// Run lists the holds.
func (c holdsListCmd) Run(out *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	table := newTable(out.stdout, "HOLD\tSTATUS\tUNTIL\tOPERATOR\tHOTSPOT\tREASON")
	for h, err := range api.Holds(out.ctx, "") {
		if err != nil {
			return err
		}
		hotspot, status := "all", h.Status
		if h.HotspotID != nil {
			hotspot = *h.HotspotID
		}
		if h.Status == "active" && h.FailedVisit != nil {
			status = "active, visit failed"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", h.ID, status, beacon.FormatTime(h.Until), h.OperatorID, hotspot, h.Reason)
	}
	return table.Flush()
}

type holdsCreateCmd struct {
	Hotspot  string `xor:"whom" required:"" placeholder:"ID" help:"The hotspot to hold."`
	Operator string `xor:"whom" required:"" placeholder:"ID" help:"The operator, all of whose hotspots are held."`
	Reason   string `required:"" placeholder:"TEXT" help:"Why; the operator reads it."`
	Evidence string `required:"" placeholder:"TEXT" help:"What shows it; the operator reads it."`
	holdsUntil
	decider
}

func (holdsCreateCmd) Help() string {
	return `Days that are closed from now on are closed as always, and not paid until the hold
is over. At its end it is released by itself.`
}

func (holdsCreateCmd) Examples() string {
	return `  BEACON_KEY=bcn_… beacon holds create --hotspot hs_01kb3gzk00e9x8q6s5t4v3w2y1 \
    --reason 'no radio on the air' --evidence 'visited on 14 November, photo 7' --until 2026-12-10
`
}

// Run places a hold.
func (c holdsCreateCmd) Run(out *console) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	until, err := c.time()
	if err != nil {
		return err
	}
	h, err := api.PlaceHold(out.ctx, client.HoldForm{HotspotID: c.Hotspot, OperatorID: c.Operator, Reason: c.Reason, Evidence: c.Evidence, Until: until})
	if err != nil {
		return err
	}
	return tellHold(out, h)
}

// holdsDecision is about one hold.
type holdsDecision struct {
	Hold   string `arg:"" name:"hold" help:"The id of the hold."`
	Reason string `required:"" placeholder:"TEXT" help:"Why; the operator reads it."`
	decider
}

func (c holdsDecision) decide(out *console, action string, until *time.Time) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	h, err := api.DecideHold(out.ctx, c.Hold, client.HoldDecision{Action: action, Reason: c.Reason, Until: until})
	if err != nil {
		return err
	}
	return tellHold(out, h)
}

func tellHold(out *console, h client.Hold) (err error) {
	switch {
	case h.Status == "active" && h.FailedVisit != nil:
		_, err = fmt.Fprintf(out.stdout, "%s is active until %s; a second person can confirm that the visit failed\n", h.ID, beacon.FormatTime(h.Until))
	case h.Status == "active":
		_, err = fmt.Fprintf(out.stdout, "%s is active until %s\n", h.ID, beacon.FormatTime(h.Until))
	default:
		_, err = fmt.Fprintf(out.stdout, "%s was %s\n", h.ID, h.Status)
	}
	return err
}

type holdsExtendCmd struct {
	holdsDecision
	holdsUntil
}

func (holdsExtendCmd) Examples() string {
	return "  BEACON_KEY=bcn_… beacon holds extend hld_01kb3gzk00e9x8q6s5t4v3w2y1 --reason 'nobody was there yet' --until 2026-12-20\n"
}

// Run extends a hold.
func (c holdsExtendCmd) Run(out *console) error {
	until, err := c.time()
	if err != nil {
		return err
	}
	return c.decide(out, "extend", &until)
}

type holdsReleaseCmd struct{ holdsDecision }

func (holdsReleaseCmd) Examples() string {
	return "  BEACON_KEY=bcn_… beacon holds release hld_01kb3gzk00e9x8q6s5t4v3w2y1 --reason 'it is on the roof'\n"
}

// Run ends a hold.
func (c holdsReleaseCmd) Run(out *console) error { return c.decide(out, "release", nil) }

type holdsVoidCmd struct{ holdsDecision }

func (holdsVoidCmd) Examples() string {
	return "  BEACON_KEY=bcn_… beacon holds void hld_01kb3gzk00e9x8q6s5t4v3w2y1 --reason 'visited again: nothing is there'\n"
}

// Run says that a visit failed.
func (c holdsVoidCmd) Run(out *console) error { return c.decide(out, "void", nil) }
