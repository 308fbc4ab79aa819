package store

import (
	"context"
	"errors"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var errMACTaken = errors.New("the MAC address is taken")

const freedMACSQL = `SELECT user_id FROM freed_macs WHERE mac = $1 AND user_id <> $2 AND until > $3`

// reservedFor reports whether a MAC address is reserved for someone other than the user.
// It is asked after the row that takes the address is written: a writer that had to wait
// for another node to free it sees what that node has written.
func reservedFor(tx *transaction, mac beacon.MAC, user beacon.UserID, now time.Time) (other bool, err error) {
	return tx.exists(freedMACSQL, mac.Canonical(), string(user), micros(now))
}

// keepReserved deletes a new hotspot if its MAC address is reserved for someone else, and
// returns how many rows are left: 1 or 0.
func keepReserved(tx *transaction, h beacon.Hotspot) (rows int64, err error) {
	other, err := reservedFor(tx, h.Device.MAC, h.Operator, h.CreatedAt)
	if err != nil || !other {
		return 1, err
	}
	return 0, tx.write(`DELETE FROM hotspots WHERE id = $1`, string(h.ID))
}

const freeMACSQL = `INSERT INTO freed_macs (mac, user_id, until) VALUES ($1, $2, $3)
		ON CONFLICT (mac) DO UPDATE SET user_id = excluded.user_id, until = excluded.until`

// freeMAC is called once an update of a hotspot is written. It reserves the MAC address
// that the hotspot gave up for its operator, if it was in service. If the hotspot took an address that is
// reserved for someone else, freeMAC writes the row back as it was, and returns Conflict.
func freeMAC(tx *transaction, by beacon.UserID, was, is beacon.Hotspot, at time.Time) error {
	same := was.Device.MAC.Canonical() == is.Device.MAC.Canonical()
	if !is.Deleted() && (!same || was.Deleted()) {
		other, err := reservedFor(tx, is.Device.MAC, is.Operator, at)
		if err != nil {
			return err
		}
		if other {
			if err := restoreHotspot(tx, was, is.Version); err != nil {
				return err
			}
			return beacon.Conflicting(errMACTaken)
		}
	}
	if was.Deleted() {
		return nil // its address was freed then
	}
	until := was.MACReservedUntil(by, at)
	if same && !is.Deleted() || until.IsZero() {
		return nil
	}
	return tx.write(freeMACSQL, was.Device.MAC.Canonical(), string(was.Operator), micros(until))
}

// ReleaseMAC ends the reservation of a MAC address, and returns for whom it was reserved.
// It returns NotFound for an address that is not reserved.
func (db HotspotTable) ReleaseMAC(ctx context.Context, mac beacon.MAC, reason string, by beacon.Actor, now time.Time) (owner beacon.UserID, err error) {
	by.Note = mac.Canonical() + ": " + reason
	op := &operation{order: "freed " + mac.Canonical()}
	var user string
	op.run = func(tx *transaction) (changes, error) {
		reserved, err := tx.row([]any{&user}, freedMACSQL, mac.Canonical(), "", micros(now))
		if err != nil {
			return nil, err
		}
		if !reserved {
			return nil, absent("the MAC address is not reserved")
		}
		if err = by.Once.Keep(beacon.ReleasedMAC{MAC: mac, User: beacon.UserID(user)}); err == nil {
			err = tx.write(freeMACSQL, mac.Canonical(), user, micros(now))
		}
		return changes{{Kind: beacon.MACReleased, Target: user, Actor: by, At: now}}, err
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return "", err // user may still be written
	}
	return beacon.UserID(user), nil
}

// restoreHotspot undoes an update within its transaction.
func restoreHotspot(tx *transaction, was beacon.Hotspot, version int64) error {
	values, err := hotspotValues(was)
	if err != nil {
		return internal("restore hotspot", err)
	}
	_, err = writeHotspot(tx, values, was.ID, version)
	return err
}

const pruneFreedMACsSQL = `DELETE FROM freed_macs WHERE mac IN
		(SELECT mac FROM freed_macs WHERE until <= $1 ORDER BY until LIMIT $2)`

// PruneFreedMACs deletes reservations that have ended by now, at most pruneSize of them.
func (db HotspotTable) PruneFreedMACs(ctx context.Context, now time.Time) error {
	return db.exec(ctx, "freed", nil, pruneFreedMACsSQL, micros(now), pruneSize)
}
