package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// InsertKey writes a new API key, once if the actor says so (see doOnce). If may is not
// nil, it is called in the same transaction with what the user has and may have. An error
// of may is returned unchanged.
func (db KeyTable) InsertKey(ctx context.Context, k beacon.Key, by beacon.Actor, may func(beacon.Holding) error) error {
	return db.insertKey(ctx, k, by, func(tx *transaction) error {
		if may == nil {
			return nil
		}
		has, err := countKeys(tx, k.User, k.CreatedAt)
		if err != nil {
			return err
		}
		if has.Foreign, err = foreignHotspot(tx, k); err != nil {
			return err
		}
		return may(has)
	})
}

const countKeysSQL = `SELECT count(*) FROM api_keys`

// InsertFirstKey is InsertKey while there is no key, not even a revoked one, and uses up the
// invitation. Else it returns Conflict.
func (db KeyTable) InsertFirstKey(ctx context.Context, k beacon.Key, by beacon.Actor, invited beacon.Invitation) error {
	return db.insertKey(ctx, k, by, func(tx *transaction) error { return useInvitation(tx, invited) })
}

// useInvitation uses up the invitation to create the first key, or to become the first admin.
// It returns Conflict if there is a key, or if the invitation is no longer this one. Of
// transactions that use it at once, one deletes its row.
func useInvitation(tx *transaction, invited beacon.Invitation) error {
	var keys int
	if _, err := tx.row([]any{&keys}, countKeysSQL); err != nil {
		return err
	}
	used, err := tx.exec(`DELETE FROM settings WHERE name = $1 AND value = $2`, invitation, invitationText(invited))
	if err == nil && (keys > 0 || used != 1) {
		err = beacon.Conflicting(errors.New("there is a key already, or the invitation was used"))
	}
	return err
}

// SetInvitation replaces the invitation to create the first key. All servers accept it.
func (db KeyTable) SetInvitation(ctx context.Context, invited beacon.Invitation, by beacon.Actor, now time.Time) error {
	change := beacon.Change{Kind: beacon.SettingChanged, Target: invitation, Actor: by, At: now}
	return db.exec(ctx, "settings", changes{&change}, putSettingSQL, invitation, invitationText(invited))
}

// Invitation returns the invitation to create the first key, if there is one.
func (db KeyTable) Invitation(ctx context.Context) (beacon.Invitation, error) {
	return invitationIn(ctx, db)
}

func invitationIn(ctx context.Context, from source) (invited beacon.Invitation, err error) {
	set, err := readMap[string, string](ctx, from, same, settingsSQL)
	text, found := set[invitation]
	if err != nil || !found {
		return invited, err
	}
	hash, until, _ := strings.Cut(text, " ")
	n, hashErr := hex.Decode(invited.Hash[:], []byte(hash[:min(len(hash), hex.EncodedLen(sha256.Size))]))
	at, untilErr := strconv.ParseInt(until, 10, 64)
	if hashErr != nil || untilErr != nil || n != sha256.Size {
		return beacon.Invitation{}, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, invitation)
	}
	invited.Until = fromMicros(at)
	return invited, nil
}

func invitationText(i beacon.Invitation) string {
	return fmt.Sprintf("%x %d", i.Hash, micros(i.Until))
}

// insertKey writes a new key if the check, in the same transaction, does not refuse it.
func (db *core) insertKey(ctx context.Context, k beacon.Key, by beacon.Actor, check func(*transaction) error) error {
	values, err := appendValues(nil, keyRow(&k))
	if err := errors.Join(err, storableText(string(k.ID), string(k.User), k.Name, scopesText(k.Scopes), k.Restrictions.String(), k.Enrolment.String())); err != nil {
		return internal("insert key", err)
	}
	change := beacon.Change{Kind: beacon.KeyCreated, Target: string(k.ID), Actor: by, At: k.CreatedAt}
	op := &operation{order: "key " + string(k.ID)}
	op.run = func(tx *transaction) (changes, error) {
		if refused := check(tx); refused != nil {
			return nil, refused
		}
		return changes{&change}, tx.write(`INSERT INTO api_keys (`+keyColumns+`) VALUES (…)`, values...)
	}
	return db.doOnce(ctx, op, by)
}

const keySQL = `SELECT ` + keyColumns + ` FROM api_keys WHERE id = $1`

