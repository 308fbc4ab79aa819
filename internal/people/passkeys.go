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

// MayAddPasskey returns an error for who may not begin to add a passkey now. The first one
// needs no fresh sign-in, since it is what makes one possible.
func MayAddPasskey(p beacon.Principal, now time.Time, have int) error {
	switch {
	case p.Person == "" || p.Signed == nil:
		return errNoPerson
	case have >= manyPasskeys:
		return errPasskeys
	case have > 0:
		return p.CheckFresh(now)
	}
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
		if err := MayAddPasskey(p, pp.now(), e.Doors.Passkeys); err != nil { // one may have been added meanwhile
			return err
		}
		e.Write.Passkeys = []beacon.Passkey{made}
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "passkey")}
		return nil
	})
}
