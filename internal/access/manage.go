package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// NewUser stands for a user who does not exist yet (decision C2).
const NewUser = "new"

// Creation asks for a key. Without a user the key is for the caller's own.
type Creation struct {
	User      beacon.Opt[string] // "usr_…" or NewUser
	Name      beacon.Opt[string]
	Scopes    beacon.Opt[[]string]
	ExpiresAt beacon.Opt[time.Time]

	// Without origins or addresses, the key has those of the key that creates it.
	Origins     beacon.Opt[[]string]
	Addresses   beacon.Opt[[]string]
	Publishable beacon.Opt[bool]

	// Of an enrolment key.
	MaxEnrolments beacon.Opt[float64]
	Hotspots      beacon.Opt[[]string]
	MayRegister   beacon.Opt[bool]
}

// Created is a new key and its text, which is never shown again.
type Created struct {
	Key   beacon.Key
	Plain string
}

// Create makes a key for the principal's own user, or for any user if the principal
// is an admin. It grants no scope that the principal lacks (decision N23).
func (k *Keys) Create(ctx context.Context, p beacon.Principal, in Creation) (Created, error) {
	now := k.now()
	wanted, err := in.validate(p, now)
	if err != nil {
		return Created{}, err
	}
	fresh := wanted.User == NewUser && p.MayActFor("")
	if fresh {
		wanted.User = beacon.UserID(id.New(beacon.UserPrefix, now))
	}
	if !p.MayActFor(wanted.User) {
		return Created{}, forbidden("this key can create keys for its own user only")
	}
	if lacking := slices.DeleteFunc(slices.Clone(wanted.Scopes), func(s beacon.Scope) bool { return p.MayGrant(s, wanted.User, fresh) }); len(lacking) > 0 {
		return Created{}, forbidden("this key cannot grant what it lacks: " + list(lacking))
	}
	if len(wanted.Scopes) > 0 {
		if err := cmp.Or(p.CheckFresh(now), p.CheckNotFrozen(now)); err != nil {
			return Created{}, err
		}
	}
	if held := p.Restrictions; held != nil {
		if len(wanted.Restrictions.Origins) == 0 {
			wanted.Restrictions.Origins = held.Origins
		}
		if len(wanted.Restrictions.Addresses) == 0 {
			wanted.Restrictions.Addresses = held.Addresses
		}
		if !wanted.Restrictions.Within(held) {
			return Created{}, forbidden("this key cannot create a key for other origins or addresses than its own")
		}
	}
	wanted.CreatedBy = p.Person
	key, plain := Mint(now, wanted)
	made := Created{Key: key, Plain: plain}
	if err := Keep(p.Once, made, string(key.ID)); err != nil {
		return Created{}, err
	}
	generation := k.cache.generation()
	err = k.store.InsertKey(ctx, key, p.CountedActor(now), func(has beacon.Holding) error {
		switch {
		case has.Erased:
			return &beacon.Error{Kind: beacon.Conflict, Message: "this user was erased: create the key for a new user"}
		case p.Limited() && has.Keys >= has.Quota:
			return forbidden(fmt.Sprintf("you have %d keys, the most allowed: revoke some, or ask staff for a higher quota", has.Keys))
		case has.Foreign != "":
			var f beacon.Faults
			f.Add("hotspots", "must be hotspots of the key's user; "+string(has.Foreign)+" is none")
			return f.Err()
		}
		return nil
	})
	if err != nil {
		return Created{}, beacon.WordExhausted(err)
	}
	k.cache.keep(key, now, generation)
	k.Created(key.ID) // also where it could not be kept
	return made, nil
}

// Validate returns all the faults of the form, independent of the sender.
func (in Creation) Validate(now time.Time) error {
	_, err := in.validate(beacon.Principal{User: NewUser}, now)
	return err
}

// validate checks the form only; Create checks the permissions.
func (in Creation) validate(p beacon.Principal, now time.Time) (wanted beacon.Key, err error) {
	var f beacon.Faults
	if !in.User.Set && p.User != "" { // the command line acts for no user
		in.User = beacon.Some(string(p.User))
	}
	if user, ok := beacon.Required(in.User, "user_id", &f); ok {
		if user != NewUser && !id.Valid(beacon.UserPrefix, user) {
			f.Add("user_id", "must be a user id (usr_…) or new")
		}
		wanted.User = beacon.UserID(user)
	}
	if name, ok := beacon.Optional(in.Name, "name", &f); ok {
		wanted.Name, err = beacon.CleanKeyName(name)
		f.Check("name", err)
	}
	if names, ok := beacon.Required(in.Scopes, "scopes", &f); ok {
		wanted.Scopes, err = beacon.ParseScopes(names)
		f.Check("scopes", err)
	}
	if at, ok := beacon.Optional(in.ExpiresAt, "expires_at", &f); ok {
		if !at.After(now) {
			f.Add("expires_at", "must be in the future")
		}
		wanted.ExpiresAt = at.UTC()
	}
	in.validateRestrictions(&wanted, &f)
	if slices.Contains(wanted.Scopes, beacon.DevicesEnrol) {
		in.validateEnrolment(&wanted, now, &f)
	} else {
		in.refuseEnrolment(&f)
	}
	return wanted, f.Err()
}

func (in Creation) validateRestrictions(wanted *beacon.Key, f *beacon.Faults) {
	r := &wanted.Restrictions
	var err error
	if texts, ok := beacon.Optional(in.Origins, "origins", f); ok {
		r.Origins, err = beacon.ParseOrigins(texts)
		f.Check("origins", err)
	}
	if texts, ok := beacon.Optional(in.Addresses, "addresses", f); ok {
		r.Addresses, err = beacon.ParseAddresses(texts)
		f.Check("addresses", err)
	}
	if publishable, ok := beacon.Optional(in.Publishable, "publishable", f); ok && publishable {
		r.Publishable = true
		if len(wanted.Scopes) > 0 {
			f.Add("scopes", "must be empty for a publishable key, which may only read what is public")
		}
	}
}

// Listing asks for the keys of a user. Without a user it asks for the caller's own,
// or for everyone's if the caller is an admin.
type Listing struct {
	User beacon.UserID
	Page beacon.Page
}

// List returns keys, newest first, including revoked ones. Another user's keys are
// forbidden whether or not that user exists.
func (k *Keys) List(ctx context.Context, p beacon.Principal, in Listing) (beacon.Listed[beacon.Key], error) {
	user, list := in.User, beacon.Listed[beacon.Key]{Page: in.Page}
	if user == "" && !p.MayActFor("") {
		user = p.User
	}
	if !p.MayActFor(user) {
		return list, forbidden("this key can list the keys of its own user only")
	}
	var after beacon.KeyPlace
	var err error
	if in.Page.After != "" {
		if after, err = beacon.ParseKeyPlace(in.Page.After); err != nil {
			return list, err
		}
	}
	list.Items, list.Total, err = k.store.Keys(ctx, user, after, in.Page.Offset(), in.Page.Size)
	return list, err
}

// Revoke revokes a key of the principal's own user, or any key if the principal is an
// admin. Someone else's key is reported as not found, like one that does not exist.
func (k *Keys) Revoke(ctx context.Context, p beacon.Principal, key beacon.KeyID) (struct{}, error) {
	unknown := beacon.NoSuch("key")
	if !id.Valid(beacon.KeyPrefix, string(key)) {
		return struct{}{}, unknown
	}
	held, err := k.store.Key(ctx, key)
	if beacon.KindOf(err) == beacon.NotFound || err == nil && !p.MayActFor(held.User) {
		return struct{}{}, unknown
	}
	if err != nil {
		return struct{}{}, err
	}
	err = k.store.RevokeKey(ctx, key, k.now(), p.Actor())
	k.Forget(key) // even on an error: a failed commit may have been one
	return struct{}{}, beacon.WordNoSuch(err, "key")
}

// Self returns the key of the principal. It needs no database if the key is cached,
// as it is right after Verify.
func (k *Keys) Self(ctx context.Context, p beacon.Principal, _ struct{}) (beacon.Key, error) {
	if p.Person != "" {
		return beacon.Key{}, forbidden("this is about the key of a request, and a person has none: see GET /v1/people/me")
	}
	if id.Valid(beacon.KeyPrefix, string(p.Key)) {
		if e := k.cache.get(publicPart(p.Key)); e != nil {
			return e.current(), nil
		}
	}
	key, err := k.store.Key(ctx, p.Key)
	return key, beacon.WordNoSuch(err, "key")
}

func forbidden(message string) error {
	return &beacon.Error{Kind: beacon.Forbidden, Message: message}
}

func list(scopes []beacon.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
