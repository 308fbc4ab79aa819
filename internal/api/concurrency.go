package api

import (
	"errors"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// concurrencyLimit counts and limits responses that take long: each occupies a connection,
// and memory or a reader of the database.
type concurrencyLimit struct {
	most, mostAKey          int
	tooOften, tooMany, full *beacon.Error // returned beyond what a key and a user may have, and beyond most

	mu     sync.Mutex
	all    int
	byKey  map[beacon.KeyID]int
	byUser map[beacon.UserID]int
}

func newConcurrencyLimit(most, mostAKey int, tooOften, tooMany, full *beacon.Error) *concurrencyLimit {
	return &concurrencyLimit{
		most: most, mostAKey: mostAKey, tooOften: tooOften, tooMany: tooMany, full: full,
		byKey: map[beacon.KeyID]int{}, byUser: map[beacon.UserID]int{},
	}
}

// join admits a key whose user may have mostAUser, or returns an error. Each successful
// join needs a leave.
func (c *concurrencyLimit) join(p beacon.Principal, mostAUser int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byKey[p.Key] >= c.mostAKey:
		return c.tooOften
	case c.byUser[p.User] >= mostAUser:
		return c.tooMany
	case c.all >= c.most:
		return c.full
	}
	c.all++
	c.byKey[p.Key]++
	c.byUser[p.User]++
	return nil
}

func (c *concurrencyLimit) leave(p beacon.Principal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byUser[p.User]--; c.byUser[p.User] == 0 {
		delete(c.byUser, p.User)
	}
	c.all--
	if c.byKey[p.Key]--; c.byKey[p.Key] == 0 {
		delete(c.byKey, p.Key)
	}
}

var errPlacesTaken = errors.New("the limit is reached")

// busy returns an error for those beyond a limit, who may try again after some time.
func busy(kind beacon.Kind, retryAfter time.Duration, message string) *beacon.Error {
	return &beacon.Error{Kind: kind, Message: message, RetryAfter: retryAfter, Err: errPlacesTaken}
}

// newListeners returns the counter of event streams.
func newListeners() *concurrencyLimit {
	return newConcurrencyLimit(maxListeners, maxPerKey,
		busy(beacon.RateLimited, pulse, "this key has too many open streams: close one first"),
		busy(beacon.RateLimited, pulse, "you have too many open streams: close one first"),
		busy(beacon.Overloaded, pulse, "too many streams are open; try again"))
}

// newReaders returns the counter of statement downloads.
func newReaders() *concurrencyLimit {
	return newConcurrencyLimit(maxStatements, maxStatementsAKey,
		busy(beacon.RateLimited, statementsBusyTime, "this key is reading too many statements at once: finish one first"),
		busy(beacon.RateLimited, statementsBusyTime, "you are reading too many statements at once: finish one first"),
		busy(beacon.Overloaded, statementsBusyTime, "too many statements are being read; try again"))
}
