package beacon

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// KeyID identifies an API key: "key_" and 26 characters. It is public; the secret is
// not.
type KeyID string

// Scope is a permission that a key carries (decision N6).
type Scope string

// The scopes of the network interface.
const (
	HotspotsWrite  Scope = "hotspots:write"
	HotspotsVerify Scope = "hotspots:verify"
	RewardsRead    Scope = "rewards:read"
	CheckInsWrite  Scope = "checkins:write"
	DevicesEnrol   Scope = "devices:enrol" // always alone: see Enrolment
	KeysManage     Scope = "keys:manage"
	Admin          Scope = "admin" // everything, for any user
)

// Scopes returns all scopes, in the order in which keys list them.
func Scopes() []Scope {
	return []Scope{HotspotsWrite, HotspotsVerify, RewardsRead, CheckInsWrite, DevicesEnrol, KeysManage, Admin}
}

// Valid reports whether the scope exists.
func (s Scope) Valid() bool { return slices.Contains(Scopes(), s) }

// ParseScopes reads the names of scopes and returns the scopes in their usual order,
// each once. No names at all are valid: such a key may read what any key may.
func ParseScopes(names []string) ([]Scope, error) {
	for _, name := range names {
		if !Scope(name).Valid() {
			return nil, fmt.Errorf("must be known scopes; %.40q is none of %s", name, scopeNames())
		}
	}
	return slices.DeleteFunc(Scopes(), func(s Scope) bool { return !slices.Contains(names, string(s)) }), nil
}

