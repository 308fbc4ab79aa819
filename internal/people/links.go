package people

import (
	"context"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// LinkLasts is how long a link from someone else signs in.
const LinkLasts = 24 * time.Hour

// Link is a one-time link to sign in.
type Link struct {
	Token     string
	ExpiresAt time.Time
}

var errLinkElsewhere = &beacon.Error{Kind: beacon.Forbidden, Message: "a link would give you more than you may do yourself: an admin of the network can make one"}

// MakeLink makes a link with which a member can sign in who lost their passkey. In an account
// it takes someone who could give everything that the person has, anywhere: else they could
// use it themselves. Without an account it takes an admin.
func (pp *People) MakeLink(ctx context.Context, p beacon.Principal, in Membership) (made Link, err error) {
	if in.Account != "" {
		if in.Account, err = resolve(p, in.Account); err != nil {
			return Link{}, err
		}
	}
	if in.Person == beacon.Me || in.Person == p.Person && p.Person != "" {
		return Link{}, errYourself
	}
	if !id.Valid(beacon.PersonPrefix, string(in.Person)) {
		return Link{}, errPerson
	}
	now := pp.now()
	token, hash := newToken()
	made = Link{token, now.Add(LinkLasts)}
	return made, pp.edit(ctx, p, beacon.PeopleSight{Person: in.Person, Accounts: []beacon.UserID{in.Account}}, func(e *beacon.PeopleEdit) error {
		by, who := stands(p, e, in.Account), e.Person
		if err := by.mayLink(in.Account, who); err != nil {
			return err
		}
		if !who.Active() {
			return errSuspended
		}
		if err := p.CheckNotFrozen(now); err != nil {
			return err
		}
		for i := range who.Memberships {
			if err := mayMakeLeaders(p, now, &who.Memberships[i]); err != nil {
				return err
			}
		}
		e.Write.DropTickets = []beacon.TicketKind{beacon.LinkTicket} // one at a time
		e.Write.Tickets = []beacon.Ticket{{Hash: hash, Kind: beacon.LinkTicket, Person: who.ID, Data: linkData(in.Account, p.Key), CreatedBy: p.Person, CreatedAt: now, ExpiresAt: made.ExpiresAt}}
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(who.ID), p.Actor(), "link", string(in.Account))}
		return access.Keep(p.Once, made, string(who.ID))
	})
}

// mayLink returns an error for who may not make a link with which a person signs in.
func (s standing) mayLink(account beacon.UserID, who *beacon.Seated) error {
	if account != "" && !s.role.MayGive(beacon.Viewer) || account == "" && !s.posts {
		return errNotGiven
	}
	if who == nil || !who.ErasedAt.IsZero() || account != "" && who.In(account) == nil {
		return errPerson
	}
	for i := range who.Memberships {
		if seat := &who.Memberships[i]; !s.posts && (seat.Account != account || s.mayGive(seat) != nil) {
			return errLinkElsewhere
		}
	}
	return nil
}

// linkData is what is kept with a link that someone else made: for which account, and with
// which key. Both may be empty.
func linkData(account beacon.UserID, key beacon.KeyID) string {
	return string(account) + " " + string(key)
}

// readLinkData is the reverse of linkData.
func readLinkData(data string) (account beacon.UserID, key beacon.KeyID) {
	first, second, _ := strings.Cut(data, " ")
	return beacon.UserID(first), beacon.KeyID(second)
}

// linkHolds reports whether a link may still be used: its maker, who is the actor or the key of
// the edit, may have lost rights since, and its person may have got some.
func linkHolds(e *beacon.PeopleEdit, now time.Time) bool {
	account, key := readLinkData(e.Ticket.Data)
	switch by := e.Ticket.CreatedBy; {
	case by == e.Person.ID:
		return true
	case by != "":
		return e.Actor != nil && e.Actor.ID == by && seatedStands(e.Actor, account).mayLink(account, e.Person) == nil
	case key != "":
		return keyStill(e, key, account, now).mayLink(account, e.Person) == nil
	}
	return true // by the command line
}

var errSuspended = &beacon.Error{Kind: beacon.Conflict, Message: "this person is suspended"}

