package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/accounts"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/store"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Create an API key and print it. It is shown only once."`
	List   keysListCmd   `cmd:"" help:"List keys, newest first, without their secrets."`
	Invite keysInviteCmd `cmd:"" help:"Print an address at which the first admin of a new network begins."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke a key; running servers refuse it within 2 seconds."`
}

// commandLine is the principal of commands: anyone who can open the database may do
// everything.
var commandLine = beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}, Request: "cli"}

// keysOf returns the keys of a database, for a single command.
func keysOf(db *store.DB) *access.Keys {
	return access.New(db.Keys, time.Now, new(clock.Heard))
}

type keysCreateCmd struct {
	database
	User    string         `required:"" placeholder:"usr_…|new" help:"The user of the key; 'new' creates one."`
	Scopes  []string       `placeholder:"SCOPE" help:"What it permits: hotspots:write, hotspots:verify, rewards:read, checkins:write, devices:enrol (alone), keys:manage, admin. Without any, it can read what any key can read."`
	Name    string         `help:"A name to recognize it by."`
	Expires *time.Duration `placeholder:"720h" help:"How long it is valid. Default: until revoked."`
	JSON    bool           `name:"json" help:"Print the record as JSON."`

	Origins     []string `placeholder:"ORIGIN" help:"Web pages that may use it, such as https://app.example.org. Default: it is not restricted to browsers."`
	Addresses   []string `placeholder:"ADDRESS|RANGE" help:"Addresses it may be used from, such as 10.0.0.0/8. Default: any."`
	Publishable bool     `help:"It may be shown to everyone, as in the source of a page: it can only find and read hotspots and coverage."`

	MaxEnrolments *float64 `placeholder:"N" help:"With devices:enrol: how many devices it may link, at most 100000."`
	Hotspots      []string `env:"-" placeholder:"hs_…" help:"With devices:enrol: the only hotspots whose devices it may link, at most 1000. Default: all of the user."`
	MayRegister   bool     `help:"With devices:enrol: a device that no hotspot is registered for registers one."`
}

func (keysCreateCmd) Examples() string {
	return `  beacon keys create --user new --scopes hotspots:write,rewards:read --name "Ada's hotspots"
  beacon keys create --user new --scopes admin --expires 720h --json
  beacon keys create --user new --publishable --origins https://app.example.org
  beacon keys create --user usr_01kbrv6xkhe45tq0fwvvfdym0w --scopes devices:enrol --max-enrolments 1000 --expires 168h
`
}

// Run creates a key.
func (c keysCreateCmd) Run(out *console) error {
	return c.withNew(out, func(db *store.DB) error {
		in := access.Creation{
			User:   beacon.Some(c.User),
			Name:   beacon.Some(c.Name),
			Scopes: beacon.Some(c.Scopes),

			Origins: beacon.Some(c.Origins), Addresses: beacon.Some(c.Addresses), Publishable: beacon.Some(c.Publishable),
			Hotspots: beacon.Some(c.Hotspots), MayRegister: beacon.Some(c.MayRegister),
		}
		if c.MaxEnrolments != nil {
			in.MaxEnrolments = beacon.Some(*c.MaxEnrolments)
		}
		if c.Expires != nil {
			in.ExpiresAt = beacon.Some(time.Now().Add(*c.Expires))
		}
		made, err := keysOf(db).Create(out.ctx, commandLine, in)
		if err != nil {
			return err
		}
		if !c.JSON {
			_, err := fmt.Fprintln(out.stdout, made.Plain)
			return err
		}
		return out.printJSON(accounts.ShowCreated(made))
	})
}

type keysInviteCmd struct {
	database
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address that the server listens on. Default ${default}."`
	publicURL
	clockFlags
}

func (keysInviteCmd) Help() string {
	return `The address works once, within an hour, on every server that uses the database,
and only while there is no key at all. Another one replaces it. Do not show it to
anyone: who opens it first has the network.`
}

