package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var (
	errEmpty = errors.New("must not be empty")
	errMail  = errors.New("must be a mail address such as ada@example.org")

	errNotYours = &beacon.Error{Kind: beacon.Forbidden, Message: "this belongs to another user"}
	errNotGiven = &beacon.Error{Kind: beacon.Forbidden, Message: "you can give and take what you may do yourself, and no more"}
	errYourself = &beacon.Error{Kind: beacon.Forbidden, Message: "nobody changes their own role or posts: ask another owner or admin"}
	errLast     = &beacon.Error{Kind: beacon.Conflict, Message: "this would leave an account without an owner, or the network without an admin: make someone else one first"}
	errFull     = &beacon.Error{Kind: beacon.Conflict, Message: fmt.Sprintf("there are %d members and invitations, the most there can be: remove some first", beacon.ManyMembers)}
	errAlready  = &beacon.Error{Kind: beacon.Conflict, Message: "you are a member already"}
)

// standing is what someone may do with the members of an account, or with posts.
type standing struct {
	role  beacon.Role
	posts bool              // gives any post
	key   *beacon.Principal // with which they act; nil: they are a person, or may do everything
}

// gives reports whether they may give a role, take it away, or sign in as someone who has it. A
// key gives no role that may do more than the key: its holder could take that role.
func (s standing) gives(r beacon.Role) bool {
	return s.role.MayGive(r) && (s.key == nil || s.key.Covers(r))
}

// stands returns the standing of a principal, as it is at the moment of the edit: what is
// known of a person here may be some seconds old.
func stands(p beacon.Principal, e *beacon.PeopleEdit, account beacon.UserID) (s standing) {
	if p.Person == "" {
		return keyStands(p, account)
	}
	if s = seatedStands(e.Actor, account); !s.posts && account != p.User {
		s = standing{}
	}
	return s
}

// seatedStands returns the standing of a person in an account.
func seatedStands(who *beacon.Seated, account beacon.UserID) (s standing) {
	if who == nil || !who.Active() {
		return s
	}
	if slices.Contains(who.Posts(), beacon.AdminPost) {
		return standing{role: beacon.Owner, posts: true}
	}
	if seat := who.In(account); seat != nil && account != "" {
		s.role = seat.Role
	}
	return s
}

// keyStands says what a key does among people: an owner's work if it may do all of it, else
// what a manager does who gives no role that may do more than the key.
func keyStands(p beacon.Principal, account beacon.UserID) standing {
	switch {
	case p.Has(beacon.Admin):
		return standing{role: beacon.Owner, posts: true}
	case account == "" || account != p.User || p.Publishable() || p.Enrols() || !p.Has(beacon.HotspotsWrite) || !p.Has(beacon.KeysManage):
		return standing{}
	case p.Covers(beacon.Owner):
		return standing{role: beacon.Owner}
	}
	return standing{role: beacon.Manager, key: &p}
}

// keyStill is keyStands for the key of the edit, by its id: one that is not in force may do nothing.
func keyStill(e *beacon.PeopleEdit, key beacon.KeyID, account beacon.UserID, now time.Time) standing {
	if e.Key == nil || e.Key.ID != key || !e.Key.InForce(now) {
		return standing{}
	}
	return keyStands(e.Key.Principal(), account)
}

// mayGive returns an error for who may not give a role or posts, or take them away.
func (s standing) mayGive(m *beacon.Membership) error {
	if m.Account == "" && s.posts || m.Account != "" && s.gives(m.Role) {
		return nil
	}
	return errNotGiven
}

// powerful reports whether it is of an owner or a manager, or of someone with a post: those who
// can make keys, and members or posts of others.
func powerful(m *beacon.Membership) bool {
	return m.Role.MayGive(beacon.Viewer) || len(m.Posts) > 0
}

// mayMakeLeaders returns an error for a person who may not now make or unmake owners, managers
// and people with posts.
func mayMakeLeaders(p beacon.Principal, now time.Time, touched ...*beacon.Membership) error {
	if !slices.ContainsFunc(touched, powerful) {
		return nil
	}
	if err := p.CheckFresh(now); err != nil {
		return err
	}
	return p.CheckNotFrozen(now)
}

// resolve returns the account that an id stands for, if the principal may see its members.
func resolve(p beacon.Principal, account beacon.UserID) (beacon.UserID, error) {
	if account == beacon.Me {
		account = p.User
	}
	member := p.Person != "" && account == p.User && p.Role != ""
	if account == "" || !p.MayActFor(account) && !member {
		return "", errNotYours
	}
	return account, checkAccount(account)
}

// revokeGiven revokes what someone invited others to and may no longer give, since they might
// accept it themselves.
func revokeGiven(pp *People, e *beacon.PeopleEdit, by beacon.Actor, open []beacon.Invite, person beacon.PersonID, now standing) {
	for _, invite := range open {
		if invite.CreatedBy != person || now.mayGive(&beacon.Membership{Account: invite.Account, Role: invite.Role}) == nil {
			continue
		}
		invite.RevokedAt = pp.now()
		e.Write.Invites = append(e.Write.Invites, invite)
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.InvitationRevoked, string(invite.ID), by, string(invite.Account)))
	}
}

// revokeKeys revokes keys that someone made who may do less from now on: with a key they could
// do what they no longer may, and take back what they were.
func revokeKeys(pp *People, by beacon.Actor, e *beacon.PeopleEdit, which func(*beacon.Key) bool) {
	e.Write.RevokedAt = pp.now()
	for i := range e.Keys {
		if k := &e.Keys[i]; which(k) {
			e.Write.RevokeKeys = append(e.Write.RevokeKeys, k.ID)
			e.Write.Changes = append(e.Write.Changes, pp.change(beacon.KeyRevoked, string(k.ID), by))
		}
	}
}

// noted writes a membership for the audit.
func noted(m *beacon.Membership) string {
	words := []string{string(m.Account), string(m.Role)}
	for _, post := range m.Posts {
		words = append(words, string(post))
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
