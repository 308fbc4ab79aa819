package api

import (
	"errors"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// concurrencyLimit counts and limits long-running responses: each occupies a connection and more.
type concurrencyLimit struct {
	most, mostAKey int
	tooOften, full *beacon.Error // returned beyond mostAKey and most
	tooMany        *beacon.Error // returned beyond what a user may have

	mu    sync.Mutex
	all   int
	byKey map[beacon.KeyID]int

	byUser map[beacon.UserID]int
}

// join admits a key whose user may have mostAUser, or returns an error. Each successful
// join needs a leave.
func (c *concurrencyLimit) join(p beacon.Principal, mostAUser int) error {
	key := p.Key
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byKey[key] >= c.mostAKey:
		return c.tooOften
	case c.byUser[p.User] >= mostAUser:
		return c.tooMany
	case c.all >= c.most:
		return c.full
	}
	c.all++
	c.byKey[key]++
	c.byUser[p.User]++
	return nil
}

func (c *concurrencyLimit) leave(p beacon.Principal) {
	key := p.Key
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byUser[p.User]--; c.byUser[p.User] == 0 {
		delete(c.byUser, p.User)
	}
	c.all--
	if c.byKey[key]--; c.byKey[key] == 0 {
		delete(c.byKey, key)
	}
}

var errPlacesTaken = errors.New("the limit is reached")

// newListeners returns the counter of event streams.
func newListeners() *concurrencyLimit {
	return &concurrencyLimit{
		most: maxListeners, mostAKey: maxPerKey, byKey: map[beacon.KeyID]int{}, byUser: map[beacon.UserID]int{},
		tooMany:  &beacon.Error{Kind: beacon.RateLimited, Message: "you have too many open streams: close one first", RetryAfter: pulse},
		tooOften: &beacon.Error{Kind: beacon.RateLimited, Message: "this key has too many open streams: close one first", RetryAfter: pulse},
		full:     &beacon.Error{Kind: beacon.Overloaded, Message: "too many streams are open; try again", RetryAfter: pulse, Err: errPlacesTaken},
	}
}

// newReaders returns the counter of statement downloads.
func newReaders() *concurrencyLimit {
	return &concurrencyLimit{
		most: maxStatements, mostAKey: maxStatementsAKey, byKey: map[beacon.KeyID]int{}, byUser: map[beacon.UserID]int{},
		tooMany: &beacon.Error{
			Kind: beacon.RateLimited, Message: "you are reading too many statements at once: finish one first", RetryAfter: statementsBusyTime,
		},
		tooOften: &beacon.Error{
			Kind: beacon.RateLimited, Message: "this key is reading too many statements at once: finish one first",
			RetryAfter: statementsBusyTime,
		},
		full: &beacon.Error{
			Kind: beacon.Overloaded, Message: "too many statements are being read; try again", RetryAfter: statementsBusyTime, Err: errPlacesTaken,
		},
	}
}
