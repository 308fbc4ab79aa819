package store

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Enrol links a device with an enrolment key. Use gets what the key is and may do, and the live
// hotspot with the MAC address; its error is returned unchanged, and nothing is written. If it
// returns nil, the hotspot is written as the next version, and the enrolment is counted. If no
// hotspot has the address, use gets one without a Version, and makes a new one of it that is
// registered before it is linked; Enrol returns Conflict if the address is reserved for others.
//
// Use may run more than once, each time on the then current rows, and never after Enrol
// returns. If the actor has a Once, use sets its result (see doOnce).
func (db HotspotTable) Enrol(
	ctx context.Context, key beacon.KeyID, mac beacon.MAC, by beacon.Actor, now time.Time, use func(beacon.Enrolling, *beacon.Hotspot) error,
) (beacon.Hotspot, error) {
	e := &enrolment{key: key, mac: mac, by: by, now: now, use: use, op: &operation{order: "enrolment " + string(key), by: by, duplicate: beacon.Conflicting}}
	e.op.run = e.run
	if err := db.doOnce(ctx, e.op, by); err != nil {
		return beacon.Hotspot{}, err
	}
	return e.result, nil
}

// enrolment is one use of an enrolment key.
type enrolment struct {
	key beacon.KeyID
	mac beacon.MAC
	by  beacon.Actor
	now time.Time
	use func(beacon.Enrolling, *beacon.Hotspot) error
	op  *operation

	result beacon.Hotspot
}

const (
	lockKeySQL      = `UPDATE api_keys SET enrolled = enrolled WHERE id = $1`
	countEnrolSQL   = `UPDATE api_keys SET enrolled = enrolled + 1 WHERE id = $1`
	hotspotOfMACSQL = `SELECT id FROM hotspots WHERE mac_live = $1`
)

// run locks the key first, so that of two concurrent uses one waits for the other, and then
// reads how many there were.
func (e *enrolment) run(tx *transaction) (changes, error) {
	if _, err := tx.exec(lockKeySQL, string(e.key)); err != nil {
		return nil, err
	}
	found, err := e.read(tx)
	if err != nil {
		return nil, err
	}
	id, taken, err := first(tx.ctx, tx, label[beacon.HotspotID], hotspotOfMACSQL, e.mac.Canonical())
	if err != nil {
		return nil, err
	}
	var made changes
	if taken {
		made, err = e.link(tx, found, id)
	} else {
		made, err = e.register(tx, found)
	}
	if err != nil {
		return nil, err
	}
	return made, tx.write(countEnrolSQL, string(e.key))
}

func (e *enrolment) read(tx *transaction) (found beacon.Enrolling, err error) {
	found.Key, _, err = first(tx.ctx, tx, keyRow, keySQL, string(e.key))
	if err == nil && found.Key.Enrolment.Register {
		found.Waiting, found.Discarded, found.Quota, err = countUnverified(tx, found.Key.User, e.now.Add(-24*time.Hour))
	}
	return found, err
}

// link links a hotspot that exists.
func (e *enrolment) link(tx *transaction, found beacon.Enrolling, id beacon.HotspotID) (changes, error) {
	change, err := update(tx, e.op, hotspotSQL, id, func(h *beacon.Hotspot) (bool, error) { return true, e.use(found, h) }, &e.result)
	if err != nil {
		return nil, err
	}
	change.Kind, change.Actor = beacon.HotspotLinked, e.by
	return changes{change}, nil
}

// register writes two versions of a hotspot, as if it had been registered and then linked.
func (e *enrolment) register(tx *transaction, found beacon.Enrolling) (changes, error) {
	var linked beacon.Hotspot
	if err := e.op.asCaller(tx, func() error { return e.use(found, &linked) }); err != nil {
		return nil, err
	}
	unlinked := linked
	unlinked.Version, linked.Version = 1, 2
	unlinked.Device.Unlink()
	before, err := hotspotValues(unlinked)
	if err != nil {
		return nil, internal("enrol a hotspot", err)
	}
	after, err := hotspotValues(linked)
	if err == nil {
		e.result, err = readBack(after)
	}
	if err != nil {
		return nil, internal("enrol a hotspot", err)
	}
	if err := insertHotspot(tx, unlinked, before, nil); err != nil {
		return nil, err
	}
	_, err = writeHotspot(tx, after, linked.ID, unlinked.Version)
	id := string(linked.ID)
	return changes{
		{Kind: beacon.HotspotRegistered, Target: id, Version: unlinked.Version, Actor: e.by, At: e.now},
		{Kind: beacon.HotspotLinked, Target: id, Version: linked.Version, Actor: e.by, At: e.now},
	}, err
}

// ownSQL has the hotspots of a user among some.
const ownSQL = `SELECT id FROM hotspots WHERE operator_id = $1 AND deleted_at = 0 AND id IN (…)`

// foreignHotspot returns the first hotspot that a new key names and that is not one of its
// user's, or "".
func foreignHotspot(tx *transaction, k beacon.Key) (beacon.HotspotID, error) {
	own, err := listByID(tx.ctx, tx, label[beacon.HotspotID], ownSQL, k.Enrolment.Hotspots, string(k.User))
	if err != nil {
		return "", err
	}
	known := map[beacon.HotspotID]bool{}
	for _, id := range own {
		known[id] = true
	}
	for _, id := range k.Enrolment.Hotspots {
		if !known[id] {
			return id, nil
		}
	}
	return "", nil
}
