package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// InvitationLasts is how long the first key can be created with an invitation.
const InvitationLasts = time.Hour

// invitation lets someone without a key create the first one, once (decision D170). It is
// known to one server only, and its token is not kept.
type invitation struct {
	mu    sync.Mutex
	hash  [sha256.Size]byte
	until time.Time // zero: there is none
}

// Invite returns a token with which the first key can be created, or "" if there is a key.
func (k *Keys) Invite(ctx context.Context) (token string, err error) {
	_, keys, err := k.store.Keys(ctx, "", beacon.KeyPlace{}, 0, 0)
	if err != nil || keys > 0 {
		return "", err
	}
	token = randomText(secretLength)
	k.invited.mu.Lock()
	defer k.invited.mu.Unlock()
	k.invited.hash, k.invited.until = sha256.Sum256([]byte(token)), k.now().Add(InvitationLasts)
	return token, nil
}

// errInvitation is returned whatever is wrong with a token.
var errInvitation error = &beacon.Error{
	Kind:    beacon.Unauthorized,
	Message: "this address was used, has expired, or there is a key already; a server that has none prints another when it starts",
}

// CreateFirst creates the first key, of a new user, with all permissions. The token is
// used up once there is a key, by whatever way it was created.
func (k *Keys) CreateFirst(ctx context.Context, p beacon.Principal, token string) (Created, error) {
	k.invited.mu.Lock() // two requests cannot both use it
	defer k.invited.mu.Unlock()
	now, hash := k.now(), sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], k.invited.hash[:]) != 1 || !now.Before(k.invited.until) {
		return Created{}, errInvitation
	}
	key, plain := Mint(now, beacon.Key{
		User: beacon.UserID(id.New(beacon.UserPrefix, now)), Name: "First key", Scopes: []beacon.Scope{beacon.Admin},
	})
	err := k.store.InsertFirstKey(ctx, key, p.Actor())
	if beacon.KindOf(err) == beacon.Conflict {
		err = errInvitation
	} else if err != nil {
		return Created{}, err // the token can be tried again
	}
	k.invited.until = time.Time{}
	k.Created(key.ID)
	return Created{Key: key, Plain: plain}, err
}
