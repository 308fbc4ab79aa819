package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// InsertKey writes a new API key, once if the actor says so (see doOnce).
func (db *DB) InsertKey(ctx context.Context, k beacon.Key, by beacon.Actor) error {
	most := beacon.DefaultQuota().Keys
	return db.insertKey(ctx, k, by, func(tx *transaction) error {
		erased, err := tx.exists(sqlText.isErased, string(k.User))
		if err != nil {
			return err
		}
		if erased {
			return &beacon.Error{Kind: beacon.Conflict, Message: "this user was erased: create the key for a new user"}
		}
		return checkQuota(tx, by, most, tooManyKeys, sqlText.countInForce, string(k.User), micros(k.CreatedAt))
	})
}

// InsertFirstKey is InsertKey while there is no key, not even a revoked one. Two processes
// that do it at the same time may both succeed.
func (db *DB) InsertFirstKey(ctx context.Context, k beacon.Key, by beacon.Actor) error {
	return db.insertKey(ctx, k, by, func(tx *transaction) error {
		var keys int
		_, err := tx.row([]any{&keys}, sqlText.countKeys)
		if err == nil && keys > 0 {
			err = &beacon.Error{Kind: beacon.Conflict, Message: "there is a key already"}
		}
		return err
	})
}

// insertKey writes a new key if the check, in the same transaction, does not refuse it.
func (db *DB) insertKey(ctx context.Context, k beacon.Key, by beacon.Actor, check func(*transaction) error) error {
	scopes, restrictions := scopesText(&k), k.Restrictions.String()
	values := []any{
		string(k.ID), string(k.User), k.Name, scopes, k.SecretHash[:],
		micros(k.CreatedAt), micros(k.ExpiresAt), micros(k.RevokedAt), micros(k.LastUsedAt), restrictions,
		keyContent(&k, scopes, restrictions).seal(),
	}
	if err := storableText(string(k.ID), string(k.User), k.Name, scopes, restrictions); err != nil {
		return internal("insert key", err)
	}
	change := beacon.Change{Kind: beacon.KeyCreated, Target: string(k.ID), Actor: by, At: k.CreatedAt}
	op := &operation{order: "key " + string(k.ID)}
	op.run = func(tx *transaction) (changes, error) {
		if refused := check(tx); refused != nil {
			return nil, refused
		}
		return changes{&change}, tx.write(sqlText.insertKey, values...)
	}
	return db.doOnce(ctx, op, by)
}

func scopesText(k *beacon.Key) string {
	return strings.Join(mapped(k.Scopes, func(s beacon.Scope) string { return string(s) }), " ")
}

// RevokeKey revokes a key. It returns NotFound if there is no key with that id.
// Revoking a key again changes nothing.
func (db *DB) RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	change := beacon.Change{Kind: beacon.KeyRevoked, Target: string(id), Actor: by, At: at}
	return db.commit(ctx, "key "+string(id), func(tx *transaction) (changes, error) {
		n, err := tx.exec(sqlText.revokeKey, string(id), micros(at))
		if err != nil || n > 0 {
			return changes{&change}, err
		}
		_, found, err := rowIn(tx, namedKeyRow, sqlText.key, string(id))
		if err == nil && !found {
			err = notFound("key")
		}
		return nil, err
	})
}

// Key returns a key, even if revoked or expired, or NotFound.
func (db *DB) Key(ctx context.Context, id beacon.KeyID) (beacon.Key, error) {
	k, found, err := queryFirst(ctx, db, namedKeyRow, sqlText.key, string(id))
	if err == nil && !found {
		err = notFound("key")
	}
	return k, err
}

// Keys returns a page of the keys of a user, or of all users if user is empty, newest
// first, and their total number. The page is one of the keys after a place, or of all if
// it is zero.
func (db *DB) Keys(ctx context.Context, user beacon.UserID, after beacon.KeyPlace, offset, limit int) (page []beacon.Key, total int, err error) {
	count, list, whose := sqlText.countKeys, sqlText.keys, []any{}
	if user != "" {
		count, list, whose = sqlText.countKeysOf, sqlText.keysOf, []any{string(user)}
	}
	if _, err = db.queryRow(ctx, []any{&total}, count, whose...); err != nil || total <= offset {
		return nil, total, err
	}
	before := int64(math.MaxInt64)
	if after != (beacon.KeyPlace{}) {
		before = micros(after.CreatedAt)
	}
	page, err = query(ctx, db, namedKeyRow, list, append([]any{max(limit, 0), max(offset, 0), before, string(after.ID)}, whose...)...)
	return page, total, err
}

// touchSize keeps transactions short, because other writes wait for them.
const touchSize = 200

// TouchKeys records when keys were last used. It never moves a time back, and records
// no change: using a key is not a write.
func (db *DB) TouchKeys(ctx context.Context, used map[beacon.KeyID]time.Time) error {
	times := maps.Clone(used) // the caller may modify its map before this is done
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(times)), touchSize) {
		err := db.commit(ctx, "key "+string(ids[0]), func(tx *transaction) (changes, error) {
			for _, id := range ids {
				if err := tx.write(sqlText.touchKey, string(id), micros(times[id])); err != nil {
					return nil, err
				}
			}
			return nil, nil //nolint:nilnil // no change
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// namedKeyRow is keyRow with errors that say which key cannot be read.
func namedKeyRow(k *beacon.Key) ([]any, func() error) {
	targets, finish := keyRow(k)
	return targets, func() error {
		if err := finish(); err != nil {
			return fmt.Errorf("key %s: %w", k.ID, err)
		}
		return nil
	}
}

// keyRow reads a row of keyColumns, as much of it as can be read.
func keyRow(k *beacon.Key) ([]any, func() error) {
	var scopes, restrictions string
	var hash []byte
	var seal int64
	targets := []any{
		(*string)(&k.ID), (*string)(&k.User), &k.Name, &scopes, &hash,
		(*moment)(&k.CreatedAt), (*moment)(&k.ExpiresAt), (*moment)(&k.RevokedAt), (*moment)(&k.LastUsedAt), &restrictions, &seal,
	}
	return targets, func() (err error) {
		k.Scopes, k.SecretHash, k.Restrictions = nil, [sha256.Size]byte{}, beacon.Restrictions{}
		for scope := range strings.FieldsSeq(scopes) {
			k.Scopes = append(k.Scopes, beacon.Scope(scope))
		}
		if len(hash) != sha256.Size {
			return fmt.Errorf("a hash of %d bytes", len(hash))
		}
		copy(k.SecretHash[:], hash)
		if k.Restrictions, err = beacon.ParseRestrictions(restrictions); err != nil {
			return err
		}
		return keyContent(k, scopes, restrictions).check(seal)
	}
}
