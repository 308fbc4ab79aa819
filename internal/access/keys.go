// Package access says who a request acts for: it creates API keys, verifies them, and
// lets their owners list and revoke them. It does not know HTTP, and does not check
// whether a key's scopes suffice for a route: the table of routes does that. It
// decides who owns which key, and that no key grants more than it has.
//
// Its one invariant: whatever is wrong with a key — unknown, revoked, expired,
// malformed, forged — its bearer learns only that it is not valid, and a database
// failure is never mistaken for such a key.
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"golang.org/x/sync/singleflight"
)

// Store is what this package needs of a database. Callers have checked input and
// permissions. Implementations are safe for concurrent use and share no memory with
// the caller.
type Store interface {
	// InsertKey adds a key that does not exist yet. May, if not nil, is called with what
	// the user has and may have, in the same transaction.
	InsertKey(ctx context.Context, k beacon.Key, by beacon.Actor, may func(beacon.Holding) error) error
	// InsertFirstKey is InsertKey while there is no key, not even a revoked one, and uses up
	// the invitation. Else it returns Conflict.
	InsertFirstKey(ctx context.Context, k beacon.Key, by beacon.Actor, invited beacon.Invitation) error
	// SetInvitation replaces the invitation to create the first key.
	SetInvitation(ctx context.Context, invited beacon.Invitation, by beacon.Actor, now time.Time) error
	// Invitation returns the invitation to create the first key; without one it is zero.
	Invitation(ctx context.Context) (beacon.Invitation, error)
	// RevokeKey revokes a key. It returns NotFound for an unknown key. A key that is
	// already revoked keeps its first revocation time.
	RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error
	// Key returns a key, revoked or not, or NotFound.
	Key(ctx context.Context, id beacon.KeyID) (beacon.Key, error)
	// Keys returns a page of the keys of a user, or of all users if user is "",
	// newest first, and their total number. The page is one of the keys after a place,
	// or of all if it is zero.
	Keys(ctx context.Context, user beacon.UserID, after beacon.KeyPlace, offset, limit int) (page []beacon.Key, total int, err error)
	// TouchKeys records last uses. It never moves one back, and ignores unknown keys.
	TouchKeys(ctx context.Context, used map[beacon.KeyID]time.Time) error
}

// ErrUnauthorized is returned for every key that is not valid, whatever the reason
// (decision N3).
var ErrUnauthorized error = &beacon.Error{Kind: beacon.Unauthorized, Message: "a valid API key is required"}

// Timeouts of store lookups. Where memory has an answer to fall back on, a database
// that hangs must not delay reads that do not need it.
const (
	lookupTimeout  = 2 * time.Second
	recheckTimeout = 500 * time.Millisecond
)

// Keys verifies and manages keys. It is safe for concurrent use and starts no
// goroutine: its owner calls Flush, and Follow for every change of a key.
type Keys struct {
	store Store
	now   func() time.Time
	heard *clock.Heard

	cache   *cache
	flights singleflight.Group
	links   links
	away    atomic.Int64 // last try of a failing store, in microseconds; 0: it works
}

// New returns keys that trust their cache while the feed of changes, which calls Follow,
// has heard the database.
func New(store Store, now func() time.Time, heard *clock.Heard) *Keys {
	return &Keys{store: store, now: now, heard: heard, cache: newCache()}
}

// VerifyIf returns the principal of a key. The client may be inventing keys: before it
// looks up one that is not cached, mayAsk can refuse with an error. Keys that are cached,
// or were just created, are not affected.
//
// A cached key is found by the public part of its id, so the time of the lookup
// reveals nothing about the secret. The secret is hashed whole and compared in
// constant time. No secret stays in memory. A wrong secret or a bad checksum never
// causes a lookup in the store.
//
// While the feed is not up to date VerifyIf asks the store again, so that a revocation
// takes effect within 2 s (decision N23). If the store does not respond either, a key
// that was valid stays valid until it does: reads continue while the database is
// down. So a machine cut off from the database honours a key revoked elsewhere until
// the connection is back.
func (k *Keys) VerifyIf(ctx context.Context, plain string, mayAsk func() error) (beacon.Principal, error) {
	presented, ok := Split(plain)
	if !ok {
		return beacon.Principal{}, ErrUnauthorized
	}
	return k.verify(ctx, claim{Presented: presented, hash: presented.Hash()}, mayAsk)
}

// claim is a key as a request presents it: the key itself, or a session made from it.
type claim struct {
	Presented
	hash   [sha256.Size]byte
	sealed *session // nil for a key
}

// proves reports whether the claim is one to this key.
func (c *claim) proves(e *entry) bool {
	if c.sealed != nil {
		return c.sealed.opens(e)
	}
	return e.matches(c.hash)
}

