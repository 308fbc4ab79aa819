package people

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// How long an invitation lasts.
const (
	InvitedFor    = 7 // days
	maxInvitedFor = 30
	day           = 24 * time.Hour
)

// Invitation asks for an invitation: with a role to an account, with posts to the network, or
// to found an account.
type Invitation struct {
	Account     beacon.UserID // empty: one of the network
	Role        beacon.Opt[string]
	Hotspots    beacon.Opt[[]string]
	Posts       beacon.Opt[[]string]
	Found       beacon.Opt[string] // access.NewUser
	AccountName beacon.Opt[string]
	Days        beacon.Opt[float64]
	Mail        beacon.Opt[string]
}

// Validate returns all the faults of the form.
func (in Invitation) Validate() error {
	_, err := in.invite()
	return err
}

func (in Invitation) invite() (i beacon.Invite, err error) {
	var f beacon.Faults
	i.Account = in.Account
	if in.Account != "" {
		in.inviteMember(&i, &f)
	} else {
		in.inviteStaff(&i, &f)
	}
	days := float64(InvitedFor)
	if asked, ok := beacon.Optional(in.Days, "expires_in_days", &f); ok {
		if days = asked; days != float64(int(days)) || days < 1 || days > maxInvitedFor {
			f.Add("expires_in_days", "must be a whole number from 1 to 30")
			days = InvitedFor
		}
	}
	i.ExpiresAt = time.Time{}.Add(time.Duration(days) * day) // from now on: see Invite
	if address, ok := beacon.Optional(in.Mail, "mail", &f); ok {
		_, err := cleanMail(address)
		f.Check("mail", err)
	}
	return i, f.Err()
}

func (in Invitation) inviteMember(i *beacon.Invite, f *beacon.Faults) {
	var err error
	if role, ok := beacon.Required(in.Role, "role", f); ok {
		i.Role, err = beacon.ParseRole(role)
		f.Check("role", err)
	}
	if ids, ok := beacon.Optional(in.Hotspots, "hotspots", f); ok {
		i.Hotspots, err = parseHotspots(ids)
		f.Check("hotspots", err)
		if i.Role != beacon.Installer && len(ids) > 0 {
			f.Add("hotspots", "are assigned to installers only")
		}
	}
}

func (in Invitation) inviteStaff(i *beacon.Invite, f *beacon.Faults) {
	var err error
	if found, ok := beacon.Optional(in.Found, "account", f); ok {
		if i.Role = beacon.Owner; found != access.NewUser {
			f.Add("account", "must be new; invite members of an account there is with POST /v1/users/{id}/invitations")
		}
		if in.Posts.Set {
			f.Add("posts", "must not be given together with account")
		}
		if name, ok := beacon.Optional(in.AccountName, "account_name", f); ok {
			i.Name, err = beacon.CleanKeyName(name)
			f.Check("account_name", err)
		}
		return
	}
	if in.AccountName.Set {
		f.Add("account_name", "needs account: new")
	}
	if names, ok := beacon.Required(in.Posts, "posts", f); ok {
		i.Posts, err = beacon.ParsePosts(names)
		f.Check("posts", err)
		if len(names) == 0 {
			f.Add("posts", "must be one post at least")
		}
	}
}

// Invited is an invitation with the name of who made it, as members of the account may see it.
type Invited struct {
	beacon.Invite
	By    string // the name of who made it; empty: a key or the command line, or no member any more
	Token string // of a new one; never shown again
}

