package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// PutCheckIn writes a check-in, once if the actor says so (see doOnce). It replaces the
// earlier one of its install, hotspot and day, apart from Visited. If the day already has
// beacon.CheckInsPerHotspot others of the hotspot with the same Visited and Evidence, or
// beacon.CheckInsPerInstall others of the install, it writes nothing and returns nil: an
// app must not learn whether others check in at a hotspot (decision D216). Processes that
// write at the same time may together exceed these limits by what they have under way.
//
// If vouch is not nil, it is called in the same transaction with the hotspot and a function
// that counts the evidence since a day: of how many installs, on how many days. If it
// changes the hotspot, that is written as the next version, with the change
// HotspotVouched, and returned. It may run more than once.
func (db *DB) PutCheckIn(ctx context.Context, c beacon.CheckIn, by beacon.Actor, vouch Voucher) (vouched *beacon.Hotspot, err error) {
	measured, err := encodeMeasured(c.Measured)
	if err := errors.Join(err, storableText(string(c.Hotspot), string(c.Operator), string(c.User))); err != nil {
		return nil, internal("put check-in", err)
	}
	values := []any{
		string(c.Hotspot), int64(beacon.DayOf(c.At)), c.Install[:], string(c.Operator), string(c.User), micros(c.At), bit(c.Works),
		measured, bit(c.Visited), bit(c.Evidence), beacon.CheckInsPerHotspot, beacon.CheckInsPerInstall,
	}
	op := &operation{order: "hotspot by id " + string(c.Hotspot)}
	op.run = func(tx *transaction) (changes, error) {
		vouched = nil
		n, err := tx.exec(sqlText.putCheckIn, values...)
		if err != nil || n == 0 || vouch == nil {
			return nil, err
		}
		var result beacon.Hotspot
		change, err := vouchOnce(tx, op, c.Hotspot, vouch, &result)
		if change == nil || err != nil {
			return nil, err
		}
		change.Kind, change.Actor = beacon.HotspotVouched, beacon.Actor{Request: by.Request} // not who was there
		vouched = &result
		return changes{change}, nil
	}
	if err := db.doOnce(ctx, op, by); err != nil {
		return nil, err // vouched may still be written
	}
	return vouched, nil
}

// Voucher decides whether check-ins extend the proof of a hotspot's place, and changes the
// hotspot if so.
type Voucher = func(h *beacon.Hotspot, evidence func(since beacon.Day) (installs, days int, err error)) (changed bool, err error)

// vouchOnce updates the hotspot if it is to be. The check-in is written in any case: if
// the hotspot was deleted, or changes all the time, another one will extend the proof.
func vouchOnce(tx *transaction, op *operation, id beacon.HotspotID, vouch Voucher, result *beacon.Hotspot) (*beacon.Change, error) {
	edit := func(h *beacon.Hotspot) (bool, error) {
		return vouch(h, func(since beacon.Day) (installs, days int, err error) {
			_, err = tx.row([]any{&installs, &days}, sqlText.evidence, string(id), int64(since))
			return installs, days, err
		})
	}
	change, _, err := updateOnce(tx, op, sqlText.hotspot, id, edit, result)
	if tx.failed == nil && beacon.KindOf(err) == beacon.NotFound {
		return nil, nil //nolint:nilnil // nothing changed
	}
	return change, err
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// CheckedInAt returns at the visited hotspots of how many operators an install has
// checked in since a day, apart from one.
func (db *DB) CheckedInAt(ctx context.Context, install beacon.Install, since beacon.Day, except beacon.UserID) (operators int, err error) {
	_, err = db.queryRow(ctx, []any{&operators}, sqlText.operatorsOf, install[:], int64(since), string(except))
	return operators, err
}

// Quality returns what the check-ins of some days say of a hotspot.
func (db *DB) Quality(ctx context.Context, hotspot beacon.HotspotID, first, last beacon.Day) (q beacon.Quality, err error) {
	_, err = db.queryRow(ctx, []any{&q.CheckIns, &q.Working, &q.Installs}, sqlText.quality, string(hotspot), int64(first), int64(last))
	return q, err
}

// PruneCheckIns deletes the check-ins of days before one, and the addresses of devices
// noted before a time.
func (db *DB) PruneCheckIns(ctx context.Context, before beacon.Day, noted time.Time) error {
	_, err := db.prune(ctx, "addresses", sqlText.pruneAddresses, micros(noted))
	if err == nil {
		_, err = db.prune(ctx, "checkins", sqlText.pruneCheckIns, int64(before))
	}
	return err
}

// PutAddresses notes from where devices send, at most one address of each. It sorts them,
// so that two nodes lock their rows in the same order: in PostgreSQL they would wait for
// each other until one of them fails after a second, and all other writes with them.
func (db *DB) PutAddresses(ctx context.Context, noted []beacon.DeviceAddress) error {
	noted = slices.Clone(noted) // the caller may leave before they are written
	slices.SortFunc(noted, func(a, b beacon.DeviceAddress) int { return cmp.Compare(a.Hotspot, b.Hotspot) })
	return db.commit(ctx, "addresses", func(tx *transaction) (changes, error) {
		return nil, putRows(tx, sqlText.putAddresses[:], noted, func(values []any, a *beacon.DeviceAddress) []any {
			return append(values, string(a.Hotspot), a.Hash, micros(a.At))
		})
	})
}

// DeviceAddress returns from where the device of a hotspot last sent, as far as it is
// known: the zero value if not at all.
func (db *DB) DeviceAddress(ctx context.Context, hotspot beacon.HotspotID) (a beacon.DeviceAddress, err error) {
	a, _, err = queryFirst(ctx, db, addressRow, sqlText.deviceAddress, string(hotspot))
	return a, err
}

// DeviceAddresses returns from where the devices of some hotspots last sent, as far as it
// is known.
func (db *DB) DeviceAddresses(ctx context.Context, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error) {
	rows, err := appendByID(ctx, db, nil, sqlText.deviceAddresses, addressRow, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[beacon.HotspotID]beacon.DeviceAddress, len(rows))
	for _, a := range rows {
		found[a.Hotspot] = a
	}
	return found, nil
}

func addressRow(a *beacon.DeviceAddress) ([]any, func() error) {
	return []any{(*string)(&a.Hotspot), &a.Hash, (*moment)(&a.At)}, done
}

// HashKey returns the random key of some hashes, which all servers share. The first call
// stores the one it is given.
func (db *DB) HashKey(ctx context.Context, name string, made [32]byte) (key [32]byte, err error) {
	if err := db.exec(ctx, "hash key", nil, sqlText.makeHashKey, name, made[:]); err != nil {
		return key, err
	}
	var stored []byte
	_, err = db.queryRow(ctx, []any{&stored}, sqlText.hashKey, name)
	if err == nil && copy(key[:], stored) != len(key) {
		err = internal("read the key of hashes", fmt.Errorf("it has %d bytes", len(stored)))
	}
	return key, err
}
