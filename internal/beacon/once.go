package beacon

import "time"

// Idempotency remembers a registration that must take effect once (decision N12): who
// sent it under which key, what it asked for, which is opaque to the store, and the
// hotspot as it was registered.
type Idempotency struct {
	Owner       UserID
	Key         string
	Fingerprint [32]byte
	Hotspot     Hotspot // set by the store
	ExpiresAt   time.Time
}

// RememberFor is how long a repeated request is recognized (decision N12).
const RememberFor = 24 * time.Hour

// ErrOtherRequest is the error for a key that was used before, for something else.
var ErrOtherRequest error = &Error{
	Kind:    Conflict,
	Message: "this Idempotency-Key was used for another request; use a new one for each request",
}

// Once is a request with an Idempotency-Key (decision N12), other than a registration: it
// takes effect once, in one transaction with the record of its result.
type Once struct {
	Owner       string // who sent it
	Key         string
	Fingerprint [32]byte // of what it asks for
	ExpiresAt   time.Time
	At          time.Time // when it was sent

	// Result is what the first request got, and opaque to the store. A request without
	// a result leaves no record.
	Result []byte
	Encode func(result any) ([]byte, error) // set by the sender, for Keep
}

// Keep sets the result.
func (o *Once) Keep(result any) (err error) {
	if o != nil {
		o.Result, err = o.Encode(result)
	}
	return err
}