func scopeNames() string {
	var names []string
	for _, s := range Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// Principal is who a request acts for: the holder of a verified key, or a person who is
// signed in. Its slices may be shared with other requests and must not be changed.
type Principal struct {
	Key     KeyID
	User    UserID // the account that it acts for; may be empty for a person
	Scopes  []Scope
	Request string // the id of the current request, "cli" for the command line

	// Of a person, who has no key and no scopes.
	Person   PersonID
	Role     Role // in the account; empty: none
	Posts    []Post
	Assigned []HotspotID // to an installer
	Signed   *Signed
	needs    Permission // what the current request asks for; see For
	at       bool       // it is about a hotspot that is assigned; see At

	Restrictions *Restrictions // of the key; nil: none

	Once *Once // the current request, if it may be repeated
}

// Has reports whether the principal may do what the scope permits. Admin may
// do everything (decision N6).
func (p Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// MayGrant reports whether the principal may create a key of a user with the scope: one that
// it has. A key that may link the devices of its user one by one may let them enrol.
//
// People may grant what they may do themselves: owners and managers of the user what is for
// an account, holders of a post what the post is for. A user that is new has no hotspots yet.
func (p Principal) MayGrant(s Scope, user UserID, fresh bool) bool {
	if p.Person == "" {
		return p.Has(s) || s == DevicesEnrol && p.Has(HotspotsWrite)
	}
	own := fresh || user == p.User && (p.Role == Owner || p.Role == Manager)
	switch s {
	case HotspotsWrite, RewardsRead, DevicesEnrol:
		return own
	case KeysManage:
		return fresh || own && p.Role == Owner // it can also erase the user
	case HotspotsVerify:
		return p.holds(Verifier, Treasurer)
	case CheckInsWrite:
		return p.holds(AdminPost)
	case Admin:
		return p.holds(AdminPost, Verifier, Treasurer)
	}
	return false
}

// holds reports whether a person has all of some posts.
func (p Principal) holds(all ...Post) bool {
	return !slices.ContainsFunc(all, func(one Post) bool { return !slices.Contains(p.Posts, one) })
}

// For returns the principal for a request that needs a permission.
func (p Principal) For(needs Permission) Principal {
	p.needs = needs
	return p
}

// At returns the principal for what is about a hotspot. Installers may act for those that are
// assigned to them, and for no other.
func (p Principal) At(h HotspotID) Principal {
	p.at = p.Role == Installer && slices.Contains(p.Assigned, h)
	return p
}

// May reports whether the principal has a permission, be it only for their own account.
func (p Principal) May(needs Permission) bool {
	g := needs.grant()
	if p.Person == "" {
		return g.Anyone || p.Has(g.Scope)
	}
	return g.Anyone || g.byRole(p.Role) || g.byPost(p.Posts)
}

// Refusal returns the error for a principal without a permission, or nil.
func (p Principal) Refusal(needs Permission) error {
	switch g := needs.grant(); {
	case p.May(needs):
		return nil
	case p.Person == "":
		return &Error{Kind: Forbidden, Message: fmt.Sprintf("this needs a key with the scope %s", g.Scope)}
	default:
		return &Error{Kind: Forbidden, Message: "this needs someone who may " + g.May + ": " + g.holders()}
	}
}

// holders says who has a permission.
func (g *Grant) holders() string {
	var who []string
	for _, r := range g.Roles {
		who = append(who, "an "+string(r)+" of the account")
	}
	for _, post := range g.Posts {
		who = append(who, "a person with the post "+string(post))
	}
	if len(who) == 0 {
		return "a key with the scope " + string(g.Scope)
	}
	return strings.ReplaceAll(strings.Join(who, ", or "), "an m", "a m")
}

// Enrols reports whether the key is an enrolment key, which may do nothing else.
func (p Principal) Enrols() bool { return slices.Contains(p.Scopes, DevicesEnrol) }

// MayActFor reports whether the principal may read and change what belongs to the
// user: their own, or anyone's for Admin.
//
// A person may do so as far as their role in the account, or a post, lets them do what the
// current request needs.
//
// A publishable key does not act for its user: anyone may have read it in a web page. Nor
// does an enrolment key, which is on many devices.
func (p Principal) MayActFor(user UserID) bool {
	if p.Person != "" {
		g := p.needs.grant()
		return g.byPost(p.Posts) || user != "" && user == p.User && g.byRole(p.Role) && (p.Role != Installer || p.at)
	}
	return p.Has(Admin) || user != "" && user == p.User && !p.Publishable() && !p.Enrols()
}

// Me stands for the principal's own user in place of an id.
const Me = "me"

var errNotYours = &Error{Kind: Forbidden, Message: "this belongs to another user"}

// Resolve returns the user that an id stands for: Me is the principal's own. It returns
// Forbidden for a user that the principal may not act for, whether or not that user exists
// (decision N6).
func (p Principal) Resolve(user UserID) (UserID, error) {
	if user == Me {
		user = p.User
	}
	if !p.MayActFor(user) {
		return "", errNotYours
	}
	return user, nil
}

// Publishable reports whether the key is for everyone to see.
func (p Principal) Publishable() bool { return p.Restrictions != nil && p.Restrictions.Publishable }

// Limited reports whether quotas apply: not to staff, and what they import.
func (p Principal) Limited() bool { return !p.May(RecordVisits) }

// Sender returns whose requests are counted, and of which user: a key's, or a person's.
func (p Principal) Sender() (KeyID, UserID) {
	if p.Person != "" {
		return KeyID(p.Person), UserID(p.Person)
	}
	return p.Key, p.User
}

// Actor returns the principal as a change records it (decision X10).
func (p Principal) Actor() Actor {
	return Actor{Key: p.Key, User: p.User, Person: p.Person, Request: p.Request, Once: p.Once}
}

// Invitation lets the holder of a token create the first key of a network (decision D170).
// The token itself is shown once and never stored.
type Invitation struct {
	Hash  [sha256.Size]byte // of the token
	Until time.Time         // zero: there is none
}

// CountedActor is Actor for what can be repeated without end: unless the principal is
// staff, it counts toward what a user may do in a day.
func (p Principal) CountedActor(now time.Time) Actor {
	by := p.Actor()
	if p.Limited() {
		by.CountedAt = now
	}
	return by
}

// Key is an API key as stored in the database. The secret itself is shown once and
// never stored (decision N23).
type Key struct {
	ID         KeyID
	User       UserID
	Name       string
	Scopes     []Scope
	SecretHash [sha256.Size]byte
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never used; kept to the minute

	CreatedBy PersonID // who was signed in when it was made; empty: nobody

	Restrictions Restrictions
	Enrolment    Enrolment
	Enrolled     int // devices linked with it
}

// Holding is what the user of a new key has, and may have.
type Holding struct {
	Keys, Quota int       // in force
	Erased      bool      // the user is erased, or being so
	Foreign     HotspotID // the first hotspot of the key's Enrolment that is not the user's, if any
}

// Principal returns who acts with the key.
func (k *Key) Principal() Principal {
	p := Principal{Key: k.ID, User: k.User, Scopes: k.Scopes}
	if k.Restrictions.Any() {
		p.Restrictions = &k.Restrictions
	}
	return p
}

// InForce reports whether the key is valid at now. From the very moment of its expiry
// it is not.
func (k Key) InForce(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}
