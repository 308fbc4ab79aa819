package people

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ErrDoor is returned whatever is wrong with a link, a code or an invitation.
var ErrDoor error = &beacon.Error{Kind: beacon.Unauthorized, Message: "this link or code was used, was revoked or has expired; ask for another"}

// SignedIn is a person who signed in.
type SignedIn struct {
	Me
	Text string // of the session; empty: they were signed in already
}

// door is a way to sign in.
type door struct {
	sight  beacon.PeopleSight
	door   beacon.Door
	device string
	stay   bool // they are signed in already, and stay so
	stale  bool // someone else says who they are, who may have asked them long ago

	// check says who signs in, as the Person of the edit, and uses up what they show.
	check func(e *beacon.PeopleEdit) error
}

// enter signs someone in, in one transaction with what its check writes.
func (pp *People) enter(ctx context.Context, p beacon.Principal, d door) (in SignedIn, err error) {
	now := pp.now()
	var who beacon.PersonID
	err = pp.store.EditPeople(ctx, beacon.Actor{Request: p.Request}, d.sight, func(e *beacon.PeopleEdit) error {
		if err := d.check(e); err != nil {
			return err
		}
		if e.Person == nil || !e.Person.Active() {
			return ErrDoor
		}
		who = e.Person.ID
		if d.stay {
			return nil
		}
		var session beacon.Session
		session, in.Text = newSession(now, who, d.door, d.device)
		if d.stale {
			session.FreshUntil = time.Time{}
		}
		e.Write.Sessions = []beacon.Session{session}
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonSignedIn, string(who), actorOf(p, e.Person), string(d.door)))
		in.Fresh = session.FreshUntil
		return nil
	})
	if err != nil {
		return SignedIn{}, err
	}
	pp.sessions.Forget(who)
	me, err := pp.show(ctx, who)
	if err != nil {
		return SignedIn{}, err
	}
	if me.Fresh = in.Fresh; d.stay && p.Signed != nil && now.Before(p.Signed.FreshUntil) {
		me.Fresh = p.Signed.FreshUntil
	}
	in.Me = me
	return in, nil
}

// Enter signs in the person that check finds, for a door that another package keeps. Check sets
// the Person of the edit, and what is to be written with the session. Ticket is what was begun
// (see Begin), which this uses up; without one, or with one of another kind, nobody signs in.
func (pp *People) Enter(ctx context.Context, p beacon.Principal, in Entry, check func(e *beacon.PeopleEdit) error) (SignedIn, error) {
	ticket, err := pp.mayUse(ctx, in.Ticket, in.Kind)
	if err != nil {
		return SignedIn{}, err
	}
	if in.Kind == beacon.LinkTicket {
		_, in.Sight.Key = readLinkData(ticket.Data)
	}
	in.Sight.Ticket = &in.Ticket
	return pp.enter(ctx, p, door{sight: in.Sight, door: in.Door, device: in.Device, check: func(e *beacon.PeopleEdit) error {
		if err := pp.useTicket(e, in.Kind); err != nil {
			return err
		}
		return check(e)
	}})
}

// Entry is what Enter and Change need.
type Entry struct {
	Ticket [sha256.Size]byte
	Kind   beacon.TicketKind
	Door   beacon.Door
	Device string
	Sight  beacon.PeopleSight
}

// actorOf is who signs in, as the audit has it.
func actorOf(p beacon.Principal, who *beacon.Seated) beacon.Actor {
	return beacon.Actor{Person: who.ID, User: p.User, Request: p.Request}
}

// Begin keeps what has to be finished with a token that works once: the challenge of a
// passkey, the state of a visit to a provider. Person may be empty. It waits for nobody: anyone
// can begin.
func (pp *People) Begin(ctx context.Context, p beacon.Principal, kind beacon.TicketKind, person beacon.PersonID, data string, lasts time.Duration) (token string, err error) {
	token, hash := newToken()
	now := pp.now()
	return token, pp.store.InsertTicket(ctx, beacon.Ticket{
		Hash: hash, Kind: kind, Person: person, Data: data, CreatedBy: p.Person, CreatedAt: now, ExpiresAt: now.Add(lasts),
	})
}

