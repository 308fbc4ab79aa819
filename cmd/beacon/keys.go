package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/beacon-wifi/beacon/access"
	"github.com/beacon-wifi/beacon/beacon"
	"github.com/beacon-wifi/beacon/store"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Create an API key and print it, once."`
	List   keysListCmd   `cmd:"" help:"List the keys, newest first; never their secrets."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke a key; running servers refuse it within 2 seconds."`
}

// commandLine is who acts when a key is made on the command line: whoever can
// open the database may do everything.
var commandLine = beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: "cli"}

// withKeys runs a command on the keys of a database.
func (d database) withKeys(out *console, command func(*access.Keys) error) error {
	return d.with(out, func(db *store.DB) error {
		return command(access.New(db, time.Now, func(time.Time) bool { return false }))
	})
}

// with runs a command on a database.
func (d database) with(out *console, command func(*store.DB) error) error {
	db, err := d.open(out.ctx, time.Now())
	if err != nil {
		return err
	}
	return errors.Join(command(db), db.Close())
}

type keysCreateCmd struct {
	database
	User    string        `required:"" placeholder:"usr_…|new" help:"Whose key it is; 'new' makes a user."`
	Scopes  []string      `placeholder:"SCOPE,…" help:"What it permits: hotspots:write, hotspots:verify, rewards:read, keys:manage, admin. Without any, it can read what every key can."`
	Name    string        `help:"A name to recognise it by."`
	Expires time.Duration `placeholder:"720h" help:"How long it is valid. Default: until it is revoked."`
	JSON    bool          `name:"json" help:"Print the record as JSON."`
}

// Examples are shown by --help.
func (keysCreateCmd) Examples() string {
	return `  beacon keys create --user new --scopes hotspots:write,rewards:read --name "Ada's hotspots"
  beacon keys create --user new --scopes admin --expires 720h --json
`
}

// Run creates the key.
func (c keysCreateCmd) Run(out *console) error {
	return c.withKeys(out, func(keys *access.Keys) error {
		in := access.Creation{
			User:   beacon.Some(c.User),
			Name:   beacon.Some(c.Name),
			Scopes: beacon.Some(c.Scopes),
		}
		if c.Expires != 0 {
			in.ExpiresAt = beacon.Some(time.Now().Add(c.Expires))
		}
		made, err := keys.Create(out.ctx, commandLine, in)
		if err != nil {
			return err
		}
		if !c.JSON {
			_, err := fmt.Fprintln(out.stdout, made.Plain)
			return err
		}
		record := showKey(made.Key)
		record.Key = made.Plain
		return json.NewEncoder(out.stdout).Encode(record)
	})
}

// keyRecord is a key as --json prints it.
type keyRecord struct {
	Key       string         `json:"key,omitempty"`
	ID        beacon.KeyID   `json:"id"`
	UserID    beacon.UserID  `json:"user_id"`
	Name      string         `json:"name"`
	Scopes    []beacon.Scope `json:"scopes"`
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt *time.Time     `json:"expires_at"`
	RevokedAt *time.Time     `json:"revoked_at"`
	LastUsed  *time.Time     `json:"last_used_at"`
}

func showKey(k beacon.Key) keyRecord {
	return keyRecord{
		ID: k.ID, UserID: k.User, Name: k.Name, Scopes: append([]beacon.Scope{}, k.Scopes...), CreatedAt: k.CreatedAt.UTC().Truncate(time.Millisecond),
		ExpiresAt: maybe(k.ExpiresAt), RevokedAt: maybe(k.RevokedAt), LastUsed: maybe(k.LastUsedAt),
	}
}

func maybe(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

type keysListCmd struct {
	database
	User string `placeholder:"usr_…" help:"Only the keys of this user."`
	JSON bool   `name:"json" help:"Print one JSON record a line."`
}

// Examples are shown by --help.
func (keysListCmd) Examples() string { return "  beacon keys list --db beacon.db\n" }

// Run lists the keys.
func (c keysListCmd) Run(out *console) error {
	return c.withKeys(out, func(keys *access.Keys) error {
		all, err := keys.List(out.ctx, commandLine, access.Listing{User: beacon.UserID(c.User)})
		if err != nil {
			return err
		}
		if c.JSON {
			encoder := json.NewEncoder(out.stdout)
			for _, k := range all {
				if err := encoder.Encode(showKey(k)); err != nil {
					return err
				}
			}
			return nil
		}
		table := tabwriter.NewWriter(out.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tUSER\tSTATE\tLAST USED\tSCOPES\tNAME")
		for _, k := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.User, state(k, time.Now()), day(k.LastUsedAt), words(k.Scopes), k.Name)
		}
		return table.Flush()
	})
}

func state(k beacon.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.InForce(now):
		return "expired"
	case !k.ExpiresAt.IsZero():
		return "until " + day(k.ExpiresAt)
	default:
		return "in force"
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

func words(scopes []beacon.Scope) string {
	if len(scopes) == 0 {
		return "-"
	}
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

type keysRevokeCmd struct {
	database
	ID string `arg:"" placeholder:"key_…" help:"The id of the key, as 'keys list' shows it."`
}

// Examples are shown by --help.
func (keysRevokeCmd) Examples() string {
	return "  beacon keys revoke key_01kbrv6xkhe45tq0fwvvfdym0w\n"
}

// Run revokes the key.
func (c keysRevokeCmd) Run(out *console) error {
	return c.withKeys(out, func(keys *access.Keys) error {
		_, err := keys.Revoke(out.ctx, commandLine, beacon.KeyID(c.ID))
		return err
	})
}
