package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	peopleapi "github.com/beacon-wifi/beacon/internal/api/people"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/store"
)

type peopleCmd struct {
	List    peopleListCmd    `cmd:"" help:"List people, with their posts and accounts."`
	Invite  peopleInviteCmd  `cmd:"" help:"Print an address at which someone becomes a member or takes posts."`
	Link    peopleLinkCmd    `cmd:"" help:"Print an address at which a person signs in once, who lost their passkey."`
	Suspend peopleSuspendCmd `cmd:"" help:"Sign a person out everywhere, and keep them out."`
	Restore peopleRestoreCmd `cmd:"" help:"Let a suspended person in again."`
	Export  peopleExportCmd  `cmd:"" help:"Print what is stored of a person, as JSON."`
	Erase   peopleEraseCmd   `cmd:"" help:"Erase what is stored of a person. The audit and the books stay."`
}

// peopleOf returns the people of a database, for a single command.
func peopleOf(db *store.DB) *people.People {
	return people.New(people.Config{
		Store: db.People, Sessions: people.NewSessions(db.People, time.Now, new(clock.Heard)), SignUp: people.SignUpInvite, Now: time.Now,
	})
}

// asAdmin is the principal of commands.
func asAdmin() beacon.Principal { return commandLine.For(beacon.ManagePeople) }

type peopleListCmd struct {
	database
	Search string `placeholder:"TEXT" help:"Only those in whose name or mail address this is."`
	JSON   bool   `name:"json" help:"Print one JSON record per line."`
}

func (peopleListCmd) Examples() string { return "  beacon people list --db beacon.db\n" }

// Run lists people.
func (c peopleListCmd) Run(out *console) error {
	return c.with(out, func(db *store.DB) error {
		all, err := findPeople(out.ctx, db, c.Search)
		if err != nil {
			return err
		}
		if c.JSON {
			for _, one := range all {
				if err := out.printJSON(peopleapi.ShowListed(one)); err != nil {
					return err
				}
			}
			return nil
		}
		table := newTable(out.stdout, "ID\tNAME\tSTATE\tPOSTS\tACCOUNTS")
		for _, one := range all {
			if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", one.ID, one.Name, stateOf(one), postsOf(one), accountsOf(one)); err != nil {
				return err
			}
		}
		return table.Flush()
	})
}

// peopleAtOnce is how many people are read at once.
const peopleAtOnce = 100

func findPeople(ctx context.Context, db *store.DB, search string) (all []beacon.Seated, err error) {
	q := people.Query{Page: beacon.Page{Number: 1, Size: peopleAtOnce}}
	if search != "" {
		if q.Search, err = beacon.CleanSearch(search); err != nil {
			return nil, usageError("--search " + err.Error())
		}
	}
	for {
		list, err := peopleOf(db).List(ctx, asAdmin(), q)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if len(list.Items) < peopleAtOnce {
			return all, nil
		}
		q.Page.After = string(list.Items[len(list.Items)-1].ID)
	}
}

func stateOf(p beacon.Seated) string {
	if p.Active() {
		return "active"
	}
	return "suspended"
}

func postsOf(p beacon.Seated) string {
	var names []string
	for _, post := range p.Posts() {
		names = append(names, string(post))
	}
	return cmp.Or(strings.Join(names, ","), "-")
}

func accountsOf(p beacon.Seated) string {
	var names []string
	for _, m := range p.Memberships {
		if m.Account != "" {
			names = append(names, string(m.Account)+" "+string(m.Role))
		}
	}
	return cmp.Or(strings.Join(names, ", "), "-")
}

// serverURL is where the console is, for addresses that commands print.
type serverURL struct {
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address that the server listens on. Default ${default}."`
	publicURL
}

func (c serverURL) base() (string, error) {
	at, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return "", usageError(fmt.Sprintf("--addr %q: must look like 127.0.0.1:8080", c.Addr))
	}
	url, err := c.url(at)
	return doors.Site(url), err
}

type peopleInviteCmd struct {
	database
	serverURL
	Post    []string `placeholder:"POST" help:"Posts in the network: admin, verifier, treasurer, auditor."`
	Account string   `placeholder:"usr_…|new" help:"Instead: the account to become a member of; 'new' founds one."`
	Role    string   `placeholder:"ROLE" help:"With --account: owner, manager, installer or viewer."`
	Name    string   `help:"With --account new: the name of the account."`
	Days    int      `default:"7" placeholder:"N" help:"For how many days the address works, at most 30. Default ${default}."`
}

func (peopleInviteCmd) Help() string {
	return `The address works once. Give it only to whom you mean: nobody asks who opens it.`
}

func (peopleInviteCmd) Examples() string {
	return `  beacon people invite --post admin
  beacon people invite --account new --role owner --name "Ada's café"
  beacon people invite --account usr_01kbrv6xkhe45tq0fwvvfdym0w --role installer
`
}

