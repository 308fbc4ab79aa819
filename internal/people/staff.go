package people

import (
	"context"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Query asks for people whose name or mail address has a text.
type Query struct {
	Search string // as CleanSearch returns it
	Page   beacon.Page
}

// List returns people, for staff.
func (pp *People) List(ctx context.Context, _ beacon.Principal, q Query) (beacon.Listed[beacon.Seated], error) {
	list := beacon.Listed[beacon.Seated]{Page: q.Page}
	var err error
	list.Items, list.Total, err = pp.store.People(ctx, q.Search, beacon.PersonID(q.Page.After), q.Page.Offset(), q.Page.Size)
	return list, err
}

// Get returns a person, for staff.
func (pp *People) Get(ctx context.Context, _ beacon.Principal, person beacon.PersonID) (Me, error) {
	if !id.Valid(beacon.PersonPrefix, string(person)) {
		return Me{}, errPerson
	}
	return pp.show(ctx, person)
}

// Decision is a merge patch of what staff decide of a person.
type Decision struct {
	Person    beacon.PersonID
	Posts     beacon.Opt[[]string]
	Suspended beacon.Opt[bool]
}

// Validate returns all the faults of the form.
func (in Decision) Validate() error {
	var f beacon.Faults
	if names, ok := beacon.Optional(in.Posts, "posts", &f); ok {
		_, err := beacon.ParsePosts(names)
		f.Check("posts", err)
	}
	beacon.Optional(in.Suspended, "suspended", &f)
	return f.Err()
}

// Decide gives posts to a person or takes them away, suspends the person or restores them.
func (pp *People) Decide(ctx context.Context, p beacon.Principal, in Decision) (Me, error) {
	if err := in.Validate(); err != nil {
		return Me{}, err
	}
	err := pp.editOther(ctx, p, in.Person, func(e *beacon.PeopleEdit) error {
		if in.Posts.Set {
			posts, _ := beacon.ParsePosts(in.Posts.V)
			if err := pp.setPosts(p, e, posts); err != nil {
				return err
			}
		}
		if in.Suspended.Set && in.Suspended.V == e.Person.SuspendedAt.IsZero() {
			return pp.suspend(p, e, in.Suspended.V)
		}
		return nil
	})
	if err != nil {
		return Me{}, err
	}
	return pp.show(ctx, in.Person)
}

// editOther edits another person than the principal, as an admin.
func (pp *People) editOther(ctx context.Context, p beacon.Principal, person beacon.PersonID, edit func(*beacon.PeopleEdit) error) error {
	switch {
	case person == p.Person && p.Person != "" || person == beacon.Me:
		return errYourself
	case !id.Valid(beacon.PersonPrefix, string(person)):
		return errPerson
	}
	return pp.edit(ctx, p, beacon.PeopleSight{Person: person, Accounts: []beacon.UserID{""}, Seats: true}, func(e *beacon.PeopleEdit) error {
		if !stands(p, e, "").posts {
			return errNotGiven
		}
		if e.Person == nil || !e.Person.ErasedAt.IsZero() {
			return errPerson
		}
		return edit(e)
	})
}

func (pp *People) setPosts(p beacon.Principal, e *beacon.PeopleEdit, posts []beacon.Post) error {
	was := beacon.Membership{Person: e.Person.ID, Since: pp.now()}
	if held := e.Person.In(""); held != nil {
		was = *held
	}
	is := was
	is.Posts = posts
	if slices.Equal(was.Posts, is.Posts) {
		return nil
	}
	if was.Leads() != is.Leads() {
		if err := mayMakeLeaders(p, pp.now(), &was, &is); err != nil {
			return err
		}
		if was.Leads() && !e.Rosters[""].Leads(e.Person.ID) {
			return errLast
		}
	}
	kind := beacon.MemberChanged
	switch {
	case len(posts) == 0:
		kind, e.Write.Leaving = beacon.MemberRemoved, []beacon.Membership{was}
	case len(was.Posts) == 0:
		if len(e.Rosters[""].Members) >= beacon.ManyMembers {
			return errFull
		}
		kind = beacon.MemberAdded
		fallthrough
	default:
		e.Write.Memberships = []beacon.Membership{is}
	}
	e.Write.Changes = append(e.Write.Changes, pp.change(kind, string(e.Person.ID), p.Actor(), noted(&is)))
	if was.Leads() && !is.Leads() {
		pp.revokeAll(p, e)
	}
	return nil
}

// revokeAll revokes what the person invited others to, by whatever right.
func (pp *People) revokeAll(p beacon.Principal, e *beacon.PeopleEdit) {
	if len(e.Write.Invites) == 0 {
		pp.revokeGiven(e, p.Actor(), e.Given, e.Person.ID, standing{})
	}
}

// leadsElsewhere returns an error if an account, or the network, has nobody else who leads it.
func leadsElsewhere(e *beacon.PeopleEdit) error {
	for i := range e.Person.Memberships {
		if m := &e.Person.Memberships[i]; m.Leads() && e.Person.Active() && !e.Rosters[m.Account].Leads(e.Person.ID) {
			return errLast
		}
	}
	return nil
}

func (pp *People) suspend(p beacon.Principal, e *beacon.PeopleEdit, suspend bool) error {
	kind := beacon.PersonRestored
	if suspend {
		kind = beacon.PersonSuspended
		if err := leadsElsewhere(e); err != nil {
			return err
		}
		e.Person.SuspendedAt = pp.now()
		e.Write.End = &beacon.EndSessions{Person: e.Person.ID}
		e.Write.DropTickets = []beacon.TicketKind{beacon.LinkTicket}
		pp.revokeAll(p, e)
	} else {
		e.Person.SuspendedAt = time.Time{}
	}
	e.Write.People = []beacon.Person{e.Person.Person}
	e.Write.Changes = append(e.Write.Changes, pp.change(kind, string(e.Person.ID), p.Actor()))
	return nil
}

// Erase takes from a person all that is known of them. What they did stays in the audit, and
// the books of their accounts stay as they are.
func (pp *People) Erase(ctx context.Context, p beacon.Principal, person beacon.PersonID) (struct{}, error) {
	return struct{}{}, pp.editOther(ctx, p, person, func(e *beacon.PeopleEdit) error {
		if err := leadsElsewhere(e); err != nil {
			return err
		}
		for i := range e.Person.Memberships {
			if err := mayMakeLeaders(p, pp.now(), &e.Person.Memberships[i]); err != nil {
				return err
			}
		}
		e.Write.Leaving = e.Person.Memberships
		e.Write.People = []beacon.Person{{ID: e.Person.ID, CreatedAt: e.Person.CreatedAt, ErasedAt: pp.now()}}
		e.Write.End, e.Write.DropDoors = &beacon.EndSessions{Person: e.Person.ID}, true
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonErased, string(e.Person.ID), p.Actor())}
		pp.revokeAll(p, e)
		return nil
	})
}
