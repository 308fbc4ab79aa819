package store

import (
	"context"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	offerColumns = `hotspot, owner_id, by_id, to_id, code_hash, offered_at, expires_at`
	putOfferSQL  = `INSERT INTO offers (` + offerColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (hotspot) DO UPDATE SET owner_id = excluded.owner_id, by_id = excluded.by_id, to_id = excluded.to_id,
			code_hash = excluded.code_hash, offered_at = excluded.offered_at, expires_at = excluded.expires_at`
	dropOfferSQL = `DELETE FROM offers WHERE hotspot = $1`
	lockOfferSQL = `UPDATE offers SET owner_id = owner_id WHERE hotspot = $1`

	// An offer of someone who is no longer the operator was written while the hotspot was
	// handed over, and is none.
	offerSQL = `SELECT ` + offerColumns + ` FROM offers WHERE hotspot = $1
		AND EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = offers.hotspot AND hotspots.operator_id = offers.owner_id AND deleted_at = 0)`
	offersOfSQL = `SELECT ` + offerColumns + `, name, type FROM offers JOIN hotspots ON hotspots.id = offers.hotspot AND operator_id = owner_id AND deleted_at = 0
		WHERE (to_id = $1 OR owner_id = $1) AND expires_at > $2 ORDER BY hotspot LIMIT $3`

	isHeldSQL = `SELECT 1 FROM holds WHERE user_id = $1 AND (hotspot = $2 OR hotspot = '') AND state = $3`
	isUsedSQL = `SELECT 1 FROM api_keys WHERE user_id = $1 AND revoked_at = 0 AND (expires_at = 0 OR expires_at > $2)
		AND (last_used_at >= $3 OR created_at >= $3)`
	isLedSQL = `SELECT 1 FROM memberships JOIN people ON people.id = memberships.person_id
		WHERE user_id = $1 AND role IN ($2, $3) AND suspended_at = 0`
	isErasedSQL      = `SELECT 1 FROM erasures WHERE user_id = $1 AND begun <> 0`
	closingBegunSQL  = `SELECT coalesce(max(day), -1) FROM reward_days`
	dropFormerSQL    = `DELETE FROM former_owners WHERE hotspot = $1`
	putFormerSQL     = `INSERT INTO former_owners (hotspot, through, user_id) VALUES (…)`
	pruneOffersSQL   = `DELETE FROM offers WHERE hotspot IN (SELECT hotspot FROM offers WHERE expires_at < $1 ORDER BY expires_at, hotspot LIMIT $2)`
	dropLinkCodesSQL = `DELETE FROM link_codes WHERE hotspot = $1`
)

func offerRow(o *beacon.Offer) []any {
	return []any{
		(*string)(&o.Hotspot), (*string)(&o.Owner), (*string)(&o.By), (*string)(&o.To),
		as(&o.CodeHash, always(encodeHash), decodeHash), moment(&o.OfferedAt), moment(&o.ExpiresAt),
	}
}

// PutOffer writes an offer of a live hotspot, replacing an earlier one, once if the actor says
// so (see doOnce). May gets the hotspot, and an error of it is returned unchanged. It may run
// more than once, and never after PutOffer returns; it sets the offer's owner.
func (db HotspotTable) PutOffer(
	ctx context.Context, offer beacon.Offer, by beacon.Actor, may func(*beacon.Hotspot, beacon.Giving) (owner beacon.UserID, err error),
) error {
	at := offer.OfferedAt
	op := &operation{order: "hotspot by id " + string(offer.Hotspot)}
	op.run = func(tx *transaction) (changes, error) {
		h, err := findHotspot(tx, hotspotSQL, offer.Hotspot)
		if err != nil {
			return nil, err
		}
		var giving beacon.Giving
		if giving.Held, err = tx.exists(isHeldSQL, string(h.Operator), string(h.ID), string(beacon.HoldIsActive)); err != nil {
			return nil, err
		}
		used, err := tx.exists(isUsedSQL, string(h.Operator), micros(at), micros(at.Add(-beacon.GoneAfter)))
		if err != nil {
			return nil, err
		}
		led, err := tx.exists(isLedSQL, string(h.Operator), string(beacon.Owner), string(beacon.Manager))
		if err != nil {
			return nil, err
		}
		giving.Gone = !used && !led
		made := offer
		if err := op.asCaller(tx, func() (err error) {
			made.Owner, err = may(&h, giving)
			return err
		}); err != nil {
			return nil, err
		}
		values, err := appendValues(nil, offerRow(&made))
		if err != nil {
			return nil, internal("put offer", err)
		}
		return changes{{Kind: beacon.OfferMade, Target: string(h.ID), Actor: by, At: at}}, tx.write(putOfferSQL, values...)
	}
	return db.doOnce(ctx, op, by)
}

// Offer returns the offer of a live hotspot, which may have ended; false if there is none.
func (db HotspotTable) Offer(ctx context.Context, hotspot beacon.HotspotID) (beacon.Offer, bool, error) {
	return first(ctx, db, offerRow, offerSQL, string(hotspot))
}

// OffersOf returns up to limit offers to a user, and of the user's hotspots, that have not ended,
// by hotspot.
func (db HotspotTable) OffersOf(ctx context.Context, user beacon.UserID, now time.Time, limit int) ([]beacon.ListedOffer, error) {
	return list(ctx, db, func(o *beacon.ListedOffer) []any {
		return append(offerRow(&o.Offer), &o.Name, as(&o.Type, always(typeText), always(sharedType)))
	}, offersOfSQL, string(user), micros(now), max(limit, 0))
}

// DropOffer deletes the offer of a live hotspot. May says as what change, or why not: its error
// is returned unchanged. It returns NotFound if there is no offer.
func (db HotspotTable) DropOffer(
	ctx context.Context, hotspot beacon.HotspotID, by beacon.Actor, now time.Time, may func(beacon.Offer) (beacon.ChangeKind, error),
) error {
	op := &operation{order: "hotspot by id " + string(hotspot)}
	op.run = func(tx *transaction) (changes, error) {
		offer, found, err := lockedOffer(tx, hotspot)
		if err == nil && !found {
			err = absent("there is no such offer")
		}
		if err != nil {
			return nil, err
		}
		var kind beacon.ChangeKind
		if err := op.asCaller(tx, func() (err error) {
			kind, err = may(offer)
			return err
		}); err != nil {
			return nil, err
		}
		return changes{{Kind: kind, Target: string(hotspot), Actor: by, At: now}}, tx.write(dropOfferSQL, string(hotspot))
	}
	return db.doOnce(ctx, op, by)
}

// lockedOffer locks the offer of a hotspot, so that of two who end it one waits for the other
// and then finds it gone.
func lockedOffer(tx *transaction, hotspot beacon.HotspotID) (o beacon.Offer, found bool, err error) {
	if _, err := tx.exec(lockOfferSQL, string(hotspot)); err != nil {
		return o, false, err
	}
	return first(tx.ctx, tx, offerRow, offerSQL, string(hotspot))
}

// TakeOver lets take hand a live hotspot over to the user who accepts its offer, in the
// transaction that deletes the offer and the hotspot's link code. Its error is returned
// unchanged. It may run more than once, each time on the then current rows, and never after
// TakeOver returns.
func (db HotspotTable) TakeOver(
	ctx context.Context, hotspot beacon.HotspotID, user beacon.UserID, by beacon.Actor, now time.Time,
	take func(*beacon.Hotspot, beacon.Taking) error,
) (beacon.Hotspot, error) {
	var result beacon.Hotspot
	op := &operation{order: "hotspot by id " + string(hotspot), by: by, duplicate: beacon.Conflicting, handsOver: true}
	op.run = func(tx *transaction) (changes, error) {
		offer, found, err := lockedOffer(tx, hotspot)
		if err != nil {
			return nil, err
		}
		var giver beacon.UserID
		change, err := update(tx, op, hotspotSQL, hotspot, func(h *beacon.Hotspot) (bool, error) {
			giver = h.Operator
			known, err := taking(tx, h, offer, found, user, now)
			if err != nil {
				return false, err
			}
			return true, take(h, known)
		}, &result)
		if err != nil {
			return nil, err
		}
		change.Kind, change.Actor = beacon.HotspotHandedOver, by
		change.Actor.Note = beacon.HandOverNote(giver, result.Operator)
		for _, text := range []string{dropOfferSQL, dropLinkCodesSQL} {
			if err := tx.write(text, string(hotspot)); err != nil {
				return nil, err
			}
		}
		return changes{change}, nil
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	return result, nil
}

// taking reads what decides whether an offer can be accepted by a user.
func taking(tx *transaction, h *beacon.Hotspot, offer beacon.Offer, found bool, user beacon.UserID, now time.Time) (t beacon.Taking, err error) {
	t = beacon.Taking{Offer: offer, Found: found && offer.Owner == h.Operator}
	if t.Held, err = tx.exists(isHeldSQL, string(h.Operator), string(h.ID), string(beacon.HoldIsActive)); err != nil {
		return t, err
	}
	if t.Erased, err = tx.exists(isErasedSQL, string(user)); err != nil {
		return t, err
	}
	if t.Waiting, _, t.Quota, err = countUnverified(tx, user, now); err != nil {
		return t, err
	}
	_, err = tx.row([]any{(*int64)(&t.Closing)}, closingBegunSQL)
	return t, err
}

var formerOfSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE operator_id <> $1
		AND id IN (SELECT hotspot FROM former_owners WHERE user_id = $1 AND through >= $2) ORDER BY id`

