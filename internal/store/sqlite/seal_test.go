package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// column is one of a table, as SQLite tells it.
type column struct{ name, kind string }

func columnsOf(t *testing.T, path, table string) (all []column) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name, lower(type) FROM pragma_table_info($1)`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.kind); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// changed is an expression for another value of a column.
func (c column) changed() string {
	switch c.kind {
	case "blob", "bytea":
		return "zeroblob(32)"
	case "bigint", "double precision":
		return c.name + " + 1"
	default:
		return c.name + " || 'x'"
	}
}

// Whatever a disk changes of a hotspot or a key is noticed by whoever reads it,
// but for columns that say nothing by themselves.
func TestSeal_EveryColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	h := storetest.Hotspot(1)
	h.Location.VerifiedAt, h.Location.UnverifiedReason = time.Time{}, "found elsewhere" // a change of an empty reason is not noticed: see below
	if err := db.Hotspots.InsertHotspot(t.Context(), h, storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	k := beacon.Key{
		ID: "key_1", User: "usr_1", Name: "Front desk", Scopes: []beacon.Scope{beacon.HotspotsWrite}, SecretHash: [32]byte{1},
		CreatedAt: storetest.Now, ExpiresAt: storetest.Now.Add(time.Hour),
	}
	if err := db.Keys.InsertKey(t.Context(), k, storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	tables := []struct {
		name   string
		others []string // the key, the seal, and what is looked at in another way
		read   func() error
	}{
		{"hotspots", []string{"id", "seal", "mac_live", "version", "deleted_at"}, func() error { _, err := db.Hotspots.Hotspot(t.Context(), h.ID); return err }},
		{"api_keys", []string{"id", "seal", "revoked_at", "last_used_at", "enrolled"}, func() error { _, err := db.Keys.Key(t.Context(), k.ID); return err }},
	}
	for _, table := range tables {
		looked := 0
		for _, c := range columnsOf(t, path, table.name) {
			if slices.Contains(table.others, c.name) {
				continue
			}
			looked++
			raw(t, path, fmt.Sprintf(`CREATE TABLE kept AS SELECT * FROM %s`, table.name), fmt.Sprintf(`UPDATE %s SET %s = %s`, table.name, c.name, c.changed()))
			err := table.read()
			if err == nil {
				t.Errorf("%s.%s was changed, and nobody noticed", table.name, c.name)
			} else if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != beacon.Internal || strings.Contains(e.Error(), "Main St") {
				t.Errorf("%s.%s: %v", table.name, c.name, err)
			}
			raw(t, path, fmt.Sprintf(`DELETE FROM %s`, table.name), fmt.Sprintf(`INSERT INTO %s SELECT * FROM kept`, table.name), `DROP TABLE kept`)
			if err := table.read(); err != nil {
				t.Fatalf("%s.%s is as it was: %v", table.name, c.name, err)
			}
		}
		if looked < 6 {
			t.Errorf("%d columns of %s were looked at", looked, table.name)
		}
	}
}

// A hotspot that is damaged is named by those who read it alone or with others,
// is not changed, and can be accepted as it is by taking its seal away.
func TestSeal_Damaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	for n := range 3 {
		if err := db.Hotspots.InsertHotspot(t.Context(), storetest.Hotspot(n), storetest.Actor, nil); err != nil {
			t.Fatal(err)
		}
	}
	bad := storetest.Hotspot(1).ID
	raw(t, path, `UPDATE hotspots SET address = '1 Main St.' WHERE id = '`+string(bad)+`'`)
	rename := func(h *beacon.Hotspot) (bool, error) { h.Name = "Other"; return true, nil }
	each := func() error {
		return db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(beacon.Hotspot) error { return nil })
	}
	for what, err := range map[string]error{
		"Hotspot":       second(db.Hotspots.Hotspot(t.Context(), bad)),
		"HotspotsByID":  second(db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{storetest.Hotspot(0).ID, bad})),
		"EachHotspot":   each(),
		"UpdateHotspot": second(db.Hotspots.UpdateHotspot(t.Context(), bad, storetest.Actor, beacon.HotspotUpdated, rename)),
	} {
		if !errors.Is(err, store.ErrSeal) || !strings.Contains(err.Error(), string(bad)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	raw(t, path, `UPDATE hotspots SET seal = 0 WHERE id = '`+string(bad)+`'`)
	if h, err := db.Hotspots.Hotspot(t.Context(), bad); err != nil || h.Location.Address != "1 Main St." || h.Version != 1 {
		t.Errorf("without its seal, the hotspot is %+v, %v", h, err)
	}
	if err := each(); err != nil {
		t.Error(err)
	}
	if _, err := db.Hotspots.UpdateHotspot(t.Context(), bad, storetest.Actor, beacon.HotspotUpdated, rename); err != nil {
		t.Error(err)
	}
	raw(t, path, `UPDATE hotspots SET name = 'Others' WHERE id = '`+string(bad)+`'`)
	if _, err := db.Hotspots.Hotspot(t.Context(), bad); !errors.Is(err, store.ErrSeal) {
		t.Errorf("it was written again, and is not sealed: %v", err)
	}
}

// A program that is older than seals leaves the seal of the version before.
func TestSeal_OlderProgramBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	h := storetest.Hotspot(1)
	if err := db.Hotspots.InsertHotspot(t.Context(), h, storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	raw(t, path, `UPDATE hotspots SET name = 'Renamed', version = version + 1`)
	if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || read.Name != "Renamed" {
		t.Errorf("%+v, %v", read, err)
	}
}

// A program that is older than reasons seals what it knows, and leaves the reason.
func TestSeal_OlderThanReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	h := storetest.Hotspot(1)
	h.Location.VerifiedAt, h.Device.Agent, h.Visits, h.Vouches, h.Settings, h.Former = time.Time{}, beacon.Agent{}, nil, nil, beacon.DefaultSettings(h.Type), nil
	if err := db.Hotspots.InsertHotspot(t.Context(), h, storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	raw(t, path, `UPDATE hotspots SET unverified_reason = 'found elsewhere', show_ssid = 'shown'`)
	if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || read.Location.UnverifiedReason != "found elsewhere" || !read.Settings.ShowSSID {
		t.Errorf("%+v, %v", read.Location, err)
	}
	raw(t, path, `UPDATE hotspots SET verified_at = 1, seal = 0`) // a reason is for those that are not verified
	if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || read.Location.UnverifiedReason != "" {
		t.Errorf("%+v, %v", read.Location, err)
	}
}

// A program that is older than agents seals what it knows, and leaves the agent. That
// belongs to the device, which such a program may have unlinked.
func TestSeal_OlderThanAgents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beacon.db")
	db := open(t, path)
	h := storetest.Hotspot(1)
	h.Location.VerifiedAt, h.Location.UnverifiedReason, h.Device.Agent = time.Time{}, "found elsewhere", beacon.Agent{}
	h.Visits, h.Vouches, h.Settings, h.Former = nil, nil, beacon.DefaultSettings(h.Type), nil
	if err := db.Hotspots.InsertHotspot(t.Context(), h, storetest.Actor, nil); err != nil {
		t.Fatal(err)
	}
	raw(t, path, `UPDATE hotspots SET agent = '{"version":"1.0.0","at":1}'`)
	if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || read.Device.Agent.Version != "1.0.0" {
		t.Errorf("%+v, %v", read.Device, err)
	}
	raw(t, path, `UPDATE hotspots SET name = 'Others'`)
	if _, err := db.Hotspots.Hotspot(t.Context(), h.ID); !errors.Is(err, store.ErrSeal) {
		t.Errorf("a damaged row with an agent: %v", err)
	}
	raw(t, path, `UPDATE hotspots SET linked_at = 0, seal = 0`)
	if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || read.Device.Agent != (beacon.Agent{}) {
		t.Errorf("%+v, %v", read.Device, err)
	}
}

// A program that is older than visits seals what it knows, with a reason or without, and
// leaves the visits. One that knows them notices each change.
func TestSeal_Visits(t *testing.T) {
	for _, reason := range []string{"", "found elsewhere"} {
		path := filepath.Join(t.TempDir(), "beacon.db")
		db := open(t, path)
		h := storetest.Hotspot(1)
		h.Location.VerifiedAt, h.Location.UnverifiedReason, h.Visits, h.Vouches = time.Time{}, reason, nil, nil
		h.Device.Agent, h.Settings, h.Former = beacon.Agent{}, beacon.DefaultSettings(h.Type), nil
		if err := db.Hotspots.InsertHotspot(t.Context(), h, storetest.Actor, nil); err != nil {
			t.Fatal(err)
		}
		raw(t, path, `UPDATE hotspots SET visits = '[{"at":1,"lat":2,"lng":3,"accuracy_m":4}]'`)
		if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err != nil || len(read.Visits) != 1 || read.Visits[0].AccuracyM != 4 {
			t.Errorf("%+v, %v", read.Visits, err)
		}
		same := func(*beacon.Hotspot) (bool, error) { return true, nil }
		if _, err := db.Hotspots.UpdateHotspot(t.Context(), h.ID, storetest.Actor, beacon.HotspotVerified, same); err != nil {
			t.Fatal(err)
		}
		for _, damage := range []string{`replace(visits, '"lat":2', '"lat":3')`, `''`, `'{'`} {
			raw(t, path, `UPDATE hotspots SET name = '`+h.Name+`', visits = `+damage)
			if read, err := db.Hotspots.Hotspot(t.Context(), h.ID); err == nil {
				t.Errorf("visits are %s, and the hotspot is read as %+v", damage, read.Visits)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }
