package people

import (
	"context"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Members returns who the members of an account are.
func (pp *People) Members(ctx context.Context, p beacon.Principal, account beacon.UserID) (*beacon.Roster, error) {
	account, err := resolve(p, account)
	if err == nil {
		err = checkAccount(account)
	}
	if err != nil {
		return nil, err
	}
	return pp.store.Roster(ctx, account)
}

func checkAccount(account beacon.UserID) error {
	if !id.Valid(beacon.UserPrefix, string(account)) {
		return beacon.NoSuch("user")
	}
	return nil
}

// Naming gives an account a name.
type Naming struct {
	Account beacon.UserID
	Name    beacon.Opt[string]
}

// Validate returns all the faults of the form.
func (in Naming) Validate() error {
	var f beacon.Faults
	if name, ok := beacon.Required(in.Name, "name", &f); ok {
		_, err := beacon.CleanKeyName(name)
		f.Check("name", err)
	}
	return f.Err()
}

// NameAccount gives an account a name, which its members and staff see.
func (pp *People) NameAccount(ctx context.Context, p beacon.Principal, in Naming) (*beacon.Roster, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	account, err := resolve(p, in.Account)
	if err == nil {
		err = checkAccount(account)
	}
	if err != nil {
		return nil, err
	}
	name, _ := beacon.CleanKeyName(in.Name.V)
	err = pp.edit(ctx, p, beacon.PeopleSight{Accounts: []beacon.UserID{account}}, func(e *beacon.PeopleEdit) error {
		if !stands(p, e, account).role.MayGive(beacon.Viewer) {
			return errNotGiven
		}
		if e.Rosters[account].Name == name {
			return nil
		}
		e.Write.Names = map[beacon.UserID]string{account: name}
		e.Write.Changes = []beacon.Change{pp.change(beacon.AccountNamed, string(account), p.Actor())}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pp.store.Roster(ctx, account)
}

// edit edits people as a principal does, who can do so a number of times a day.
func (pp *People) edit(ctx context.Context, p beacon.Principal, sight beacon.PeopleSight, edit func(*beacon.PeopleEdit) error) error {
	return pp.editBy(ctx, p, p.CountedActor(pp.now()), sight, edit)
}

func (pp *People) editBy(ctx context.Context, p beacon.Principal, by beacon.Actor, sight beacon.PeopleSight, edit func(*beacon.PeopleEdit) error) error {
	sight.Actor = p.Person
	var touched []beacon.PersonID
	var revoked []beacon.KeyID
	err := pp.store.EditPeople(ctx, by, sight, func(e *beacon.PeopleEdit) error {
		touched = touched[:0]
		if err := edit(e); err != nil {
			return err
		}
		for _, c := range e.Write.Changes {
			if c.Kind.OfPerson() {
				touched = append(touched, beacon.PersonID(c.Target))
			}
		}
		if pp.keys != nil {
			revoked = e.Write.RevokeKeys
		}
		return nil
	})
	err = beacon.WordExhausted(err)
	if err == nil {
		for _, person := range touched { // here at once; other servers follow
			pp.sessions.Forget(person)
		}
		for _, key := range revoked {
			pp.keys.Forget(key)
		}
	}
	return err
}

// MemberChange is a merge patch of a membership.
type MemberChange struct {
	Account  beacon.UserID
	Person   beacon.PersonID
	Role     beacon.Opt[string]
	Hotspots beacon.Opt[[]string]
}

// Validate returns all the faults of the form.
func (in MemberChange) Validate() error {
	var f beacon.Faults
	if role, ok := beacon.Optional(in.Role, "role", &f); ok {
		_, err := beacon.ParseRole(role)
		f.Check("role", err)
	}
	if ids, ok := beacon.Optional(in.Hotspots, "hotspots", &f); ok {
		_, err := parseHotspots(ids)
		f.Check("hotspots", err)
	}
	return f.Err()
}

// maxAssigned is how many hotspots can be assigned to an installer.
const maxAssigned = 200

func parseHotspots(ids []string) (all []beacon.HotspotID, err error) {
	if len(ids) > maxAssigned {
		return nil, fmt.Errorf("must be at most %d", maxAssigned)
	}
	for _, one := range ids {
		if !id.Valid(beacon.HotspotPrefix, one) {
			return nil, fmt.Errorf("must be ids of hotspots (hs_…); %.40q is none", one)
		}
		all = append(all, beacon.HotspotID(one))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// ChangeMember changes the role of a member, or which hotspots are assigned to them.
func (pp *People) ChangeMember(ctx context.Context, p beacon.Principal, in MemberChange) (*beacon.Roster, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	account, err := resolve(p, in.Account)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Person == p.Person && p.Person != "" || in.Person == beacon.Me:
		return nil, errYourself
	case !id.Valid(beacon.PersonPrefix, string(in.Person)): // PostgreSQL takes no byte 0
		return nil, errMember
	}
	err = pp.edit(ctx, p, beacon.PeopleSight{Accounts: []beacon.UserID{account}, KeysBy: in.Person}, func(e *beacon.PeopleEdit) error {
		return pp.changeMember(p, in, account, e)
	})
	if err != nil {
		return nil, err
	}
	return pp.store.Roster(ctx, account)
}

func (pp *People) changeMember(p beacon.Principal, in MemberChange, account beacon.UserID, e *beacon.PeopleEdit) error {
	roster, by := e.Rosters[account], stands(p, e, account)
	member := roster.Of(in.Person)
	if !by.role.MayGive(beacon.Viewer) {
		return errNotGiven
	}
	if member == nil {
		return errMember
	}
	is := member.Membership
	if in.Role.Set {
		is.Role = beacon.Role(in.Role.V)
	}
	if in.Hotspots.Set {
		is.Hotspots, _ = parseHotspots(in.Hotspots.V)
	}
	if is.Role != beacon.Installer {
		if in.Hotspots.Set && len(is.Hotspots) > 0 {
			return errAssigned
		}
		is.Hotspots = nil
	}
	for _, touched := range []*beacon.Membership{&member.Membership, &is} {
		if err := by.mayGive(touched); err != nil {
			return err
		}
	}
	if is.Role != member.Role {
		if err := p.CheckNotFrozen(pp.now()); err != nil {
			return err
		}
		if err := mayMakeLeaders(p, pp.now(), &member.Membership, &is); err != nil {
			return err
		}
		if member.Leads() && !roster.Leads(in.Person) {
			return errLast
		}
	}
	if is.Role == member.Role && slices.Equal(is.Hotspots, member.Hotspots) {
		return nil
	}
	e.Write.Memberships = []beacon.Membership{is}
	e.Write.Changes = []beacon.Change{pp.change(beacon.MemberChanged, string(in.Person), p.Actor(), noted(&is))}
	revokeGiven(pp, e, p.Actor(), roster.Invites, in.Person, standing{role: is.Role})
	if is.Role != member.Role {
		revokeKeys(pp, p.Actor(), e, func(k *beacon.Key) bool { return k.User == roster.Account })
	}
	return nil
}

var (
	errMember   = beacon.NoSuch("member")
	errAssigned = &beacon.Error{Kind: beacon.InvalidRequest, Message: "hotspots are assigned to installers only", Fields: []beacon.FieldError{{Field: "hotspots", Message: "are assigned to installers only"}}}
)

// Membership names a member.
type Membership struct {
	Account beacon.UserID
	Person  beacon.PersonID
}

// RemoveMember removes a member from an account. Anyone may leave.
func (pp *People) RemoveMember(ctx context.Context, p beacon.Principal, in Membership) (struct{}, error) {
	account, err := resolve(p, in.Account)
	if err != nil {
		return struct{}{}, err
	}
	if in.Person == beacon.Me {
		if in.Person = p.Person; in.Person == "" {
			return struct{}{}, errNoPerson
		}
	} else if !id.Valid(beacon.PersonPrefix, string(in.Person)) {
		return struct{}{}, errMember
	}
	actor := p.CountedActor(pp.now())
	if in.Person == p.Person { // leaving is always possible
		actor = p.Actor()
	}
	return struct{}{}, pp.editBy(ctx, p, actor, beacon.PeopleSight{Accounts: []beacon.UserID{account}, KeysBy: in.Person}, func(e *beacon.PeopleEdit) error {
		roster := e.Rosters[account]
		member := roster.Of(in.Person)
		by := stands(p, e, account)
		if in.Person != p.Person || p.Person == "" {
			switch {
			case !by.role.MayGive(beacon.Viewer):
				return errNotGiven
			case member == nil:
				return errMember
			}
			if err := by.mayGive(&member.Membership); err != nil {
				return err
			}
			if err := mayMakeLeaders(p, pp.now(), &member.Membership); err != nil {
				return err
			}
		}
		if member == nil {
			return errMember
		}
		if member.Leads() && !roster.Leads(in.Person) {
			return errLast
		}
		e.Write.Leaving, e.Write.DropMade = []beacon.Membership{member.Membership}, in.Person
		e.Write.Changes = []beacon.Change{pp.change(beacon.MemberRemoved, string(in.Person), p.Actor(), noted(&member.Membership))}
		revokeGiven(pp, e, p.Actor(), roster.Invites, in.Person, standing{})
		revokeKeys(pp, p.Actor(), e, func(k *beacon.Key) bool { return k.User == account })
		return nil
	})
}
