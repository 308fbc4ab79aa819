package people

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var (
	errNobody = &beacon.Error{Kind: beacon.Forbidden, Message: "nobody here signs in like this yet: ask for an invitation and open its link first, or sign in another way and link this one under your name"}
	errTaken  = &beacon.Error{Kind: beacon.Conflict, Message: "somebody else here signs in like this; sign out at the identity provider to use another account there"}
)

// Arrival is someone whom a provider has identified, and what they began with.
type Arrival struct {
	Ticket     [sha256.Size]byte
	Identity   beacon.OIDCIdentity
	Name       string // as the provider has it
	Language   string
	Invitation *[sha256.Size]byte // the hash of its token; nil: none
	Posts      []beacon.Post      // of their groups
	Managed    []beacon.Post      // that groups decide about; others stay as they were given
	Device     string
}

// HashToken returns the hash of a token, to be kept in its place.
func HashToken(token string) (hash [sha256.Size]byte, ok bool) { return hashToken(token) }

// Arrive signs in the person whose identity it is. Someone new gets in with an invitation, or
// where anyone may sign up.
func (pp *People) Arrive(ctx context.Context, p beacon.Principal, in Arrival) (SignedIn, error) {
	p = beacon.Principal{Request: p.Request} // of nobody, also if someone is signed in
	runes := []rune(in.Name)
	name, err := cleanName(string(runes[:min(len(runes), beacon.MaxName)]))
	if err != nil {
		name = "?" // what a provider says is no fault of theirs; they can change it
	}
	fresh := &beacon.Seated{Person: newPerson(pp.now(), name, in.Language)}
	sight := beacon.PeopleSight{Ticket: &in.Ticket, Identity: &in.Identity, InviteToken: in.Invitation}
	if len(in.Managed) > 0 {
		sight.Accounts, sight.Seats = []beacon.UserID{""}, true
	}
	return pp.enter(ctx, p, door{sight: sight, door: beacon.ByOIDC, device: in.Device, stale: true, check: func(e *beacon.PeopleEdit) error {
		if err := pp.useTicket(e, beacon.OIDCTicket); err != nil {
			return err
		}
		if err := pp.admit(p, e, in, fresh); err != nil {
			return err
		}
		if len(in.Managed) == 0 || !e.Person.Active() {
			return nil
		}
		return pp.followGroups(p, e, in)
	}})
}

// admit finds out who arrives, or lets them become someone.
func (pp *People) admit(p beacon.Principal, e *beacon.PeopleEdit, in Arrival, fresh *beacon.Seated) error {
	known := e.Person != nil
	switch {
	case known && in.Invitation != nil:
		if err := pp.join(p, e, *in.Invitation, nil); err != nil && !errors.Is(err, errAlready) {
			return err
		}
	case known:
	case in.Invitation != nil:
		if err := pp.join(p, e, *in.Invitation, fresh); err != nil {
			return err
		}
	case pp.signUp == SignUpOpen:
		pp.settle(p, e, fresh, "", false)
	default:
		return errNobody
	}
	if !known {
		in.Identity.Person = fresh.ID
		e.Write.Identities = []beacon.OIDCIdentity{in.Identity}
	}
	return nil
}

// followGroups gives a person the posts of their groups, and takes those of groups that they
// are no longer in. The last admin stays one.
func (pp *People) followGroups(p beacon.Principal, e *beacon.PeopleEdit, in Arrival) error {
	was := beacon.Membership{Person: e.Person.ID, Since: pp.now()}
	if held := e.Person.In(""); held != nil {
		was = *held
	}
	is := was
	is.Posts = slices.DeleteFunc(beacon.Posts(), func(post beacon.Post) bool {
		if slices.Contains(in.Managed, post) {
			return !slices.Contains(in.Posts, post) && (post != beacon.AdminPost || !was.Leads() || e.Rosters[""].Leads(e.Person.ID))
		}
		return !slices.Contains(was.Posts, post)
	})
	if slices.Equal(was.Posts, is.Posts) {
		return nil
	}
	return pp.writePosts(actorOf(p, e.Person), e, was, is)
}

// LinkIdentity lets the person who is signed in sign in by an identity, too.
func (pp *People) LinkIdentity(ctx context.Context, p beacon.Principal, in Entry, identity beacon.OIDCIdentity) (Me, error) {
	in.Sight.Identity = &identity
	err := pp.Change(ctx, p, in, func(e *beacon.PeopleEdit) error {
		switch e.Holder {
		case p.Person: // already
		case "":
			identity.Person = p.Person
			e.Write.Identities = []beacon.OIDCIdentity{identity}
			e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "identity")}
		default:
			return errTaken
		}
		return nil
	})
	if err != nil {
		return Me{}, err
	}
	return pp.Me(ctx, p, struct{}{})
}

var (
	errLastDoor = &beacon.Error{Kind: beacon.Conflict, Message: "you could not sign in any more: add a passkey or make recovery codes first"}
	errOnlyDoor = &beacon.Error{Kind: beacon.Conflict, Message: "the last admin could not sign in any more: make someone else an admin first"}
	errNotThere = beacon.NoSuch("identity")
)

// Unlink makes a person sign in by the provider no more: the one who is signed in, who keeps
// another door, or, by an admin, someone else, who is signed out.
func Unlink(ctx context.Context, pp *People, p beacon.Principal, person beacon.PersonID) (struct{}, error) {
	unlink := func(e *beacon.PeopleEdit) error {
		if e.Person == nil || !e.Doors.OIDC {
			return errNotThere
		}
		e.Write.DropOIDC = true
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonChanged, string(e.Person.ID), p.Actor(), "identity dropped"))
		return nil
	}
	if person == "" || person == beacon.Me {
		if err := CheckFresh(p, pp.now()); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, pp.edit(ctx, p, beacon.PeopleSight{Person: p.Person}, func(e *beacon.PeopleEdit) error {
			if e.Doors.Passkeys+e.Doors.Codes == 0 && e.Doors.OIDC {
				return errLastDoor
			}
			return unlink(e)
		})
	}
	return struct{}{}, pp.editOther(ctx, p, person, func(e *beacon.PeopleEdit) error {
		for i := range e.Person.Memberships {
			if err := mayMakeLeaders(p, pp.now(), &e.Person.Memberships[i]); err != nil {
				return err
			}
		}
		if post := e.Person.In(""); post != nil && e.Doors.Passkeys+e.Doors.Codes == 0 && leadsElsewhere(e, *post) != nil {
			return errOnlyDoor
		}
		e.Write.End = &beacon.EndSessions{Person: person}
		return unlink(e)
	})
}

// CheckFresh returns an error for someone who is not signed in, or has not shown just now who they
// are.
func CheckFresh(p beacon.Principal, now time.Time) error {
	if p.Person == "" || p.Signed == nil {
		return errNoPerson
	}
	return p.CheckFresh(now)
}

// IsIdentity returns what refuses an identity that is not the principal's.
func IsIdentity(p beacon.Principal) func(*beacon.PeopleEdit) error {
	return func(e *beacon.PeopleEdit) error {
		if e.Holder != p.Person || p.Person == "" {
			return errTaken
		}
		return nil
	}
}
