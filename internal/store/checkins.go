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

// A check-in that replaces an earlier one is not counted. The phone was there on this
// day even if it says something else later.
const putCheckInSQL = `INSERT INTO checkins (hotspot, day, install, operator, user_id, at, works, measured, visited, evidence)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
		WHERE (SELECT count(*) FROM checkins WHERE hotspot = $1 AND day = $2 AND visited = $9 AND evidence = $10 AND install <> $3) < $11
			AND (SELECT count(*) FROM checkins WHERE install = $3 AND day = $2 AND hotspot <> $1) < $12
		ON CONFLICT (hotspot, day, install) DO UPDATE SET user_id = excluded.user_id, at = excluded.at, works = excluded.works,
			measured = excluded.measured, visited = checkins.visited + excluded.visited - checkins.visited * excluded.visited, evidence = excluded.evidence`

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
func (db CheckInTable) PutCheckIn(ctx context.Context, c beacon.CheckIn, by beacon.Actor, vouch Voucher) (vouched *beacon.Hotspot, err error) {
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
		n, err := tx.exec(putCheckInSQL, values...)
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

const evidenceSQL = `SELECT count(DISTINCT install), count(DISTINCT day) FROM checkins
		WHERE hotspot = $1 AND day >= $2 AND evidence = 1 AND works = 1`

var hotspotSQL = `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1 AND deleted_at = 0`

// vouchOnce updates the hotspot if it is to be. The check-in is written in any case: if
// the hotspot was deleted, or changes all the time, another one will extend the proof.
func vouchOnce(tx *transaction, op *operation, id beacon.HotspotID, vouch Voucher, result *beacon.Hotspot) (*beacon.Change, error) {
	edit := func(h *beacon.Hotspot) (bool, error) {
		return vouch(h, func(since beacon.Day) (installs, days int, err error) {
			_, err = tx.row([]any{&installs, &days}, evidenceSQL, string(id), int64(since))
			return installs, days, err
		})
	}
	change, _, err := updateOnce(tx, op, hotspotSQL, id, edit, result)
	if tx.failed == nil && beacon.KindOf(err) == beacon.NotFound {
		return nil, nil //nolint:nilnil // nothing changed
	}
	return change, err
}

const operatorsOfSQL = `SELECT count(DISTINCT operator) FROM checkins WHERE install = $1 AND day >= $2 AND visited = 1 AND operator <> $3`

// CheckedInAt returns at the visited hotspots of how many operators an install has
// checked in since a day, apart from one.
func (db CheckInTable) CheckedInAt(ctx context.Context, install beacon.Install, since beacon.Day, except beacon.UserID) (operators int, err error) {
	_, err = readRow(ctx, db, []any{&operators}, operatorsOfSQL, install[:], int64(since), string(except))
	return operators, err
}

const qualitySQL = `SELECT count(*), coalesce(sum(works), 0), count(DISTINCT install) FROM checkins
		WHERE hotspot = $1 AND day BETWEEN $2 AND $3 AND evidence = 1`

// Quality returns what the check-ins of some days say of a hotspot.
func (db CheckInTable) Quality(ctx context.Context, hotspot beacon.HotspotID, first, last beacon.Day) (q beacon.Quality, err error) {
	_, err = readRow(ctx, db, []any{&q.CheckIns, &q.Working, &q.Installs}, qualitySQL, string(hotspot), int64(first), int64(last))
	return q, err
}

const pruneAddressesSQL = `DELETE FROM device_addresses WHERE hotspot IN
		(SELECT hotspot FROM device_addresses WHERE at < $1 ORDER BY hotspot LIMIT $2)`

const pruneCheckInsSQL = `DELETE FROM checkins WHERE (hotspot, day, install) IN
		(SELECT hotspot, day, install FROM checkins WHERE day < $1 ORDER BY day LIMIT $2)`

// PruneCheckIns deletes the check-ins of days before one, and the addresses of devices
// noted before a time.
func (db CheckInTable) PruneCheckIns(ctx context.Context, before beacon.Day, noted time.Time) error {
	_, err := db.prune(ctx, "addresses", pruneAddressesSQL, micros(noted))
	if err == nil {
		_, err = db.prune(ctx, "checkins", pruneCheckInsSQL, int64(before))
	}
	return err
}

const putAddressesSQL = `INSERT INTO device_addresses (hotspot, address, network, at) VALUES (…) ON CONFLICT (hotspot) DO UPDATE SET address = excluded.address, network = excluded.network, at = excluded.at`

// PutAddresses notes from where devices send, at most one address of each. It sorts them,
// so that two nodes lock their rows in the same order: in PostgreSQL they would wait for
// each other until one of them fails after a second, and all other writes with them.
func (db CheckInTable) PutAddresses(ctx context.Context, noted []beacon.DeviceAddress) error {
	noted = slices.Clone(noted) // the caller may leave before they are written
	slices.SortFunc(noted, func(a, b beacon.DeviceAddress) int { return cmp.Compare(a.Hotspot, b.Hotspot) })
	return db.commit(ctx, "addresses", func(tx *transaction) (changes, error) {
		return nil, putRows(tx, putAddressesSQL, noted, addressRow)
	})
}

// DeviceAddress returns from where the device of a hotspot last sent, or the zero value if
// that is not known.
func (db CheckInTable) DeviceAddress(ctx context.Context, hotspot beacon.HotspotID) (a beacon.DeviceAddress, err error) {
	a, _, err = first(ctx, db, addressRow, `SELECT hotspot, address, network, at FROM device_addresses WHERE hotspot = $1`, string(hotspot))
	return a, err
}

const deviceAddressesSQL = `SELECT hotspot, address, network, at FROM device_addresses WHERE hotspot IN (…)`

// DeviceAddresses returns from where the devices of some hotspots last sent, where that is
// known.
func (db CheckInTable) DeviceAddresses(ctx context.Context, ids []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error) {
	rows, err := listByID(ctx, db, addressRow, deviceAddressesSQL, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[beacon.HotspotID]beacon.DeviceAddress, len(rows))
	for _, a := range rows {
		found[a.Hotspot] = a
	}
	return found, nil
}

func addressRow(a *beacon.DeviceAddress) []any {
	return []any{(*string)(&a.Hotspot), &a.Hash, &a.Network, moment(&a.At)}
}

const makeHashKeySQL = `INSERT INTO hash_keys (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`

// HashKey returns the random key of some hashes, which all servers share. The first call
// stores the one it is given.
func (db CheckInTable) HashKey(ctx context.Context, name string, made [32]byte) (key [32]byte, err error) {
	if err := db.exec(ctx, "hash key", nil, makeHashKeySQL, name, made[:]); err != nil {
		return key, err
	}
	var stored []byte
	_, err = readRow(ctx, db, []any{&stored}, `SELECT value FROM hash_keys WHERE name = $1`, name)
	if err == nil && copy(key[:], stored) != len(key) {
		err = internal("read the key of hashes", fmt.Errorf("it has %d bytes", len(stored)))
	}
	return key, err
}
