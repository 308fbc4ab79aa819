package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// InvitationLasts is how long the first key can be created with an invitation.
const InvitationLasts = time.Hour

// Invite returns a token with which the first key can be created, or "" if there is a key.
// It replaces the one before.
func (k *Keys) Invite(ctx context.Context, p beacon.Principal) (token string, err error) {
	keys, err := k.Any(ctx)
	if err != nil || keys {
		return "", err
	}
	token = randomText(secretLength)
	now := k.now()
	return token, k.store.SetInvitation(ctx, beacon.Invitation{Hash: sha256.Sum256([]byte(token)), Until: now.Add(InvitationLasts)}, p.Actor(), now)
}

// Any reports whether there is a key, be it revoked.
func (k *Keys) Any(ctx context.Context) (bool, error) {
	_, keys, err := k.store.Keys(ctx, "", beacon.KeyPlace{}, 0, 0)
	return keys > 0, err
}

// errInvitation is returned whatever is wrong with a token.
var errInvitation error = &beacon.Error{
	Kind:    beacon.Unauthorized,
	Message: "this address was used, has expired, or there is a key already; if there is none, the command beacon keys invite prints another",
}

// CreateFirst creates the first key, of a new user, with all permissions. The token is
// used up once there is a key, by whatever way it was created.
func (k *Keys) CreateFirst(ctx context.Context, p beacon.Principal, token string) (Created, error) {
	invited, err := k.store.Invitation(ctx)
	if err != nil {
		return Created{}, err
	}
	now, hash := k.now(), sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], invited.Hash[:]) != 1 || !now.Before(invited.Until) {
		return Created{}, errInvitation
	}
	key, plain := Mint(now, beacon.Key{
		User: beacon.UserID(id.New(beacon.UserPrefix, now)), Name: "First key", Scopes: []beacon.Scope{beacon.Admin},
	})
	err = k.store.InsertFirstKey(ctx, key, p.Actor(), invited)
	if beacon.KindOf(err) == beacon.Conflict {
		return Created{}, errInvitation
	} else if err != nil {
		return Created{}, err // the token can be tried again
	}
	k.Created(key.ID)
	return Created{Key: key, Plain: plain}, nil
}
