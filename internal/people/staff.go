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
	return pp.edit(ctx, p, beacon.PeopleSight{Person: person, Accounts: []beacon.UserID{""}, Seats: true, KeysBy: person}, func(e *beacon.PeopleEdit) error {
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
	if err := mayMakeLeaders(p, pp.now(), &was, &is); err != nil {
		return err
	}
	if was.Leads() && !is.Leads() && !e.Rosters[""].Leads(e.Person.ID) {
		return errLast
	}
	return pp.writePosts(p.Actor(), e, was, is)
}

// writePosts writes what the posts of a person are in the place of what they were.
func (pp *People) writePosts(by beacon.Actor, e *beacon.PeopleEdit, was, is beacon.Membership) error {
	kind := beacon.MemberChanged
	switch {
	case len(is.Posts) == 0:
		kind, e.Write.Leaving = beacon.MemberRemoved, []beacon.Membership{was}
	case len(was.Posts) == 0:
		if len(e.Rosters[""].Members) >= beacon.ManyMembers {
			return errFull
		}
		kind = beacon.MemberAdded
		fallthrough
	default:
		e.Write.Memberships = append(e.Write.Memberships, is)
	}
	e.Write.Changes = append(e.Write.Changes, pp.change(kind, string(e.Person.ID), by, noted(&is)))
	if slices.ContainsFunc(was.Posts, func(post beacon.Post) bool { return !slices.Contains(is.Posts, post) }) {
		revokeKeys(pp, by, e, func(k *beacon.Key) bool { return byPost(k) || e.Person.In(k.User) == nil })
	}
	if was.Leads() && !is.Leads() {
		pp.revokeAll(by, e)
	}
	return nil
}

// byPost reports whether a key has a scope that only those with a post can give.
func byPost(k *beacon.Key) bool {
	return slices.ContainsFunc(k.Scopes, func(s beacon.Scope) bool {
		return s == beacon.HotspotsVerify || s == beacon.CheckInsWrite || s == beacon.Admin
	})
}

// revokeAll revokes what the person invited others to, by whatever right, and the links that
// they made.
func (pp *People) revokeAll(by beacon.Actor, e *beacon.PeopleEdit) {
	e.Write.DropMade = e.Person.ID
	if len(e.Write.Invites) == 0 {
		revokeGiven(pp, e, by, e.Given, e.Person.ID, standing{})
	}
}

// leadsElsewhere returns an error if one of some seats of the person is in an account, or in
// the network, that nobody else leads.
func leadsElsewhere(e *beacon.PeopleEdit, seats ...beacon.Membership) error {
	for i := range seats {
		if m := &seats[i]; m.Leads() && !e.Rosters[m.Account].Leads(e.Person.ID) {
			return errLast
		}
	}
	return nil
}

func (pp *People) suspend(p beacon.Principal, e *beacon.PeopleEdit, suspend bool) error {
	for i := range e.Person.Memberships {
		if err := mayMakeLeaders(p, pp.now(), &e.Person.Memberships[i]); err != nil {
			return err
		}
	}
	kind := beacon.PersonRestored
	if suspend {
		kind = beacon.PersonSuspended
		if post := e.Person.In(""); post != nil { // an account keeps a suspended owner: else nobody could stop one who is alone in it
			if err := leadsElsewhere(e, *post); err != nil {
				return err
			}
		}
		e.Person.SuspendedAt = pp.now()
		e.Write.End = &beacon.EndSessions{Person: e.Person.ID}
		e.Write.DropTickets = []beacon.TicketKind{beacon.LinkTicket}
		pp.revokeAll(p.Actor(), e)
		revokeKeys(pp, p.Actor(), e, func(*beacon.Key) bool { return true })
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
		if err := leadsElsewhere(e, e.Person.Memberships...); err != nil {
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
		pp.revokeAll(p.Actor(), e)
		revokeKeys(pp, p.Actor(), e, func(*beacon.Key) bool { return true })
		return nil
	})
}
