package access

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// UserStore is what Users needs of a database.
type UserStore interface {
	// Quota returns what staff allow a user, or else what everyone may have.
	Quota(ctx context.Context, user beacon.UserID) (beacon.Quota, error)
	SetQuota(ctx context.Context, user beacon.UserID, q beacon.Quota, by beacon.Actor, now time.Time) error
	// Heads returns the number of each node's newest change.
	Heads(ctx context.Context) (map[string]int64, error)
	// Changes returns up to limit changes of a node after a number, in order.
	Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error)
}

// Users knows what users may have, and what was done to what is theirs.
type Users struct {
	Store UserStore
	Now   func() time.Time
}

// UserQuota is what a user may have.
type UserQuota struct {
	User beacon.UserID
	beacon.Quota
}

// Quota returns what a user may have.
func (u *Users) Quota(ctx context.Context, p beacon.Principal, user beacon.UserID) (UserQuota, error) {
	user, err := p.Resolve(user)
	if err != nil {
		return UserQuota{}, forbidden("this key can read the quota of its own user only")
	}
	if err := checkUser(user); err != nil {
		return UserQuota{}, err
	}
	q, err := u.Store.Quota(ctx, user)
	return UserQuota{user, q}, err
}

// SetQuota sets what a user may have.
func (u *Users) SetQuota(ctx context.Context, p beacon.Principal, in UserQuota) (_ UserQuota, err error) {
	if in.User, err = p.Resolve(in.User); err != nil {
		return UserQuota{}, err
	}
	if err := checkUser(in.User); err != nil {
		return UserQuota{}, err
	}
	return in, u.Store.SetQuota(ctx, in.User, in.Quota, p.Actor(), u.Now())
}

func checkUser(user beacon.UserID) error {
	if !id.Valid(beacon.UserPrefix, string(user)) {
		return beacon.NoSuch("user")
	}
	return nil
}

// forStaff are changes that operators do not learn of: the queue of flags is for staff
// alone, and their notes on flags and on MAC addresses may be about someone else.
var forStaff = map[beacon.ChangeKind]bool{beacon.FlagDismissed: true, beacon.MACReleased: true}

const changesAtOnce = 1000

// Changes calls fn for what a user did, and for what others did to what is the user's own:
// the user, hotspots and keys, by id.
func (u *Users) Changes(ctx context.Context, user beacon.UserID, own map[string]bool, fn func(beacon.Change) error) error {
	heads, err := u.Store.Heads(ctx)
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(heads)) {
		for after := int64(0); after < heads[node]; {
			page, err := u.Store.Changes(ctx, node, after, changesAtOnce)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Seq
			for _, c := range page {
				// A member may have a post, too: what they did as staff is not the account's.
				did := c.Actor.User == user && (c.Actor.Person == "" || own[c.Target] || strings.HasPrefix(c.Actor.Note, string(user)))
				if !did && (!own[c.Target] || forStaff[c.Kind]) {
					continue
				}
				if err := fn(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
