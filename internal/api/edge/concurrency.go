package edge

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ConcurrencyLimit counts and limits responses that take long: each occupies a connection,
// and memory or a reader of the database.
type ConcurrencyLimit struct {
	most, mostAKey          int
	tooOften, tooMany, full *beacon.Error // returned beyond what a key and a user may have, and beyond most

	Mu     sync.Mutex
	All    int
	byKey  map[beacon.KeyID]int
	byUser map[beacon.UserID]int
}

func NewConcurrencyLimit(most, mostAKey int, tooOften, tooMany, full *beacon.Error) *ConcurrencyLimit {
	return &ConcurrencyLimit{
		most: most, mostAKey: mostAKey, tooOften: tooOften, tooMany: tooMany, full: full,
		byKey: map[beacon.KeyID]int{}, byUser: map[beacon.UserID]int{},
	}
}

// Join admits a key whose user may have mostAUser, or returns an error. Each successful
// join needs a leave.
func (c *ConcurrencyLimit) Join(p beacon.Principal, mostAUser int) error {
	key, user := p.Sender()
	c.Mu.Lock()
	defer c.Mu.Unlock()
	switch {
	case c.byKey[key] >= c.mostAKey:
		return c.tooOften
	case c.byUser[user] >= mostAUser:
		return c.tooMany
	case c.All >= c.most:
		return c.full
	}
	c.All++
	c.byKey[key]++
	c.byUser[user]++
	return nil
}

func (c *ConcurrencyLimit) Leave(p beacon.Principal) {
	key, user := p.Sender()
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.byUser[user]--; c.byUser[user] == 0 {
		delete(c.byUser, user)
	}
	c.All--
	if c.byKey[key]--; c.byKey[key] == 0 {
		delete(c.byKey, key)
	}
}

var errPlacesTaken = errors.New("the limit is reached")

// Busy returns an error for those beyond a limit, who may try again after some time.
func Busy(kind beacon.Kind, retryAfter time.Duration, message string) *beacon.Error {
	return &beacon.Error{Kind: kind, Message: message, RetryAfter: retryAfter, Err: errPlacesTaken}
}

// QuotaOf returns what a user may have at once of something that memory counts. While
// the database is away, it is what everyone may have.
func (e *Edge) QuotaOf(r *http.Request, user beacon.UserID) beacon.Quota {
	ctx, cancel := context.WithTimeout(r.Context(), e.QuotaPatience)
	defer cancel()
	if q, err := e.store.Quota(ctx, user); err == nil {
		return q
	}
	return beacon.DefaultQuota()
}

// quotaPatience is how long the database may take for a quota.
const quotaPatience = 500 * time.Millisecond
