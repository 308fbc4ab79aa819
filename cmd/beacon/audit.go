package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/network"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

type auditCmd struct {
	database
	Limit int  `default:"50" help:"How many of the newest changes to list. Default ${default}."`
	JSON  bool `name:"json" help:"Print one JSON record per line."`
}

func (auditCmd) Examples() string {
	return `  beacon audit --db beacon.db
  beacon audit --limit 1000 --json
`
}

// auditRecord is a change as --json prints it.
type auditRecord struct {
	client.AuditRow
	Node string `json:"node"`
	Seq  int64  `json:"seq"`
}

// Run lists who changed what, newest first (decision X10).
func (c auditCmd) Run(out *console) error {
	return c.with(out, func(db *store.DB) error {
		changes, err := db.Changes.Audit(out.ctx, beacon.Change{}, c.Limit)
		if err != nil {
			return err
		}
		names, err := db.People.PersonNames(out.ctx, beacon.PeopleOf(changes))
		if err != nil {
			return err
		}
		if c.JSON {
			for _, ch := range changes {
				if err := out.printJSON(auditRecord{network.ShowChange(&ch, names), ch.Node, ch.Seq}); err != nil {
					return err
				}
			}
			return nil
		}
		table := newTable(out.stdout, "TIME\tCHANGE\tTARGET\tUSER\tKEY\tPERSON\tREQUEST\tNOTE")
		for _, ch := range changes {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", beacon.FormatTime(ch.At), ch.Kind, cmp.Or(ch.Target, "-"),
				cmp.Or(string(ch.Actor.User), "-"), cmp.Or(string(ch.Actor.Key), "-"), cmp.Or(strings.TrimSpace(string(ch.Actor.Person)+" "+names[ch.Actor.Person]), "-"), ch.Actor.Request, cmp.Or(ch.Actor.Note, "-"))
		}
		return table.Flush()
	})
}