func (keysInviteCmd) Examples() string {
	return `  beacon keys invite
  beacon keys invite --db postgres://beacon@db.example.org/beacon --public-url https://wifi.example.org
`
}

// Run prints an address.
func (c keysInviteCmd) Run(out *console) error {
	at, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return usageError(fmt.Sprintf("--addr %q: must look like 127.0.0.1:8080", c.Addr))
	}
	url, err := c.url(at)
	if err != nil {
		return err
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	return c.withNew(out, func(db *store.DB) error {
		address, err := invitation(out.ctx, access.New(db.Keys, now, new(clock.Heard)), url)
		if err == nil && address == "" {
			err = errors.New("there is a key already: the first one, or a user's own, creates others in the console; beacon keys create does, too")
		}
		if err == nil {
			_, err = fmt.Fprintln(out.stdout, address)
		}
		return err
	})
}

// invitation returns an address at which a browser creates the first key, or "" if there
// is a key. The token is in the fragment, which browsers do not send.
func invitation(ctx context.Context, keys *access.Keys, url string) (string, error) {
	token, err := keys.Invite(ctx, commandLine)
	if err != nil || token == "" {
		return "", err
	}
	return doors.Site(url) + "/#/first-key/" + token, nil
}

type keysListCmd struct {
	database
	User string `placeholder:"usr_…" help:"Only the keys of this user."`
	JSON bool   `name:"json" help:"Print one JSON record per line."`
}

func (keysListCmd) Examples() string { return "  beacon keys list --db beacon.db\n" }

// Run lists the keys.
func (c keysListCmd) Run(out *console) error {
	if c.User != "" && !id.Valid(beacon.UserPrefix, c.User) {
		return usageError("--user must be a user id (usr_…)")
	}
	return c.with(out, func(db *store.DB) error {
		if c.JSON {
			return c.each(out.ctx, db, func(k beacon.Key) error { return out.printJSON(accounts.ShowKey(k)) })
		}
		table := newTable(out.stdout, "ID\tUSER\tSTATE\tLAST USED\tSCOPES\tNAME")
		err := c.each(out.ctx, db, func(k beacon.Key) error {
			_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.User, state(k, time.Now()), day(k.LastUsedAt), grants(k), k.Name)
			return err
		})
		if err != nil {
			return err
		}
		return table.Flush()
	})
}

// keysPerPage is how many keys are read at once.
const keysPerPage = 100

// each calls do with every key of the list.
func (c keysListCmd) each(ctx context.Context, db *store.DB, do func(beacon.Key) error) error {
	keys := keysOf(db)
	for number := 1; ; number++ {
		list, err := keys.List(ctx, commandLine, access.Listing{User: beacon.UserID(c.User), Page: beacon.Page{Number: number, Size: keysPerPage}})
		if err != nil {
			return err
		}
		for _, k := range list.Items {
			if err := do(k); err != nil {
				return err
			}
		}
		if number >= list.Pages() {
			return nil
		}
	}
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

// grants lists the scopes of a key, then how many devices it has enrolled, and its restrictions.
func grants(k beacon.Key) string {
	var names []string
	for _, s := range k.Scopes {
		names = append(names, string(s))
	}
	parts := []string{cmp.Or(strings.Join(names, ","), "-")}
	if most := k.Enrolment.Most; most > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d", k.Enrolled, most))
	}
	return strings.TrimSpace(strings.Join(append(parts, k.Restrictions.String()), " "))
}

type keysRevokeCmd struct {
	database
	ID string `arg:"" placeholder:"key_…" help:"The id of the key, as 'keys list' shows it."`
}

func (keysRevokeCmd) Examples() string {
	return "  beacon keys revoke key_01kbrv6xkhe45tq0fwvvfdym0w\n"
}

// Run revokes a key.
func (c keysRevokeCmd) Run(out *console) error {
	return c.with(out, func(db *store.DB) error {
		_, err := keysOf(db).Revoke(out.ctx, commandLine, beacon.KeyID(c.ID))
		return err
	})
}