// Invite makes an invitation.
func (pp *People) Invite(ctx context.Context, p beacon.Principal, in Invitation) (Invited, error) {
	wanted, err := in.invite()
	if err != nil {
		return Invited{}, err
	}
	if in.Account != "" {
		if wanted.Account, err = resolve(p, in.Account); err == nil {
			err = checkAccount(wanted.Account)
		}
		if err != nil {
			return Invited{}, err
		}
	}
	if wanted.Account == "" && wanted.Role != "" && pp.signUp == SignUpOff {
		return Invited{}, errNoSignUp
	}
	now := pp.now()
	made := Invited{Invite: wanted}
	language := "" // of who invites: that of who is invited is not known
	made.Token, made.Hash = newToken()
	made.ID = beacon.InviteID(id.New(beacon.InvitePrefix, now))
	made.CreatedAt, made.CreatedBy, made.Key, made.ExpiresAt = now, p.Person, p.Key, now.Add(wanted.ExpiresAt.Sub(time.Time{}))
	err = pp.edit(ctx, p, beacon.PeopleSight{Accounts: []beacon.UserID{made.Account}}, func(e *beacon.PeopleEdit) error {
		roster := e.Rosters[made.Account]
		asked := beacon.Membership{Account: made.Account, Role: made.Role, Posts: made.Posts}
		if err := stands(p, e, made.Account).mayGive(&asked); err != nil {
			return err
		}
		if err := p.CheckNotFrozen(now); err != nil {
			return err
		}
		if made.Account != "" || len(made.Posts) > 0 { // who founds an account takes nothing from anyone
			if err := mayMakeLeaders(p, now, &asked); err != nil {
				return err
			}
		}
		if made.Account != "" && len(roster.Members)+pending(roster, now) >= beacon.ManyMembers || pending(roster, now) >= manyPending {
			return errFull
		}
		made.By, language = "", ""
		if e.Actor != nil {
			made.By, language = e.Actor.Name, e.Actor.Language
		}
		e.Write.Invites = []beacon.Invite{made.Invite}
		e.Write.Changes = []beacon.Change{pp.change(beacon.InvitationCreated, string(made.ID), p.Actor(), noted(&asked))}
		return access.Keep(p.Once, made, string(made.ID))
	})
	if err != nil {
		return Invited{}, err
	}
	if in.Mail.V != "" && pp.mailer != nil {
		address, _ := cleanMail(in.Mail.V)
		pp.mailer.SendInvitation(address, language, made.Token, made.ExpiresAt)
	}
	return made, nil
}

var errNoSignUp = &beacon.Error{Kind: beacon.Forbidden, Message: "this network takes no new operators: see the option --signup of its server"}

// manyPending bounds the invitations of a network that nobody has accepted yet.
const manyPending = 1000

func pending(r *beacon.Roster, now time.Time) (n int) {
	for i := range r.Invites {
		if r.Invites[i].Pending(now) {
			n++
		}
	}
	return n
}

// Invitations returns the pending invitations of an account, or of the network if it is
// empty.
func (pp *People) Invitations(ctx context.Context, p beacon.Principal, account beacon.UserID) (all []Invited, err error) {
	if account != "" {
		if account, err = resolve(p, account); err == nil {
			err = checkAccount(account)
		}
		if err != nil {
			return nil, err
		}
	}
	roster, err := pp.store.Roster(ctx, account)
	if err != nil {
		return nil, err
	}
	now := pp.now()
	for _, i := range roster.Invites {
		if !i.Pending(now) {
			continue
		}
		shown := Invited{Invite: i}
		if by := roster.Of(i.CreatedBy); by != nil {
			shown.By = by.Name
		}
		all = append(all, shown)
	}
	return all, nil
}

// Revocation names an invitation of an account, or of the network.
type Revocation struct {
	Account beacon.UserID
	ID      beacon.InviteID
}

var errInvite = beacon.NoSuch("invitation")

// RevokeInvitation revokes a pending invitation.
func (pp *People) RevokeInvitation(ctx context.Context, p beacon.Principal, in Revocation) (_ struct{}, err error) {
	if in.Account != "" {
		if in.Account, err = resolve(p, in.Account); err != nil {
			return struct{}{}, err
		}
	}
	if !id.Valid(beacon.InvitePrefix, string(in.ID)) {
		return struct{}{}, errInvite
	}
	return struct{}{}, pp.edit(ctx, p, beacon.PeopleSight{Invite: in.ID, Accounts: []beacon.UserID{in.Account}}, func(e *beacon.PeopleEdit) error {
		by, i := stands(p, e, in.Account), e.Invite
		if i == nil || i.Account != in.Account || !i.Pending(pp.now()) {
			if in.Account != "" && !by.role.MayGive(beacon.Viewer) || in.Account == "" && !by.posts {
				return errNotGiven
			}
			return errInvite
		}
		if err := by.mayGive(&beacon.Membership{Account: i.Account, Role: i.Role}); err != nil {
			return err
		}
		i.RevokedAt = pp.now()
		e.Write.Invites = []beacon.Invite{*i}
		e.Write.Changes = []beacon.Change{pp.change(beacon.InvitationRevoked, string(i.ID), p.Actor(), string(i.Account))}
		return nil
	})
}

// ReadInvitation returns what an invitation is to, for the one who has its token.
func (pp *People) ReadInvitation(ctx context.Context, _ beacon.Principal, token string) (shown Invited, err error) {
	hash, ok := hashToken(token)
	if !ok {
		return shown, ErrDoor
	}
	i, found, err := pp.store.InviteByToken(ctx, hash)
	if err != nil {
		return shown, err
	}
	if !found || !i.Pending(pp.now()) {
		return shown, ErrDoor
	}
	roster, err := pp.store.Roster(ctx, i.Account)
	if err != nil {
		return shown, err
	}
	shown = Invited{Invite: i}
	if i.Account != "" {
		shown.Name = roster.Name
	}
	if by := roster.Of(i.CreatedBy); by != nil {
		shown.By = by.Name
	}
	return shown, nil
}

