package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
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
		erased, err := tx.row(func(scan func(...any) error) error { var n int; return scan(&n) }, sqlText.isErased, string(k.User))
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
		_, err := tx.row(func(scan func(...any) error) error { return scan(&keys) }, sqlText.countKeys)
		if err == nil && keys > 0 {
			err = &beacon.Error{Kind: beacon.Conflict, Message: "there is a key already"}
		}
		return err
	})
}

// insertKey writes a new key if the check, in the same transaction, does not refuse it.
func (db *DB) insertKey(ctx context.Context, k beacon.Key, by beacon.Actor, check func(*transaction) error) error {
	list := make([]string, len(k.Scopes))
	for i, scope := range k.Scopes {
		list[i] = string(scope)
	}
	scopes := strings.Join(list, " ")
	restrictions := k.Restrictions.String()
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
		_, err := tx.exec(sqlText.insertKey, values...)
		return changes{&change}, err
	}
	return db.doOnce(ctx, op, by)
}

// RevokeKey revokes a key. It returns NotFound if there is no key with that id.
// Revoking a key again changes nothing.
func (db *DB) RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	change := beacon.Change{Kind: beacon.KeyRevoked, Target: string(id), Actor: by, At: at}
	op := &operation{order: "key " + string(id)}
	op.run = func(tx *transaction) (changes, error) {
		n, err := tx.exec(sqlText.revokeKey, string(id), micros(at))
		if err != nil || n > 0 {
			return changes{&change}, err
		}
		found, err := tx.row(func(scan func(...any) error) error {
			_, err := scanKey(scan)
			return err
		}, sqlText.key, string(id))
		if err == nil && !found {
			err = notFound("key")
		}
		return nil, err
	}
	return db.committer.do(ctx, op)
}

// Key returns a key, even if revoked or expired, or NotFound.
func (db *DB) Key(ctx context.Context, id beacon.KeyID) (k beacon.Key, err error) {
	err = db.queryRow(ctx, func(scan func(...any) error) (err error) {
		k, err = scanKey(scan)
		return err
	}, sqlText.key, string(id))
	if errors.Is(err, sql.ErrNoRows) {
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
	err = db.queryRow(ctx, func(scan func(...any) error) error { return scan(&total) }, count, whose...)
	if err != nil || total <= offset {
		return nil, total, err
	}
	before := int64(math.MaxInt64)
	if after != (beacon.KeyPlace{}) {
		before = micros(after.CreatedAt)
	}
	page, err = query(ctx, db, scanKey, list, append([]any{max(limit, 0), max(offset, 0), before, string(after.ID)}, whose...)...)
	return page, total, err
}

// touchSize keeps transactions short, because other writes wait for them.
const touchSize = 200

// TouchKeys records when keys were last used. It never moves a time back, and records
// no change: using a key is not a write.
func (db *DB) TouchKeys(ctx context.Context, used map[beacon.KeyID]time.Time) error {
	times := maps.Clone(used) // the caller may modify its map before this is done
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(times)), touchSize) {
		op := &operation{order: "key " + string(ids[0])}
		op.run = func(tx *transaction) (changes, error) {
			for _, id := range ids {
				if _, err := tx.exec(sqlText.touchKey, string(id), micros(times[id])); err != nil {
					return nil, err
				}
			}
			return nil, nil //nolint:nilnil // no change
		}
		if err := db.committer.do(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

func scanKey(scan func(...any) error) (beacon.Key, error) {
	targets, read := keyRow()
	if err := scan(targets...); err != nil {
		return beacon.Key{}, err
	}
	k, err := read()
	if err != nil {
		return beacon.Key{}, fmt.Errorf("key %s: %w", k.ID, err)
	}
	return k, nil
}

// keyRow returns the targets of keyColumns, and a function that makes a key of them. If
// that fails, it also returns what could be read.
func keyRow() ([]any, func() (beacon.Key, error)) {
	var id, user, name, scopes, restrictions string
	var hash []byte
	var created, expires, revoked, used, seal int64
	return []any{&id, &user, &name, &scopes, &hash, &created, &expires, &revoked, &used, &restrictions, &seal}, func() (beacon.Key, error) {
		k := beacon.Key{
			ID: beacon.KeyID(id), User: beacon.UserID(user), Name: name,
			CreatedAt: fromMicros(created), ExpiresAt: fromMicros(expires), RevokedAt: fromMicros(revoked), LastUsedAt: fromMicros(used),
		}
		for scope := range strings.FieldsSeq(scopes) {
			k.Scopes = append(k.Scopes, beacon.Scope(scope))
		}
		if len(hash) != sha256.Size {
			return k, fmt.Errorf("a hash of %d bytes", len(hash))
		}
		copy(k.SecretHash[:], hash)
		var err error
		if k.Restrictions, err = beacon.ParseRestrictions(restrictions); err != nil {
			return k, err
		}
		return k, keyContent(&k, scopes, restrictions).check(seal)
	}
}
