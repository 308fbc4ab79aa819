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

var errPlacesTaken = errors.New("the limit is reached")

// newListeners returns the counter of event streams.
func newListeners() *crowd {
	return &crowd{
		most: maxListeners, mostAKey: maxPerKey, byKey: map[beacon.KeyID]int{},
		tooOften: &beacon.Error{Kind: beacon.RateLimited, Message: "this key has too many open streams: close one first", RetryAfter: pulse},
		full:     &beacon.Error{Kind: beacon.Overloaded, Message: "too many streams are open; try again", RetryAfter: pulse, Err: errPlacesTaken},
	}
}

// newReaders returns the counter of statement downloads.
func newReaders() *crowd {
	return &crowd{
		most: maxStatements, mostAKey: maxStatementsAKey, byKey: map[beacon.KeyID]int{},
		tooOften: &beacon.Error{
			Kind: beacon.RateLimited, Message: "this key is reading too many statements at once: finish one first",
			RetryAfter: statementsBusyTime,
		},
		full: &beacon.Error{
			Kind: beacon.Overloaded, Message: "too many statements are being read; try again", RetryAfter: statementsBusyTime, Err: errPlacesTaken,
		},
	}
}
