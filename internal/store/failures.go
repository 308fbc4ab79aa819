package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// retryAfter is how long a client should wait when the database is unavailable.
const retryAfter = time.Second

// unavailable is the error if it is certain that nothing was written.
func unavailable(cause error) error {
	return &beacon.Error{
		Kind:       beacon.Overloaded,
		Message:    "the service cannot reach its database right now; nothing was changed, try again",
		RetryAfter: retryAfter,
		Err:        cause,
	}
}

// unknown is the error if a write may or may not have happened. We must not repeat it:
// measured, 9 of 10 such commits had reached the disk. The client repeats it under its
// Idempotency-Key (decision N12).
func unknown(cause error) error {
	return &beacon.Error{
		Message: "it is not known whether the change was made; repeat it under the same Idempotency-Key",
		Err:     fmt.Errorf("outcome unknown: %w", cause),
	}
}

func internal(doing string, cause error) error {
	return &beacon.Error{Message: "internal error", Err: fmt.Errorf("%s: %w", doing, cause)}
}

func notFound(what string) error {
	return &beacon.Error{Kind: beacon.NotFound, Message: "no such " + what}
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*beacon.Error](err)
	return ok && e.Kind == beacon.NotFound
}

// macTaken does not reveal whose MAC it is (decision N8).
func macTaken(cause error) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "a hotspot with this MAC address is already registered",
		Err:     cause,
	}
}

// leaseLost is the error for a holder that was replaced. Nothing was written.
func leaseLost(name string) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "another server has taken over",
		Err:     fmt.Errorf("the lease %q is lost", name),
	}
}

// codeTaken is only for our own code, which then generates another code.
func codeTaken(cause error) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: "the link code is in use: create another", Err: cause}
}
