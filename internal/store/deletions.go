package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	putDeletionSQL = `INSERT INTO deletions (hotspot, user_id, at) VALUES ($1, $2, $3)
		ON CONFLICT (hotspot) DO UPDATE SET user_id = excluded.user_id, at = excluded.at`
	dropDeletionSQL = `DELETE FROM deletions WHERE hotspot = $1`
	isDeletionSQL   = `SELECT 1 FROM deletions WHERE hotspot = $1`
)

// noteDeletion is called once an update of a hotspot is written. It remembers that its
// operator deleted it, and nobody else: what staff or an erasure delete does not come back.
func noteDeletion(tx *transaction, by beacon.UserID, was, is beacon.Hotspot) error {
	switch {
	case was.Deleted() == is.Deleted():
		return nil
	case !is.Deleted():
		return tx.write(dropDeletionSQL, string(is.ID))
	case by == is.Operator:
		return tx.write(putDeletionSQL, string(is.ID), string(is.Operator), micros(is.DeletedAt))
	}
	return nil
}

var anyHotspotSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1`

// RestoreHotspot is UpdateHotspot for a hotspot that may be deleted. It returns Conflict if
// another hotspot has its MAC address by now, or the address is reserved for someone else.
func (db HotspotTable) RestoreHotspot(
	ctx context.Context, id beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot, beacon.Deletion) (changed bool, err error),
) (beacon.Hotspot, error) {
	return db.edit(ctx, id, by, beacon.HotspotRestored, anyHotspotSQL, func(tx *transaction, h *beacon.Hotspot) (bool, error) {
		var d beacon.Deletion
		var err error
		if d.ByOperator, err = tx.exists(isDeletionSQL, string(id)); err == nil {
			d.Waiting, _, d.Quota, err = countUnverified(tx, h.Operator, h.UpdatedAt)
		}
		if err != nil {
			return false, err
		}
		return edit(h, d)
	})
}

const deletedOfSQL = `SELECT id, name, deleted_at FROM hotspots
		WHERE id IN (SELECT hotspot FROM deletions WHERE user_id = $1 AND at >= $2) AND deleted_at <> 0
		ORDER BY deleted_at DESC, id LIMIT $3`

// DeletedOf returns up to limit hotspots that an operator deleted since a moment, the
// latest first.
func (db HotspotTable) DeletedOf(ctx context.Context, user beacon.UserID, since time.Time, limit int) ([]beacon.HotspotName, error) {
	return list(ctx, db, nameRow, deletedOfSQL, string(user), micros(since), limit)
}

const pruneDeletionsSQL = `DELETE FROM deletions WHERE hotspot IN
		(SELECT hotspot FROM deletions WHERE at < $1 ORDER BY at, hotspot LIMIT $2)`

// PruneDeletions forgets who deleted what before a moment.
func (db HotspotTable) PruneDeletions(ctx context.Context, before time.Time) error {
	_, err := db.prune(ctx, "deletions", pruneDeletionsSQL, micros(before))
	return err
}
