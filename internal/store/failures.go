package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// retryAfter is what a client is told to wait when the database is away.
const retryAfter = time.Second

// unavailable is the answer when it is certain that nothing was written.
func unavailable(cause error) error {
	return &beacon.Error{
		Kind:       beacon.Overloaded,
		Message:    "the service cannot reach its database right now; nothing was changed, try again",
		RetryAfter: retryAfter,
		Err:        cause,
	}
}

// unknown is the answer when a write may or may not have happened. It must not
// be repeated by us: measured, 9 of 10 such commits had reached the disk. The
// client repeats it under its Idempotency-Key (decision N12).
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

// macTaken does not tell whose it is (decision N8).
func macTaken(cause error) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "a hotspot with this MAC address is already registered",
		Err:     cause,
	}
}

// leaseLost is the answer to a holder that was replaced. Nothing was written.
func leaseLost(name string) error {
	return &beacon.Error{
		Kind:    beacon.Conflict,
		Message: "another server has taken over",
		Err:     fmt.Errorf("the lease %q is lost", name),
	}
}

// codeTaken cannot be told to anyone but our own code, which makes another.
func codeTaken(cause error) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: "the link code is in use: make another", Err: cause}
}
