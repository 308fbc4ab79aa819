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

// Principal is who a request acts for: the holder of a verified key. Scopes may be
// shared with other requests and must not be changed.
type Principal struct {
	Key     KeyID
	User    UserID
	Scopes  []Scope
	Request string // the id of the current request, "cli" for the command line

	Restrictions *Restrictions // of the key; nil: none

	Once *Once // the current request, if it may be repeated
}

// Has reports whether the principal may do what the scope permits. Admin may
// do everything (decision N6).
func (p Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// MayGrant reports whether the principal may create a key with the scope: one that it has. A
// key that may link the devices of its user one by one may let them enrol.
func (p Principal) MayGrant(s Scope) bool {
	return p.Has(s) || s == DevicesEnrol && p.Has(HotspotsWrite)
}

// Enrols reports whether the key is an enrolment key, which may do nothing else.
func (p Principal) Enrols() bool { return slices.Contains(p.Scopes, DevicesEnrol) }

// MayActFor reports whether the principal may read and change what belongs to the
// user: their own, or anyone's for Admin.
//
// A publishable key does not act for its user: anyone may have read it in a web page. Nor
// does an enrolment key, which is on many devices.
func (p Principal) MayActFor(user UserID) bool {
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
func (p Principal) Limited() bool { return !p.Has(HotspotsVerify) }

// Actor returns the principal as a change records it (decision X10).
func (p Principal) Actor() Actor {
	return Actor{Key: p.Key, User: p.User, Request: p.Request, Once: p.Once}
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

// InForce reports whether the key is valid at now. From the very moment of its expiry
// it is not.
func (k Key) InForce(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}
