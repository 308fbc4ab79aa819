package beacon

import (
	"encoding/json"
	"errors"
	"time"
)

// RememberFor is how long a repeated request is recognized (decision N12).
const RememberFor = 24 * time.Hour

// The conflicts of a request with an Idempotency-Key. The edge has the words for them.
var (
	// ErrRepeated: the key was used before. What is remembered says for what.
	ErrRepeated = errors.New("a request with this Idempotency-Key is remembered")
	// ErrTooManyOnce: as many requests of the sender are remembered as may be.
	ErrTooManyOnce = errors.New("no more requests of this sender are remembered")
)

// Once is a request with an Idempotency-Key (decision N12): it takes effect once, in one
// transaction with the record of what it did.
type Once struct {
	Owner       string // who sent it
	Key         string
	Fingerprint [32]byte // of what it asks for
	ExpiresAt   time.Time
	At          time.Time // when it was sent
	Most        int       // of the owner's requests that are remembered; 0 is no limit

	// Secret is something that only the client has. It seals an outcome that contains a
	// secret, and is not stored.
	Secret string

	// Result is what the request did, and opaque to the store. A use case sets it before
	// its write is committed. A request without a result leaves no record.
	Result []byte
}

// The first byte of a result says what follows.
const (
	PlainResult  = 1 // the outcome, as JSON
	SealedResult = 2 // see access.Keep
)

// Keep sets the result to the outcome of a use case. The names of its exported fields are
// part of the schema for as long as a request is remembered.
func (o *Once) Keep(outcome any) error {
	if o == nil {
		return nil
	}
	text, err := json.Marshal(outcome)
	o.Result = append([]byte{PlainResult}, text...)
	return err
}