const revokeKeySQL = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`

// RevokeKey revokes a key. It returns NotFound if there is no key with that id.
// Revoking a key again changes nothing.
func (db KeyTable) RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	change := beacon.Change{Kind: beacon.KeyRevoked, Target: string(id), Actor: by, At: at}
	return db.commit(ctx, "key "+string(id), func(tx *transaction) (changes, error) {
		n, err := tx.exec(revokeKeySQL, string(id), micros(at))
		if err != nil || n > 0 {
			return changes{&change}, err
		}
		_, found, err := first(tx.ctx, tx, keyRow, keySQL, string(id))
		if err == nil && !found {
			err = absent("there is no such key")
		}
		return nil, err
	})
}

// Key returns a key, even if revoked or expired, or NotFound.
func (db KeyTable) Key(ctx context.Context, id beacon.KeyID) (beacon.Key, error) {
	k, found, err := first(ctx, db, keyRow, keySQL, string(id))
	if err == nil && !found {
		err = absent("there is no such key")
	}
	return k, err
}

const (
	keysSQL   = `SELECT ` + keyColumns + ` FROM api_keys WHERE (created_at, id) < ($3, $4) ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`
	keysOfSQL = `SELECT ` + keyColumns + ` FROM api_keys WHERE (created_at, id) < ($3, $4) AND user_id = $5 ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`
)

// Keys returns a page of the keys of a user, or of all users if user is empty, newest
// first, and their total number. The page is one of the keys after a place, or of all if
// it is zero.
func (db KeyTable) Keys(ctx context.Context, user beacon.UserID, after beacon.KeyPlace, offset, limit int) (page []beacon.Key, total int, err error) {
	count, text, whose := countKeysSQL, keysSQL, []any{}
	if user != "" {
		count, text, whose = `SELECT count(*) FROM api_keys WHERE user_id = $1`, keysOfSQL, []any{string(user)}
	}
	if _, err = readRow(ctx, db, []any{&total}, count, whose...); err != nil || total <= offset {
		return nil, total, err
	}
	before := int64(math.MaxInt64)
	if after != (beacon.KeyPlace{}) {
		before = micros(after.CreatedAt)
	}
	page, err = list(ctx, db, keyRow, text, append([]any{max(limit, 0), max(offset, 0), before, string(after.ID)}, whose...)...)
	return page, total, err
}

// touchSize keeps transactions short, because other writes wait for them.
const touchSize = 200

const touchKeySQL = `UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`

// TouchKeys records when keys were last used. It never moves a time back, and records
// no change: using a key is not a write.
func (db KeyTable) TouchKeys(ctx context.Context, used map[beacon.KeyID]time.Time) error {
	times := maps.Clone(used) // the caller may modify its map before this is done
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(times)), touchSize) {
		err := db.commit(ctx, "key "+string(ids[0]), func(tx *transaction) (changes, error) {
			for _, id := range ids {
				if err := tx.write(touchKeySQL, string(id), micros(times[id])); err != nil {
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

// keyRow has the fields of keyColumns.
func keyRow(k *beacon.Key) []any {
	scopes := as(&k.Scopes, always(scopesText), always(parseScopes))
	restrictions := as(&k.Restrictions, always(restrictionsText), beacon.ParseRestrictions)
	enrolment := as(&k.Enrolment, always(enrolmentText), beacon.ParseEnrolment)
	return []any{
		(*string)(&k.ID), (*string)(&k.User), &k.Name, scopes, hash(&k.SecretHash),
		moment(&k.CreatedAt), moment(&k.ExpiresAt), moment(&k.RevokedAt), moment(&k.LastUsedAt), restrictions, enrolment, &k.Enrolled, (*string)(&k.CreatedBy),
		sealOf(func() *content {
			return keyContent(k, *scopes.target().(*string), *restrictions.target().(*string), *enrolment.target().(*string))
		}),
		named{"key", (*string)(&k.ID)},
	}
}

func restrictionsText(r beacon.Restrictions) string { return r.String() }

func enrolmentText(e beacon.Enrolment) string { return e.String() }

func scopesText(scopes []beacon.Scope) string {
	return strings.Join(mapped(scopes, func(s beacon.Scope) string { return string(s) }), " ")
}

func parseScopes(text string) []beacon.Scope {
	return mapped(strings.Fields(text), func(s string) beacon.Scope { return beacon.Scope(s) })
}

// keyContent returns the part of a key that never changes; a revocation is in the
// change stream, and so is each device that was linked with it.
//
// A key without restrictions has the checksum that it had before there were any. So an
// older server refuses to read a key with restrictions, which it would not check. The same
// is true of enrolment keys, and of those that a person made.
func keyContent(k *beacon.Key, scopes, restrictions, enrolment string) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(string(k.ID), string(k.User), k.Name, scopes, string(k.SecretHash[:]))
	if restrictions != "" || enrolment != "" || k.CreatedBy != "" {
		c.text(restrictions)
	}
	if enrolment != "" || k.CreatedBy != "" {
		c.text(enrolment)
	}
	if k.CreatedBy != "" {
		c.text(string(k.CreatedBy))
	}
	c.integer(micros(k.CreatedAt), micros(k.ExpiresAt))
	return c
}
