package access

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// LinkLasts is how long a link signs a browser in.
	LinkLasts = 15 * time.Minute
	// linkedKeyLasts is how long the key is valid that the browser is given.
	linkedKeyLasts = 12 * time.Hour
)

// links are the links of this process that nobody has used, by the hashes of their tokens. No
// database has them: who prints one serves it.
type links struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte]beacon.Key // the key to be made, with the end of the link as ExpiresAt
}

// Offer returns a token with which one browser is given a new key, once, within LinkLasts. The
// key is one of the same user, name and scopes, with an end.
func (k *Keys) Offer(key beacon.Key) (token string) {
	token = randomText(secretLength)
	now := k.now()
	key.ExpiresAt = now.Add(LinkLasts)
	k.links.put(sha256.Sum256([]byte(token)), key, now)
	return token
}

// put keeps an offer, and forgets those that have ended.
func (l *links) put(hash [sha256.Size]byte, key beacon.Key, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[[sha256.Size]byte]beacon.Key{}
	}
	for other, k := range l.keys {
		if !now.Before(k.ExpiresAt) {
			delete(l.keys, other)
		}
	}
	l.keys[hash] = key
}

// take returns an offer, which is used up.
func (l *links) take(hash [sha256.Size]byte) (key beacon.Key, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, found = l.keys[hash]
	delete(l.keys, hash)
	return key, found
}

// errLink is returned whatever is wrong with a token.
var errLink error = &beacon.Error{Kind: beacon.Unauthorized, Message: "this link was used, or has expired; sign in with a key"}

// SignIn creates the key that was offered with a token. Only the first of several requests gets
// one.
func (k *Keys) SignIn(ctx context.Context, p beacon.Principal, token string) (Created, error) {
	now, hash := k.now(), sha256.Sum256([]byte(token))
	offered, found := k.links.take(hash)
	if !found || !now.Before(offered.ExpiresAt) {
		return Created{}, errLink
	}
	wanted := offered
	wanted.ExpiresAt = now.Add(linkedKeyLasts)
	key, plain := Mint(now, wanted)
	if err := k.store.InsertKey(ctx, key, p.Actor(), nil); err != nil {
		k.links.put(hash, offered, now) // the token can be tried again
		return Created{}, err
	}
	k.Created(key.ID)
	return Created{Key: key, Plain: plain}, nil
}
