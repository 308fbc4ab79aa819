package doors

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/passkey"
)

// Ceremony is one that was begun. Its token is given to the page that began it and to nobody
// else: no page of another origin can read it, or send it here. A cookie would add nothing,
// since the one who finishes also shows a response that was signed for this ceremony; and the
// ceremonies of two windows would take each other's place.
type Ceremony struct {
	Token   string
	Options json.RawMessage // for the browser
}

// Response finishes a ceremony.
type Response struct {
	Token    string
	Response json.RawMessage // of the browser
	Name     string          // of a passkey that is added
	Device   string
}

// nobody is the principal of those who sign in, also if someone is signed in already.
func nobody(p beacon.Principal) beacon.Principal { return beacon.Principal{Request: p.Request} }

// BeginSignIn begins to sign in with a passkey.
func (d *Doors) BeginSignIn(ctx context.Context, p beacon.Principal, _ struct{}) (Ceremony, error) {
	options, state, err := d.passkeys.BeginSignIn()
	if err != nil {
		return Ceremony{}, err
	}
	return d.begin(ctx, nobody(p), options, state)
}

func (d *Doors) begin(ctx context.Context, p beacon.Principal, options, state []byte) (Ceremony, error) {
	token, err := d.keep(ctx, p, beacon.PasskeyTicket, begun{State: state}, passkey.StateLasts)
	return Ceremony{token, options}, err
}

// SignIn signs in with a passkey.
func (d *Doors) SignIn(ctx context.Context, p beacon.Principal, in Response) (people.SignedIn, error) {
	ticket, b, err := d.kept(ctx, nobody(p), beacon.PasskeyTicket, in.Token)
	if err != nil {
		return people.SignedIn{}, err
	}
	used, err := d.passkeys.FinishSignIn(b.State, in.Response, d.find(ctx))
	if err != nil {
		return people.SignedIn{}, err
	}
	entry := people.Entry{Ticket: ticket.Hash, Kind: beacon.PasskeyTicket, Door: beacon.ByPasskey, Device: in.Device, Sight: beacon.PeopleSight{Passkey: idOf(used)}}
	return d.people.Enter(ctx, nobody(p), entry, func(e *beacon.PeopleEdit) error { return count(e, used) })
}

// BeginPasskey begins to add a passkey of the person who is signed in.
func (d *Doors) BeginPasskey(ctx context.Context, p beacon.Principal, _ struct{}) (Ceremony, error) {
	me, err := d.people.Me(ctx, p, struct{}{})
	if err != nil {
		return Ceremony{}, err
	}
	if err := people.MayAddPasskey(p, d.now(), me.Doors); err != nil {
		return Ceremony{}, err
	}
	have, err := d.passkeysOf(ctx, p.Person)
	if err != nil {
		return Ceremony{}, err
	}
	options, state, err := d.passkeys.Begin(shown(me), d.network(), have)
	if err != nil {
		return Ceremony{}, err
	}
	return d.begin(ctx, p, options, state)
}

// AddPasskey adds a passkey.
func (d *Doors) AddPasskey(ctx context.Context, p beacon.Principal, in Response) (beacon.Passkey, error) {
	var f beacon.Faults
	name, err := people.CleanPasskeyName(in.Name, in.Device)
	f.Check("name", err)
	if err := f.Err(); err != nil {
		return beacon.Passkey{}, err
	}
	if err := people.MayAddPasskey(p, d.now(), beacon.PersonDoors{}); err != nil {
		return beacon.Passkey{}, err
	}
	ticket, b, err := d.kept(ctx, p, beacon.PasskeyTicket, in.Token)
	if err != nil {
		return beacon.Passkey{}, err
	}
	who, err := d.who(ctx, p)
	if err != nil {
		return beacon.Passkey{}, err
	}
	c, err := d.passkeys.Finish(who, b.State, in.Response)
	if err != nil {
		return beacon.Passkey{}, err
	}
	made, err := stored(c)
	made.Name, made.LastUsedAt = name, time.Time{}
	if err == nil {
		err = d.people.AddPasskey(ctx, p, people.Entry{Ticket: ticket.Hash, Kind: beacon.PasskeyTicket}, made)
	}
	return made, err
}