// Begun returns what Begin kept, without using it up.
func (pp *People) Begun(ctx context.Context, kind beacon.TicketKind, token string) (beacon.Ticket, error) {
	hash, ok := hashToken(token)
	if !ok {
		return beacon.Ticket{}, ErrDoor
	}
	return pp.mayUse(ctx, hash, kind)
}

// mayUse returns a ticket, or refuses one that is not in force, before anything is written or
// locked.
func (pp *People) mayUse(ctx context.Context, hash [sha256.Size]byte, kind beacon.TicketKind) (beacon.Ticket, error) {
	t, found, err := pp.store.Ticket(ctx, hash)
	if err == nil && (!found || t.Kind != kind || !t.InForce(pp.now())) {
		err = ErrDoor
	}
	return t, err
}

// useTicket uses up the ticket of an edit.
func (pp *People) useTicket(e *beacon.PeopleEdit, kind beacon.TicketKind) error {
	if e.Ticket == nil || e.Ticket.Kind != kind || !e.Ticket.InForce(pp.now()) {
		return ErrDoor
	}
	e.Write.UseTicket = true
	return nil
}

// Token is something that works once, and from which device it comes.
type Token struct {
	Text   string
	Device string
}

// UseLink signs in with a one-time link. Of one that someone else made, it is a recovery.
func (pp *People) UseLink(ctx context.Context, p beacon.Principal, in Token) (SignedIn, error) {
	hash, ok := hashToken(in.Text)
	if !ok {
		return SignedIn{}, ErrDoor
	}
	return pp.byTicket(ctx, p, hash, beacon.LinkTicket, beacon.ByLink, in.Device)
}

// UseCode signs in with a recovery code, which says whose it is.
func (pp *People) UseCode(ctx context.Context, p beacon.Principal, in Token) (SignedIn, error) {
	hash, ok := hashCode(in.Text)
	if !ok {
		return SignedIn{}, ErrDoor
	}
	return pp.byTicket(ctx, p, hash, beacon.CodeTicket, beacon.ByCode, in.Device)
}

func (pp *People) byTicket(ctx context.Context, p beacon.Principal, hash [sha256.Size]byte, kind beacon.TicketKind, by beacon.Door, device string) (SignedIn, error) {
	return pp.Enter(ctx, p, Entry{Ticket: hash, Kind: kind, Door: by, Device: device}, func(e *beacon.PeopleEdit) error {
		if e.Person == nil || kind == beacon.LinkTicket && !linkHolds(e, pp.now()) {
			return ErrDoor
		}
		if kind == beacon.CodeTicket || e.Ticket.CreatedBy != e.Person.ID {
			e.Person.RecoveredAt = pp.now()
			e.Write.People = []beacon.Person{e.Person.Person}
			e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonRecovered, string(e.Person.ID), actorOf(p, e.Person), string(by)))
		}
		return nil
	})
}

// Freshen makes the session of a principal fresh with a recovery code. It is no recovery: who
// types it is signed in.
func (pp *People) Freshen(ctx context.Context, p beacon.Principal, code string) (time.Time, error) {
	if p.Person == "" || p.Signed == nil {
		return time.Time{}, errNoPerson
	}
	hash, ok := hashCode(code)
	if !ok {
		return time.Time{}, ErrDoor
	}
	return pp.Refresh(ctx, p, Entry{Ticket: hash, Kind: beacon.CodeTicket}, func(*beacon.PeopleEdit) error { return nil })
}

// Change changes something of the person who is signed in, once edit finds that it may be: the
// doors they have, say. Like Enter it uses up what they began.
func (pp *People) Change(ctx context.Context, p beacon.Principal, in Entry, edit func(e *beacon.PeopleEdit) error) error {
	if p.Person == "" || p.Signed == nil {
		return errNoPerson
	}
	if _, err := pp.mayUse(ctx, in.Ticket, in.Kind); err != nil {
		return err
	}
	in.Sight.Person, in.Sight.Ticket = p.Person, &in.Ticket
	return pp.edit(ctx, p, in.Sight, func(e *beacon.PeopleEdit) error {
		if err := pp.useTicket(e, in.Kind); err != nil {
			return err
		}
		if e.Ticket.Person != p.Person || e.Person == nil || !e.Person.Active() {
			return ErrDoor
		}
		return edit(e)
	})
}

// Refresh makes the session of a principal fresh, if check finds that they have shown who they
// are.
func (pp *People) Refresh(ctx context.Context, p beacon.Principal, in Entry, check func(*beacon.PeopleEdit) error) (time.Time, error) {
	until := pp.now().Add(beacon.FreshFor)
	return until, pp.Change(ctx, p, in, func(e *beacon.PeopleEdit) error {
		if err := check(e); err != nil {
			return err
		}
		e.Write.Fresh = &beacon.FreshSession{ID: p.Signed.Session, Until: until}
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "fresh"))
		return nil
	})
}

// Founding makes the first admin, or an operator who signs up.
type Founding struct {
	Token          string // of the first admin
	Name, Language beacon.Opt[string]
	AccountName    beacon.Opt[string]
	Device         string
}

// errFirst is returned whatever is wrong with the token of a first admin.
var errFirst error = &beacon.Error{
	Kind:    beacon.Unauthorized,
	Message: "this address was used, has expired, or there is a key or an admin already; if there is no admin, the command beacon people invite --post admin prints another",
}

// FirstAdmin makes the first person of a network, who has all posts and an account. The token
// is that of the first key. It makes one of both, and nothing once there is a key.
func (pp *People) FirstAdmin(ctx context.Context, p beacon.Principal, in Founding) (SignedIn, error) {
	hash, ok := hashToken(in.Token)
	if !ok {
		return SignedIn{}, errFirst
	}
	made, err := pp.found(ctx, p, in, true, func(e *beacon.PeopleEdit) error {
		if e.Any || subtle.ConstantTimeCompare(hash[:], e.FirstKey.Hash[:]) != 1 || !pp.now().Before(e.FirstKey.Until) {
			return errFirst
		}
		e.Write.UseFirstKey = true
		return nil
	})
	if beacon.KindOf(err) == beacon.Conflict {
		err = errFirst
	}
	return made, err
}

// MaySignUp returns an error unless anyone may become an operator.
func (pp *People) MaySignUp() error {
	if pp.signUp == SignUpOpen {
		return nil
	}
	return &beacon.Error{Kind: beacon.Forbidden, Message: "this network takes new operators by invitation only"}
}

// SignUpAs makes an operator with an account of their own.
func (pp *People) SignUpAs(ctx context.Context, p beacon.Principal, in Founding) (SignedIn, error) {
	if err := pp.MaySignUp(); err != nil {
		return SignedIn{}, err
	}
	return pp.found(ctx, p, in, false, func(*beacon.PeopleEdit) error { return nil })
}

func (pp *People) found(ctx context.Context, p beacon.Principal, in Founding, admin bool, may func(*beacon.PeopleEdit) error) (SignedIn, error) {
	p = beacon.Principal{Request: p.Request} // those who are signed in stay who they are
	now := pp.now()
	fresh, err := newcomer(p, now, in.Name, in.Language)
	if err != nil {
		return SignedIn{}, err
	}
	var f beacon.Faults
	name, err := beacon.CleanKeyName(in.AccountName.V)
	f.Check("account_name", err)
	if err := f.Err(); err != nil {
		return SignedIn{}, err
	}
	return pp.enter(ctx, p, door{sight: beacon.PeopleSight{FirstKey: admin}, door: beacon.BySignUp, device: in.Device, check: func(e *beacon.PeopleEdit) error {
		if err := may(e); err != nil {
			return err
		}
		pp.settle(p, e, fresh, name, admin)
		return nil
	}})
}

// settle makes someone new the owner of an account, and the first admin.
func (pp *People) settle(p beacon.Principal, e *beacon.PeopleEdit, fresh *beacon.Seated, name string, admin bool) {
	now := fresh.CreatedAt
	account := newAccount(now)
	seats := []beacon.Membership{{Person: fresh.ID, Account: account, Role: beacon.Owner, Since: now}}
	if admin {
		seats = append(seats, beacon.Membership{Person: fresh.ID, Posts: beacon.Posts(), Since: now})
	}
	if name != "" {
		e.Write.Names = map[beacon.UserID]string{account: name}
	}
	e.Person = new(*fresh)
	e.Write.People, e.Write.Memberships = []beacon.Person{fresh.Person}, seats
	e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonCreated, string(fresh.ID), actorOf(p, e.Person)))
	for i := range seats {
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.MemberAdded, string(fresh.ID), actorOf(p, e.Person), noted(&seats[i])))
	}
}
