package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// macReserved is how long a freed MAC address is kept for its last owner. An operator
// who replaces hardware, or registers again, must not lose the address to someone who
// waited for it.
const macReserved = 30 * 24 * time.Hour

// reservedFor reports whether a MAC address is reserved for someone other than the user.
// It is asked after the row that takes the address is written: a writer that had to wait
// for another node to free it sees what that node has written.
func reservedFor(tx *transaction, mac beacon.MAC, user beacon.UserID, now time.Time) (other bool, err error) {
	return tx.exists(sqlText.freedMAC, mac.Canonical(), string(user), micros(now))
}

// keepReserved deletes a new hotspot if its MAC address is reserved for someone else, and
// returns how many rows are left: 1 or 0.
func keepReserved(tx *transaction, h beacon.Hotspot) (rows int64, err error) {
	other, err := reservedFor(tx, h.Device.MAC, h.Operator, h.CreatedAt)
	if err != nil || !other {
		return 1, err
	}
	return 0, tx.write(sqlText.dropHotspot, string(h.ID))
}

// freeMAC is called once an update of a hotspot is written. It reserves the MAC address
// that the hotspot gave up for its operator. If staff took the address away, it may have
// been someone else's all along, and is free at once. If the hotspot took an address that
// is reserved for someone else, freeMAC writes the row back as it was, and returns
// Conflict.
func freeMAC(tx *transaction, by beacon.UserID, was, is beacon.Hotspot, at time.Time) error {
	if was.Deleted() {
		return nil // its address was freed then
	}
	same := was.Device.MAC.Canonical() == is.Device.MAC.Canonical()
	if !same && !is.Deleted() {
		other, err := reservedFor(tx, is.Device.MAC, is.Operator, at)
		if err != nil {
			return err
		}
		if other {
			if err := restoreHotspot(tx, was, is.Version); err != nil {
				return err
			}
			return macTaken(nil)
		}
	}
	if same && !is.Deleted() {
		return nil
	}
	until := at
	if by == was.Operator {
		until = at.Add(macReserved)
	}
	return tx.write(sqlText.freeMAC, was.Device.MAC.Canonical(), string(was.Operator), micros(until))
}

// ReleaseMAC ends the reservation of a MAC address, and returns for whom it was reserved.
// It returns NotFound for an address that is not reserved.
func (db *DB) ReleaseMAC(ctx context.Context, mac beacon.MAC, reason string, by beacon.Actor, now time.Time) (owner beacon.UserID, err error) {
	by.Note = mac.Canonical() + ": " + reason
	op := &operation{order: "freed " + mac.Canonical()}
	var user string
	op.run = func(tx *transaction) (changes, error) {
		reserved, err := tx.row([]any{&user}, sqlText.freedMAC, mac.Canonical(), "", micros(now))
		if err != nil {
			return nil, err
		}
		if !reserved {
			return nil, &beacon.Error{Kind: beacon.NotFound, Message: "this MAC address is not reserved for anyone"}
		}
		if err = by.Once.Keep(beacon.ReleasedMAC{MAC: mac, User: beacon.UserID(user)}); err == nil {
			err = tx.write(sqlText.freeMAC, mac.Canonical(), user, micros(now))
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
	row, err := rowOf(was)
	if err != nil {
		return internal("restore hotspot", err)
	}
	_, err = row.write(tx, version)
	return err
}

// PruneFreedMACs deletes reservations that have ended by now, at most pruneSize of them.
func (db *DB) PruneFreedMACs(ctx context.Context, now time.Time) error {
	return db.exec(ctx, "freed", nil, sqlText.pruneFreedMACs, micros(now), pruneSize)
}
