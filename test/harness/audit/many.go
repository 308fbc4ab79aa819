//go:build linux

package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Crowd is how many hotspots there are, and to how many users they belong.
type Crowd struct{ Hotspots, Users int }

// Page is how many hotspots or users a server closes or settles in one transaction.
// In make test it is fewer than in the product, and there are fewer of them: tests
// that count on it build a server with pages of that size.
var Page = level.Rounds(100, 1000, 1000)

// Many is so many that a day is closed in three transactions, and statements are
// written in two; Few is for when that does not matter.
var (
	Many = Crowd{Page * 24 / 10, Page * 13 / 10}
	Few  = Crowd{6, 4}
)

// copyHotspots gives every hotspot that has a record many copies, which belong
// to other users. They are deleted, and no server has them in memory; but they
// have records of some days, and these earn.
func copyHotspots(t testing.TB, db string, crowd Crowd, days ...Day) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	defer handle.Close() // who uses a database is in the way of copying it
	if n := Number(t, handle, `SELECT count(DISTINCT hotspot) FROM records`); n == 0 {
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
	with := fmt.Sprintf(numbers, crowd.Hotspots, crowd.Users)
	const same = `name, type, lat, lng, address, verified_at, ssid, mac, max_connections, bandwidth_limit_mbps, operating_hours,
		coverage_radius_m, created_at, updated_at, version, past_hours, past_service`
	Change(t, handle, with+`INSERT INTO hotspots (id, operator_id, deleted_at, linked_at, device_hash, `+same+`)
		SELECT c.id, c.operator, created_at - 2592000000000, 0, '', `+same+` FROM copies c JOIN hotspots h ON h.id = c.source`)
	for _, day := range days {
		Change(t, handle, with+`INSERT INTO records (day, hotspot, data)
			SELECT `+fmt.Sprint(int64(day))+`, c.id, r.data FROM copies c JOIN records r ON r.hotspot = c.source AND r.day = c.day`)
	}
}

// Prepare makes a database with a crowd of hotspots that have records of some days;
// none is closed. The users have nothing in common with each other. The clock says the
// first of the days.
func Prepare(t *testing.T, clock *harness.HeldClock, db string, crowd Crowd, days ...Day) (staff *harness.Client, devices []*harness.Device) {
	t.Helper()
	staff = harness.NewClient(t, harness.CreateKey(t, db, "admin").Key)
	s := clock.Start(t, db)
	devices = harness.LinkDevices(t, staff, s, 0, 3)
	for i, d := range devices {
		d.Bytes = uint64(i) * 9_000_000_000
		if a := harness.Insist(func() harness.Answer { return d.Beat(t.Context(), staff, s) }); a.Status != 200 {
			t.Fatalf("a beat was answered %d %s", a.Status, a.Code)
		}
	}
	// A record that is written less than three minutes after a beat lacks its minute until
	// the hotspot is folded again. So no time passes before the beats are there.
	clock.Pass(20 * time.Minute)
	others := 0 // folds while it did not hold the lease, as on a machine that is too busy to renew it
	harness.Eventually(t, "the beats are folded", func() bool {
		log := s.Log(t)
		if n := strings.Count(log, `"keeper":false`); n > others {
			others = n
			clock.Pass(5 * time.Minute) // for the next one
		}
		return strings.Contains(log, `"keeper":true`)
	})
	s.Stop(t)
	copyHotspots(t, db, crowd, days...)
	return staff, devices
}

// ConfirmDate says as staff what day it is, before a server is started whose clock is
// far ahead of the last one's: that cannot be told from a clock that is wrong.
func ConfirmDate(t testing.TB, db string, at time.Time) {
	t.Helper()
	harness.Command(t, "rewards", "clock", "--db", db, "--confirm", at.UTC().Format(time.DateOnly), "--clock-start", at.Format(time.RFC3339))
}

// CloseAll lets a server of a program close all days up to one.
func CloseAll(t *testing.T, p harness.Program, db string, last Day) {
	t.Helper()
	at := (last + 1).Time().Add(10 * time.Minute)
	ConfirmDate(t, db, at)
	clock := harness.NewClock(at, 1200)
	s := p.Start(t, db, clock.Flags()...)
	handle := harness.OpenSQL(t, db)
	harness.Eventually(t, "all days are closed", func() bool {
		s.Running(t)
		return Day(Number(t, handle, `SELECT max(day) FROM reward_days WHERE closed_at <> 0`)) >= last
	})
	s.Stop(t)
	handle.Close()
}

// AwaitClosed waits until a day is closed for everyone. A fold must have found that no
// beat of it can turn up any more, so time has to pass: pass moves the clock, and then it
// stands still for longer than the server takes to notice.
func AwaitClosed(t *testing.T, dsn, day string, s *harness.Server, pass func()) {
	t.Helper()
	db := harness.OpenSQL(t, dsn)
	closed := func() bool {
		return Day(Number(t, db, `SELECT coalesce(max(day), 0) FROM reward_days WHERE closed_at <> 0`)).String() >= day
	}
	harness.Eventually(t, day+" is closed", func() bool {
		s.Running(t)
		pass()
		for held := time.Now(); time.Since(held) < 1500*time.Millisecond && !closed(); {
			time.Sleep(20 * time.Millisecond) // between two looks
		}
		return t.Failed() || closed()
	})
}
