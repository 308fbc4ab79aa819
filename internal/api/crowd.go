package api

import (
	"errors"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// crowd counts and limits long-running responses: each occupies a connection and more.
type crowd struct {
	most, mostAKey int
	tooOften, full *beacon.Error // returned beyond mostAKey and most

	mu    sync.Mutex
	all   int
	byKey map[beacon.KeyID]int
}

// join admits a key or returns an error. Each successful join needs a leave.
func (c *crowd) join(key beacon.KeyID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byKey[key] >= c.mostAKey:
		return c.tooOften
	case c.all >= c.most:
		return c.full
	}
	c.all++
	c.byKey[key]++
	return nil
}

func (c *crowd) leave(key beacon.KeyID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.byKey[key]--; c.byKey[key] == 0 {
		delete(c.byKey, key)
	}
}

var errPlacesTaken = errors.New("all places are taken")

// newListeners returns the counter of event streams.
func newListeners() *crowd {
	return &crowd{
		most: maxListeners, mostAKey: maxPerKey, byKey: map[beacon.KeyID]int{},
		tooOften: &beacon.Error{Kind: beacon.RateLimited, Message: "this key listens too often at once: close a stream first", RetryAfter: pulse},
		full:     &beacon.Error{Kind: beacon.Overloaded, Message: "too many listen already; try again", RetryAfter: pulse, Err: errPlacesTaken},
	}
}

// newReaders returns the counter of statement downloads.
func newReaders() *crowd {
	return &crowd{
		most: maxStatements, mostAKey: maxStatementsAKey, byKey: map[beacon.KeyID]int{},
		tooOften: &beacon.Error{
			Kind: beacon.RateLimited, Message: "this key reads as many statements at once as it may: read one to its end first",
			RetryAfter: statementsBusyTime,
		},
		full: &beacon.Error{
			Kind: beacon.Overloaded, Message: "too many statements are being read; try again", RetryAfter: statementsBusyTime, Err: errPlacesTaken,
		},
	}
}