// FormerOf returns the hotspots that belonged to a user on a day or later, and no longer do, by
// id, deleted ones too.
func (db HotspotTable) FormerOf(ctx context.Context, user beacon.UserID, since beacon.Day) ([]beacon.Hotspot, error) {
	return list(ctx, db, hotspotRow, formerOfSQL, string(user), int64(since))
}

// PruneOffers deletes offers that ended before a moment.
func (db HotspotTable) PruneOffers(ctx context.Context, before time.Time) error {
	_, err := db.prune(ctx, "offers", pruneOffersSQL, micros(before))
	return err
}

// noteFormer is called once an update of a hotspot is written. It lets a hotspot be found by
// those to whom it belonged.
func noteFormer(tx *transaction, was, is beacon.Hotspot) error {
	if slices.Equal(was.Former, is.Former) {
		return nil
	}
	if err := tx.write(dropFormerSQL, string(is.ID)); err != nil {
		return err
	}
	return putRows(tx, putFormerSQL, is.Former, func(t *beacon.Tenure) []any {
		return []any{(*string)(&is.ID), (*int64)(&t.Through), (*string)(&t.User)}
	})
}

// endOffer is called once an update of a hotspot is written. A deleted one is no longer on offer.
func endOffer(tx *transaction, was, is beacon.Hotspot) error {
	if was.Deleted() || !is.Deleted() {
		return nil
	}
	return tx.write(dropOfferSQL, string(is.ID))
}
