package beacon

import "time"

// Signed says how a person is signed in.
type Signed struct {
	Session     SessionID
	FreshUntil  time.Time // until then they have just shown who they are
	FrozenUntil time.Time // zero: they were never recovered
}

// FreshFor is how long someone counts as having just signed in.
const FreshFor = 5 * time.Minute

// ErrSignInAgain is returned to a person who has to show again who they are.
var ErrSignInAgain = &Error{Kind: Forbidden, Message: "show once more who you are: sign in again, and repeat this within five minutes"}

// CheckFresh returns an error for a person who has not signed in just now. Keys need not.
func (p Principal) CheckFresh(now time.Time) error {
	if p.Person == "" || p.Signed != nil && now.Before(p.Signed.FreshUntil) {
		return nil
	}
	return ErrSignInAgain
}

// CheckNotFrozen returns an error for a person who was recovered a short while ago. Whoever
// recovered them may have been someone else, so for that long nothing may be led elsewhere.
func (p Principal) CheckNotFrozen(now time.Time) error {
	if p.Person == "" || p.Signed == nil || !now.Before(p.Signed.FrozenUntil) {
		return nil
	}
	return &Error{
		Kind:    Forbidden,
		Message: "you signed in with a recovery code or someone else's link, or had no other way to sign in: until " + p.Signed.FrozenUntil.UTC().Format("2006-01-02 15:04") + " UTC you cannot give anyone rights, nor change what owners, managers and people with posts may do, nor hand hotspots over",
	}
}
