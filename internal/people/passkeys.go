package people

import (
	"context"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// manyPasskeys bounds the passkeys of a person.
const manyPasskeys = 20

var (
	errKnownPasskey = &beacon.Error{Kind: beacon.Conflict, Message: "this passkey is in use already; add another one"}
	errPasskeys     = &beacon.Error{Kind: beacon.Conflict, Message: fmt.Sprintf("you have %d passkeys, the most you can have: remove one first", manyPasskeys)}
)

// MayAddPasskey returns an error for who may not begin to add a passkey now, with the doors
// that they have.
func MayAddPasskey(p beacon.Principal, now time.Time, have beacon.PersonDoors) error {
	switch {
	case p.Person == "" || p.Signed == nil:
		return errNoPerson
	case have.Passkeys >= manyPasskeys:
		return errPasskeys
	}
	return mayAddDoor(p, now, have)
}

// mayAddDoor returns an error for who may not add a door now. The first one needs no fresh
// sign-in, since it is what makes one possible.
func mayAddDoor(p beacon.Principal, now time.Time, have beacon.PersonDoors) error {
	if have.Passkeys+have.Codes == 0 {
		return nil
	}
	return p.CheckFresh(now)
}

// addDoor lets the person who is signed in add a door. Who adds their first one and has not
// signed in just now is frozen, like after a recovery: the one who has their browser may be someone
// else, and could be fresh from then on.
func addDoor(pp *People, p beacon.Principal, e *beacon.PeopleEdit, first string) error {
	now := pp.now()
	if e.Person == nil {
		return errPerson
	}
	if err := mayAddDoor(p, now, e.Doors); err != nil || p.CheckFresh(now) == nil {
		return err
	}
	e.Person.RecoveredAt = now
	e.Write.People = []beacon.Person{e.Person.Person}
	e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonRecovered, string(p.Person), p.Actor(), first))
	return nil
}

// CleanPasskeyName returns the name of a passkey as it is stored. Without one it is that of
// the device on which it was made.
func CleanPasskeyName(name, device string) (string, error) {
	clean, err := beacon.CleanKeyName(name)
	if err == nil && clean == "" {
		clean, err = beacon.CleanKeyName(device)
	}
	return clean, err
}

// AddPasskey adds a passkey that was verified, and uses up the ceremony in which it was made.
func (pp *People) AddPasskey(ctx context.Context, p beacon.Principal, in Entry, made beacon.Passkey) error {
	in.Sight.Passkey = made.ID
	return pp.Change(ctx, p, in, func(e *beacon.PeopleEdit) error {
		if e.Passkey != nil {
			return errKnownPasskey
		}
		if err := MayAddPasskey(p, pp.now(), e.Doors); err != nil { // one may have been added meanwhile
			return err
		}
		if err := addDoor(pp, p, e, "first passkey"); err != nil {
			return err
		}
		e.Write.Passkeys = []beacon.Passkey{made}
		e.Write.Changes = append(e.Write.Changes, pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "passkey"))
		return nil
	})
}
