//go:build linux

package endtoend_test

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/beacon-wifi/beacon/rig"
	"github.com/beacon-wifi/beacon/store/storetest"
)

// A day of so many hotspots is closed, and their month settled, in several
// transactions.
const (
	manyHotspots = 2400
	manyUsers    = 1300
)

// copyHotspots gives every hotspot that has a record many copies, which belong
// to other users. They are deleted, and no server has them in memory; but they
// have records of some days, and these earn.
func copyHotspots(t testing.TB, db string, days ...bookDay) {
	t.Helper()
	handle := rig.OpenSQL(t, db)
	defer handle.Close() // who uses a database is in the way of copying it
	if n := number(t, handle, `SELECT count(DISTINCT hotspot) FROM records`); n == 0 {
		t.Fatal("there is nothing to copy")
	}
	// Decimal digits are among those of an id.
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d),
		sources (place, id, day) AS (SELECT row_number() OVER (ORDER BY hotspot) - 1, hotspot, min(day) FROM records
			WHERE hotspot IN (SELECT id FROM hotspots WHERE linked_at <> 0) GROUP BY hotspot),
		copies (i, source, day, id, operator) AS (
			SELECT i, h.id, s.day, substr(h.id, 1, 24) || substr(CAST(100000 + i AS text), 2),
				substr(h.operator_id, 1, 25) || substr(CAST(100000 + i %% %d AS text), 2)
			FROM n JOIN sources s ON s.place = i %% (SELECT count(*) FROM sources) JOIN hotspots h ON h.id = s.id) `
	with := fmt.Sprintf(numbers, manyHotspots, manyUsers)
	const same = `name, type, lat, lng, address, verified_at, ssid, mac, max_connections, bandwidth_limit_mbps, operating_hours,
		coverage_radius_m, created_at, updated_at, version, past_hours, past_service`
	change(t, handle, with+`INSERT INTO hotspots (id, operator_id, deleted_at, linked_at, device_hash, `+same+`)
		SELECT c.id, c.operator, created_at - 2592000000000, 0, '', `+same+` FROM copies c JOIN hotspots h ON h.id = c.source`)
	for _, day := range days {
		change(t, handle, with+`INSERT INTO records (day, hotspot, data)
			SELECT `+fmt.Sprint(int64(day))+`, c.id, r.data FROM copies c JOIN records r ON r.hotspot = c.source AND r.day = c.day`)
	}
}

// prepareMany makes a database with many hotspots that have records of some
// days; none is closed. The users have nothing in common with each other.
func prepareMany(t *testing.T, db string, days ...bookDay) (staff *rig.Client, devices []*rig.Device) {
	t.Helper()
	staff = rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	clock := &simulatedClock{at: days[0].time().Add(12 * time.Hour), real: time.Now(), rate: 600}
	s := rig.Start(t, db, clock.flags()...)
	devices = rig.LinkDevices(t, staff, s, 0, 3)
	folds := func() int { return strings.Count(s.Log(t), `"heartbeats folded"`) }
	for i, d := range devices {
		d.Bytes = uint64(i) * 9_000_000_000
		if a := d.Beat(t.Context(), staff, s); a.Status != 200 {
			t.Fatalf("a beat was answered %d %s", a.Status, a.Code)
		}
	}
	before := folds()
	rig.Eventually(t, 20*time.Second, "the beats are folded", func() bool { return folds() >= before+3 })
	s.Stop(t, 10*time.Second)
	copyHotspots(t, db, days...)
	return staff, devices
}

// copyDatabase makes a copy of a database that nobody uses.
func copyDatabase(t *testing.T, db string) string {
	t.Helper()
	if !rig.IsPostgres(db) {
		file := rig.NewDatabase(t, "sqlite")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			copyFile(t, db+suffix, file+suffix)
		}
		return file
	}
	fresh := storetest.Postgres(t)
	address, err := url.Parse(fresh)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	source, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), os.Getenv(storetest.PostgresVariable))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `DROP DATABASE `+name); err != nil { // an empty one
		t.Fatal(err)
	}
	rig.Eventually(t, 10*time.Second, "nobody uses the database that is to be copied", func() bool {
		_, err = conn.Exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+strings.TrimPrefix(source.Path, "/"))
		return err == nil
	})
	return fresh
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}