func (k *Keys) verify(ctx context.Context, c claim, mayAsk func() error) (beacon.Principal, error) {
	now := k.now()
	e, err := k.find(ctx, &c, now, mayAsk)
	if err != nil {
		return beacon.Principal{}, err
	}
	if !e.key.InForce(now) {
		return beacon.Principal{}, ErrUnauthorized
	}
	e.use(now)
	return e.principal, nil
}

// find returns the entry of a key whose secret is right.
func (k *Keys) find(ctx context.Context, p *claim, now time.Time, mayAsk func() error) (*entry, error) {
	e := k.cache.get(p.public)
	switch {
	case e == nil && !p.wellFormed(), e != nil && !p.proves(e):
		return nil, ErrUnauthorized
	case e != nil && k.trusts(e, now):
		return e, nil
	}
	if e == nil && !k.cache.isFresh(p.public) {
		if err := mayAsk(); err != nil {
			return nil, err
		}
	}
	e, err := k.ask(ctx, p.public, now)
	if err == nil && !p.proves(e) {
		return nil, ErrUnauthorized
	}
	return e, err
}

// Follow takes a change of a key, of any server, from the feed.
func (k *Keys) Follow(id beacon.KeyID, kind beacon.ChangeKind) {
	if kind == beacon.KeyCreated {
		k.Created(id)
	} else {
		k.Forget(id)
	}
}

// Created notes that a key exists. The feed calls it for every key created on any
// server, this one included.
func (k *Keys) Created(id beacon.KeyID) { k.change(id, k.cache.created) }

// Forget removes a key from the cache, so that its next use asks the store. The feed
// calls it for every key revoked on any server.
func (k *Keys) Forget(id beacon.KeyID) { k.change(id, k.cache.forget) }

func (k *Keys) change(id beacon.KeyID, in func(public string)) {
	if len(id) < len(beacon.KeyPrefix) {
		return
	}
	public := publicPart(id)
	in(public)
	k.flights.Forget(public) // do not join a lookup that began before
}

// Flush writes the last uses of keys. Call it about once a minute, and at shutdown.
// The next call retries what could not be written.
func (k *Keys) Flush(ctx context.Context) error {
	const batch = 500
	uses := k.cache.uses()
	for ids := range slices.Chunk(slices.Collect(maps.Keys(uses)), batch) {
		part := make(map[beacon.KeyID]time.Time, len(ids))
		for _, id := range ids {
			part[id] = uses[id]
		}
		if err := k.store.TouchKeys(ctx, part); err != nil {
			return err
		}
		k.cache.saved(part)
	}
	return nil
}

// trusts reports whether the entry may be used without asking the store.
func (k *Keys) trusts(e *entry, now time.Time) bool {
	return k.heard.InStep() || recent(time.UnixMicro(e.confirmed.Load()), now, trustFor) || !k.mayTry(now)
}

// mayTry picks one request a second to try the store again while it fails. The others
// do not wait: they would all hang with it.
func (k *Keys) mayTry(now time.Time) bool {
	tried := k.away.Load()
	return tried == 0 ||
		!recent(time.UnixMicro(tried), now, trustFor) && k.away.CompareAndSwap(tried, now.UnixMicro())
}

// ask returns a key from the store, or from the cache if the store fails. Concurrent
// requests for one key share one lookup. The lookup outlives the request that started
// it, because others may still wait for it.
func (k *Keys) ask(ctx context.Context, public string, now time.Time) (*entry, error) {
	if k.cache.denied(public, now) {
		return nil, ErrUnauthorized
	}
	found, err, _ := k.flights.Do(public, func() (any, error) {
		timeout := lookupTimeout
		if k.cache.get(public) != nil {
			timeout = recheckTimeout
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		return k.lookup(ctx, public, now)
	})
	if err != nil {
		return nil, err
	}
	return found.(*entry), nil
}

func (k *Keys) lookup(ctx context.Context, public string, now time.Time) (*entry, error) {
	generation := k.cache.generation()
	key, err := k.store.Key(ctx, beacon.KeyID(beacon.KeyPrefix+public))
	if err != nil && beacon.KindOf(err) != beacon.NotFound {
		k.away.Store(k.now().UnixMicro())
		if e := k.cache.get(public); e != nil {
			return e, nil
		}
		return nil, &beacon.Error{
			Kind: beacon.Overloaded, Message: "keys cannot be checked at the moment", RetryAfter: time.Second, Err: err,
		}
	}
	k.away.Store(0)
	if err != nil || !key.RevokedAt.IsZero() {
		k.cache.deny(public, now, generation)
		return nil, ErrUnauthorized
	}
	return k.cache.keep(key, now, generation), nil
}

// matches reports whether the secret is the entry's, in constant time.
func (e *entry) matches(hash [32]byte) bool {
	return subtle.ConstantTimeCompare(hash[:], e.key.SecretHash[:]) == 1
}