// Acceptance accepts an invitation: as the person who is signed in, or else as a new one.
type Acceptance struct {
	Token          string
	Name, Language beacon.Opt[string]
	Device         string
}

// maxMemberships bounds what a person may belong to.
const maxMemberships = 100

// Accept uses an invitation up, and makes its bearer a member; all in one transaction.
func (pp *People) Accept(ctx context.Context, p beacon.Principal, in Acceptance) (SignedIn, error) {
	hash, ok := hashToken(in.Token)
	if !ok {
		return SignedIn{}, ErrDoor
	}
	if i, found, err := pp.store.InviteByToken(ctx, hash); err != nil {
		return SignedIn{}, err
	} else if !found || !i.Pending(pp.now()) {
		return SignedIn{}, ErrDoor // without a write
	}
	fresh, err := newcomer(p, pp.now(), in.Name, in.Language)
	if err != nil {
		return SignedIn{}, err
	}
	return pp.enter(ctx, p, door{
		sight: beacon.PeopleSight{Person: p.Person, InviteToken: &hash}, door: beacon.ByInvitation, device: in.Device, stay: p.Person != "",
		check: func(e *beacon.PeopleEdit) error { return pp.join(p, e, hash, fresh) },
	})
}

// inviteHolds reports whether an invitation may still be used: the key with which it was made may
// have been revoked. What a person made is revoked when they may no longer give it: see revokeGiven.
func inviteHolds(e *beacon.PeopleEdit, now time.Time) bool {
	i := e.Invite
	return i.Key == "" || keyStill(e, i.Key, i.Account, now).mayGive(&beacon.Membership{Account: i.Account, Role: i.Role, Posts: i.Posts}) == nil
}

// newcomer makes the person who a form describes, unless someone is signed in.
func newcomer(p beacon.Principal, now time.Time, name, language beacon.Opt[string]) (*beacon.Seated, error) {
	if p.Person != "" {
		return nil, nil //nolint:nilnil // nobody is new
	}
	var f beacon.Faults
	text, ok := beacon.Required(name, "name", &f)
	if ok {
		var err error
		text, err = cleanName(text)
		f.Check("name", err)
	}
	f.Check("language", checkLanguage(language.V))
	if err := f.Err(); err != nil {
		return nil, err
	}
	return &beacon.Seated{Person: newPerson(now, text, language.V)}, nil
}

func (pp *People) join(p beacon.Principal, e *beacon.PeopleEdit, hash [sha256.Size]byte, fresh *beacon.Seated) error {
	now, i := pp.now(), e.Invite
	if i == nil || !i.Pending(now) || i.Hash != hash || !inviteHolds(e, now) {
		return ErrDoor
	}
	if fresh != nil {
		e.Person = new(*fresh)
		e.Write.People = []beacon.Person{fresh.Person}
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonCreated, string(fresh.ID), actorOf(p, e.Person), string(i.ID)))
	}
	if e.Person == nil {
		return errPerson
	}
	seat := beacon.Membership{Person: e.Person.ID, Account: i.Account, Role: i.Role, Posts: i.Posts, Hotspots: i.Hotspots, Since: now}
	roster := e.Rosters[i.Account]
	if i.Account == "" && i.Role != "" { // to found an account
		seat.Account = newAccount(now)
		roster = &beacon.Roster{Account: seat.Account}
		if i.Name != "" {
			e.Write.Names = map[beacon.UserID]string{seat.Account: i.Name}
		}
	}
	switch {
	case e.Person.In(seat.Account) != nil:
		return errAlready
	case len(roster.Members) >= beacon.ManyMembers:
		return errFull
	case len(e.Person.Memberships) >= maxMemberships:
		return errTooManySeats
	}
	i.UsedAt, i.UsedBy = now, e.Person.ID
	e.Write.Invites = []beacon.Invite{*i}
	e.Write.Memberships = []beacon.Membership{seat}
	e.Person.Memberships = append(slices.Clone(e.Person.Memberships), seat)
	e.Write.Changes = append(e.Write.Changes, pp.change(beacon.MemberAdded, string(e.Person.ID), actorOf(p, e.Person), noted(&seat), string(i.ID)))
	return nil
}

var errTooManySeats = &beacon.Error{Kind: beacon.Conflict, Message: "you are a member of 100 accounts, the most you can be"}