// BeginFresh begins to ask the person who is signed in for a passkey of theirs.
func (d *Doors) BeginFresh(ctx context.Context, p beacon.Principal, _ struct{}) (Ceremony, error) {
	who, err := d.who(ctx, p)
	if err != nil {
		return Ceremony{}, err
	}
	have, err := d.passkeysOf(ctx, p.Person)
	if err != nil {
		return Ceremony{}, err
	}
	options, state, err := d.passkeys.BeginAgain(who, have)
	if err != nil {
		return Ceremony{}, err
	}
	return d.begin(ctx, p, options, state)
}

// Freshen makes the session of the person who is signed in fresh, and returns until when.
func (d *Doors) Freshen(ctx context.Context, p beacon.Principal, in Response) (time.Time, error) {
	who, err := d.who(ctx, p)
	if err != nil {
		return time.Time{}, err
	}
	ticket, b, err := d.kept(ctx, p, beacon.PasskeyTicket, in.Token)
	if err != nil {
		return time.Time{}, err
	}
	used, err := d.passkeys.FinishAgain(who, b.State, in.Response, d.find(ctx))
	if err != nil {
		return time.Time{}, err
	}
	entry := people.Entry{Ticket: ticket.Hash, Kind: beacon.PasskeyTicket, Sight: beacon.PeopleSight{Passkey: idOf(used)}}
	return d.people.Refresh(ctx, p, entry, func(e *beacon.PeopleEdit) error { return count(e, used) })
}

// who returns the person who is signed in, as devices show them.
func (d *Doors) who(ctx context.Context, p beacon.Principal) (passkey.Person, error) {
	me, err := d.people.Me(ctx, p, struct{}{})
	return shown(me), err
}

func shown(me people.Me) passkey.Person { return passkey.Person{ID: string(me.ID), Name: me.Name} }

// Mine returns the passkeys of the person who is signed in.
func (d *Doors) Mine(ctx context.Context, p beacon.Principal, _ struct{}) ([]beacon.Passkey, error) {
	if _, err := d.who(ctx, p); err != nil {
		return nil, err
	}
	return d.store.Passkeys(ctx, p.Person)
}

// passkeysOf returns the passkeys of a person that can still be read.
func (d *Doors) passkeysOf(ctx context.Context, person beacon.PersonID) (all []passkey.Credential, err error) {
	if person == "" {
		return nil, nil
	}
	have, err := d.store.Passkeys(ctx, person)
	for _, k := range have {
		if c, err := passkey.Decode([]byte(k.Data)); err == nil {
			all = append(all, c)
		}
	}
	return all, err
}

// find returns what looks up passkeys.
func (d *Doors) find(ctx context.Context) func(id []byte) (passkey.Credential, error) {
	return func(id []byte) (passkey.Credential, error) {
		k, found, err := d.store.Passkey(ctx, encodeID(id))
		switch {
		case err != nil:
			return passkey.Credential{}, err
		case !found:
			return passkey.Credential{}, beacon.NoSuch("passkey")
		}
		return passkey.Decode([]byte(k.Data))
	}
}

// count writes how often a passkey was used, and whether it is backed up. It may have been
// used elsewhere since it was looked up: the higher count stays, and one that is the same is
// of a copy.
func count(e *beacon.PeopleEdit, used passkey.Credential) error {
	if e.Passkey == nil || e.Person == nil || e.Passkey.Person != e.Person.ID || string(e.Person.ID) != used.Person {
		return people.ErrDoor // it was removed meanwhile
	}
	now, err := passkey.Decode([]byte(e.Passkey.Data))
	if err != nil {
		return err
	}
	merged, err := now.Merge(used)
	if err != nil {
		return err
	}
	row, err := stored(merged)
	if err != nil {
		return err
	}
	row.Name, row.CreatedAt = e.Passkey.Name, e.Passkey.CreatedAt
	e.Write.Passkeys = []beacon.Passkey{row}
	return nil
}

// stored returns the row of a passkey.
func stored(c passkey.Credential) (beacon.Passkey, error) {
	text, err := c.Encode()
	return beacon.Passkey{ID: idOf(c), Person: beacon.PersonID(c.Person), Data: string(text), Synced: c.BackedUp, CreatedAt: c.Created, LastUsedAt: c.Used}, err
}

func idOf(c passkey.Credential) string { return encodeID(c.ID) }

func encodeID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