// NewCodes makes recovery codes. They are in force once one of them is typed back: until then
// earlier ones are.
func (pp *People) NewCodes(ctx context.Context, p beacon.Principal, _ struct{}) (codes []string, err error) {
	if p.Person == "" {
		return nil, errNoPerson
	}
	now := pp.now()
	tickets := make([]beacon.Ticket, codesAtOnce)
	for i := range tickets {
		code, hash := newCode()
		codes = append(codes, code)
		tickets[i] = beacon.Ticket{Hash: hash, Kind: beacon.NewCodeTicket, Person: p.Person, CreatedBy: p.Person, CreatedAt: now, ExpiresAt: now.Add(day)}
	}
	return codes, pp.edit(ctx, p, beacon.PeopleSight{Person: p.Person}, func(e *beacon.PeopleEdit) error {
		if err := addDoor(pp, p, e, "first codes"); err != nil {
			return err
		}
		e.Write.DropTickets, e.Write.Tickets = []beacon.TicketKind{beacon.NewCodeTicket}, tickets
		return access.Keep(p.Once, codes, string(p.Person))
	})
}

// ConfirmCodes puts new codes in force, by one of them that was typed back.
func (pp *People) ConfirmCodes(ctx context.Context, p beacon.Principal, code string) (struct{}, error) {
	if p.Person == "" {
		return struct{}{}, errNoPerson
	}
	hash, ok := hashCode(code)
	if !ok {
		return struct{}{}, errNotOfThese
	}
	return struct{}{}, pp.edit(ctx, p, beacon.PeopleSight{Person: p.Person, Ticket: &hash}, func(e *beacon.PeopleEdit) error {
		if t := e.Ticket; t == nil || t.Kind != beacon.NewCodeTicket || subtle.ConstantTimeCompare([]byte(t.Person), []byte(p.Person)) != 1 || !t.InForce(pp.now()) {
			return errNotOfThese
		}
		e.Write.NewInForce = true
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "codes")}
		return nil
	})
}

var errNotOfThese = &beacon.Error{Kind: beacon.InvalidRequest, Message: "code must be one of the new ones", Fields: []beacon.FieldError{{Field: "code", Message: "must be one of the new ones"}}}

// MySessions returns where the person is signed in.
func (pp *People) MySessions(ctx context.Context, p beacon.Principal, _ struct{}) (all []beacon.Session, err error) {
	if p.Person == "" {
		return nil, errNoPerson
	}
	all, err = pp.store.Sessions(ctx, p.Person, manySessions)
	now := pp.now()
	return slices.DeleteFunc(all, func(s beacon.Session) bool { return !now.Before(s.ExpiresAt) }), err
}

// manySessions is how many sessions are listed at most.
const manySessions = 200

// EndSession ends one session of the person, or, without an id, all others.
func (pp *People) EndSession(ctx context.Context, p beacon.Principal, session beacon.SessionID) (struct{}, error) {
	if p.Person == "" || p.Signed == nil {
		return struct{}{}, errNoPerson
	}
	end := beacon.EndSessions{Person: p.Person, One: session, Spare: p.Signed.Session}
	if session != "" && !id.Valid(beacon.SessionPrefix, string(session)) {
		return struct{}{}, beacon.NoSuch("session")
	}
	return struct{}{}, pp.editBy(ctx, p, p.Actor(), beacon.PeopleSight{}, func(e *beacon.PeopleEdit) error {
		e.Write.End = &end
		e.Write.Changes = []beacon.Change{pp.change(beacon.SessionEnded, string(p.Person), p.Actor())}
		return nil
	})
}

// DropPasskey deletes a passkey of the person.
func (pp *People) DropPasskey(ctx context.Context, p beacon.Principal, passkey string) (struct{}, error) {
	if p.Person == "" {
		return struct{}{}, errNoPerson
	}
	return struct{}{}, pp.edit(ctx, p, beacon.PeopleSight{Person: p.Person, Passkeys: true}, func(e *beacon.PeopleEdit) error {
		if err := p.CheckFresh(pp.now()); err != nil {
			return err
		}
		if !slices.ContainsFunc(e.Passkeys, func(k beacon.Passkey) bool { return k.ID == passkey }) {
			return beacon.NoSuch("passkey")
		}
		e.Write.DropPasskey = passkey
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "passkey dropped")}
		return nil
	})
}

// SignOut ends the session with a text. One that is not a person's is no error; for one that
// has ended, or that never was, it returns Unauthorized. Before it looks up a session that is
// not in memory, it asks mayAsk.
func (pp *People) SignOut(ctx context.Context, text string, mayAsk func() error) error {
	if !IsSession(text) {
		return nil
	}
	p, err := pp.sessions.Verify(ctx, text, "", mayAsk)
	if err == nil {
		_, err = pp.EndSession(ctx, p, p.Signed.Session)
	}
	return err
}