// Run prints an address.
func (c peopleInviteCmd) Run(out *console) error {
	base, err := c.base()
	if err != nil {
		return err
	}
	in := people.Invitation{Days: beacon.Some(float64(c.Days))}
	switch {
	case len(c.Post) > 0 && c.Account != "" || len(c.Post) == 0 && c.Account == "":
		return usageError("either --post or --account must be given")
	case len(c.Post) > 0:
		in.Posts = beacon.Some(c.Post)
	case c.Account == "new":
		if c.Role != "" && c.Role != string(beacon.Owner) {
			return usageError("--role must be owner: an account that is new has no other members")
		}
		in.Found = beacon.Some(c.Account)
		if c.Name != "" {
			in.AccountName = beacon.Some(c.Name)
		}
	case !id.Valid(beacon.UserPrefix, c.Account):
		return usageError("--account must be a user id (usr_…) or new")
	default:
		in.Account, in.Role = beacon.UserID(c.Account), beacon.Some(c.Role)
	}
	return c.withNew(out, func(db *store.DB) error {
		made, err := peopleOf(db).Invite(out.ctx, commandLine.For(beacon.ManageMembers), in)
		if err == nil {
			_, err = fmt.Fprintln(out.stdout, base+"/#/join/"+made.Token)
		}
		return err
	})
}

// onePerson names a person.
type onePerson struct {
	database
	Person string `arg:"" placeholder:"NAME|per_…" help:"The person's name, mail address or id, as 'people list' shows it."`
}

// find calls do with the person.
func (c onePerson) find(out *console, do func(*store.DB, beacon.PersonID) error) error {
	return c.with(out, func(db *store.DB) error {
		if id.Valid(beacon.PersonPrefix, c.Person) {
			return do(db, beacon.PersonID(c.Person))
		}
		all, err := findPeople(out.ctx, db, c.Person)
		if err != nil {
			return err
		}
		var found []string
		for _, one := range all {
			if beacon.FoldName(one.Name) == beacon.FoldName(c.Person) || one.Mail != "" && beacon.FoldMail(one.Mail) == beacon.FoldMail(c.Person) {
				found = append(found, string(one.ID))
			}
		}
		switch len(found) {
		case 0:
			return fmt.Errorf("nobody is called %q; beacon people list shows everyone", c.Person)
		case 1:
			return do(db, beacon.PersonID(found[0]))
		}
		return fmt.Errorf("%d people are called %q: name one by id: %s", len(found), c.Person, strings.Join(found, ", "))
	})
}

type peopleLinkCmd struct {
	onePerson
	serverURL
}

func (peopleLinkCmd) Help() string {
	return `The address works once, within a day. For 72 hours after its use the person
can give nobody else their rights: whoever used it may have been someone else.`
}

func (peopleLinkCmd) Examples() string { return "  beacon people link Ada\n" }

// Run prints an address.
func (c peopleLinkCmd) Run(out *console) error {
	base, err := c.base()
	if err != nil {
		return err
	}
	return c.find(out, func(db *store.DB, person beacon.PersonID) error {
		made, err := peopleOf(db).MakeLink(out.ctx, asAdmin(), people.Membership{Person: person})
		if err == nil {
			_, err = fmt.Fprintln(out.stdout, base+"/#/enter/"+made.Token)
		}
		return err
	})
}

type peopleSuspendCmd struct{ onePerson }

func (peopleSuspendCmd) Examples() string { return "  beacon people suspend Ada\n" }

// Run suspends a person.
func (c peopleSuspendCmd) Run(out *console) error { return c.suspend(out, true) }

type peopleRestoreCmd struct{ onePerson }

func (peopleRestoreCmd) Examples() string { return "  beacon people restore Ada\n" }

// Run restores a person.
func (c peopleRestoreCmd) Run(out *console) error { return c.suspend(out, false) }

func (c onePerson) suspend(out *console, suspend bool) error {
	return c.find(out, func(db *store.DB, person beacon.PersonID) error {
		_, err := peopleOf(db).Decide(out.ctx, asAdmin(), people.Decision{Person: person, Suspended: beacon.Some(suspend)})
		return err
	})
}

type peopleExportCmd struct{ onePerson }

func (peopleExportCmd) Examples() string { return "  beacon people export Ada > ada.jsonl\n" }

// Run prints the person, where they are signed in, and their passkeys, one record a line.
func (c peopleExportCmd) Run(out *console) error {
	return c.find(out, func(db *store.DB, person beacon.PersonID) error {
		me, err := peopleOf(db).Get(out.ctx, asAdmin(), person)
		if err != nil {
			return err
		}
		records := []any{peopleapi.ShowPerson(me)}
		sessions, err := db.People.Sessions(out.ctx, person, peopleAtOnce)
		if err != nil {
			return err
		}
		for _, s := range sessions {
			records = append(records, peopleapi.ShowSession(s, ""))
		}
		passkeys, err := db.People.Passkeys(out.ctx, person)
		if err != nil {
			return err
		}
		for _, k := range passkeys {
			records = append(records, peopleapi.ShowPasskey(k))
		}
		for _, record := range records {
			if err := out.printJSON(record); err != nil {
				return err
			}
		}
		return nil
	})
}

type peopleEraseCmd struct{ onePerson }

func (peopleEraseCmd) Examples() string { return "  beacon people erase Ada\n" }

// Run erases a person.
func (c peopleEraseCmd) Run(out *console) error {
	return c.find(out, func(db *store.DB, person beacon.PersonID) error {
		_, err := peopleOf(db).Erase(out.ctx, asAdmin(), person)
		return err
	})
}
