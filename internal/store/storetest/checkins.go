package storetest

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// checkIn returns evidence that a hotspot works.
func checkIn(hotspot, install, daysAgo int) beacon.CheckIn {
	return beacon.CheckIn{
		Hotspot: Hotspot(hotspot).ID, Operator: "usr_tester", User: "usr_app", Install: beacon.Install{0, 0xff, byte(install), byte(install >> 8)},
		At: Now.AddDate(0, 0, -daysAgo), Works: true, Measured: beacon.Measured{DownMbps: 93.4, UpMbps: 12, RSSI: -61}, Visited: true, Evidence: true,
	}
}

func putCheckIn(t testing.TB, db *store.DB, all ...beacon.CheckIn) {
	t.Helper()
	for _, c := range all {
		if _, err := db.CheckIns.PutCheckIn(t.Context(), c, Actor, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func wantQuality(t testing.TB, db *store.DB, hotspot, days int, want beacon.Quality) {
	t.Helper()
	got, err := db.CheckIns.Quality(t.Context(), Hotspot(hotspot).ID, beacon.DayOf(Now)-beacon.Day(days), beacon.DayOf(Now))
	if err != nil || got != want {
		t.Errorf("in %d days hotspot %d has %+v, %v; want %+v", days, hotspot, got, err, want)
	}
}

// checkIns: the latest of an install, hotspot and day wins, and old ones are deleted.
func checkIns(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	broken := checkIn(1, 2, 0)
	broken.Works = false
	silent := checkIn(1, 3, 0)
	silent.Evidence = false
	putCheckIn(t, db, checkIn(1, 1, 0), checkIn(1, 2, 0), checkIn(1, 1, 1), checkIn(1, 1, 30), silent, checkIn(2, 1, 0))
	putCheckIn(t, other, broken, broken)
	wantQuality(t, db, 1, 29, beacon.Quality{CheckIns: 3, Working: 2, Installs: 2})
	wantQuality(t, other, 1, 30, beacon.Quality{CheckIns: 4, Working: 3, Installs: 2})
	wantQuality(t, other, 3, 30, beacon.Quality{})
	wantHead(t, db, 0) // a check-in changes no hotspot

	if err := db.CheckIns.PruneCheckIns(t.Context(), beacon.DayOf(Now)-29, Now); err != nil {
		t.Fatal(err)
	}
	wantQuality(t, other, 1, 30, beacon.Quality{CheckIns: 3, Working: 2, Installs: 2})

	// Where an install was counts for each operator once, and only at visited hotspots.
	elsewhere := func(n int, operator beacon.UserID, visited bool) beacon.CheckIn {
		c := checkIn(n, 9, 0)
		c.Operator, c.Visited, c.Evidence = operator, visited, false
		return c
	}
	putCheckIn(t, db, elsewhere(6, "usr_b", true), elsewhere(6, "usr_b", true))
	putCheckIn(t, db, elsewhere(4, "usr_a", true), elsewhere(4, "usr_a", false), elsewhere(4, "usr_a", false), elsewhere(5, "usr_a", true), elsewhere(6, "usr_b", true), elsewhere(7, "usr_c", false))
	for except, want := range map[beacon.UserID]int{"usr_a": 1, "usr_b": 1, "usr_c": 2, "usr_tester": 2} {
		got, err := other.CheckIns.CheckedInAt(t.Context(), checkIn(1, 9, 0).Install, beacon.DayOf(Now), except)
		if err != nil || got != want {
			t.Errorf("apart from those of %s, it was at %d operators', %v; want %d", except, got, err, want)
		}
	}
	if n := must(db.CheckIns.CheckedInAt(t.Context(), checkIn(1, 9, 0).Install, beacon.DayOf(Now)+1, "")); n != 0 {
		t.Errorf("%d operators since tomorrow", n)
	}
}

// checkInsBounded: however many there are, few are kept, and others do not displace
// evidence. Nobody is told how many others there were.
func checkInsBounded(t *testing.T, database Database) {
	db := database.open(t)
	for n := range beacon.CheckInsPerHotspot {
		c := checkIn(1, n, 0)
		c.Evidence = false
		putCheckIn(t, db, c)
	}
	more := checkIn(1, 1000, 0)
	more.Evidence = false
	full := func(what string, c beacon.CheckIn) {
		t.Helper()
		c.Operator = "usr_other"
		vouched, err := db.CheckIns.PutCheckIn(t.Context(), c, Actor, func(*beacon.Hotspot, func(beacon.Day) (int, int, error)) (bool, error) {
			return true, nil
		})
		kept, counted := db.CheckIns.CheckedInAt(t.Context(), c.Install, beacon.DayOf(Now), "usr_tester")
		if err != nil || vouched != nil || counted != nil || kept != 0 {
			t.Errorf("%s: %v, %v; kept of %d operators, %v", what, vouched, err, kept, counted)
		}
	}
	full("one too many at a hotspot", more)
	again := checkIn(1, 0, 0)
	again.Evidence, again.Works = false, false
	putCheckIn(t, db, checkIn(1, 1000, 0), again, checkIn(1, 1000, 1))

	for n := range beacon.CheckInsPerInstall {
		putCheckIn(t, db, checkIn(10+n, 2000, 0))
	}
	full("one too many of an install", checkIn(1, 2000, 0))
	putCheckIn(t, db, checkIn(10, 2000, 0), checkIn(1, 2000, 1))
}

// checkInsVouch: the check-in and what it does to its hotspot are one write.
func checkInsVouch(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	before := Hotspot(1)
	insert(t, db, before)
	asked := 0
	vouch := func(h *beacon.Hotspot, evidence func(beacon.Day) (int, int, error)) (bool, error) {
		installs, days, err := evidence(beacon.DayOf(Now) - 1)
		asked = 10*installs + days
		h.Vouches = append(h.Vouches, Now)
		return installs > 1, err
	}
	silent := checkIn(1, 7, 0)
	silent.Works = false
	putCheckIn(t, db, checkIn(1, 1, 0), checkIn(1, 1, 1), checkIn(1, 6, 2), silent)
	vouched, err := db.CheckIns.PutCheckIn(t.Context(), checkIn(1, 1, 0), Actor, vouch)
	if err != nil || vouched != nil || asked != 12 {
		t.Errorf("one install: %v, %v, asked for %d", vouched, err, asked)
	}
	wantHead(t, db, 1)
	want := before
	want.Vouches, want.Version = append(before.Vouches[:2:2], Now), 2
	vouched, err = db.CheckIns.PutCheckIn(t.Context(), checkIn(1, 2, 0), Actor, vouch)
	if err != nil || vouched == nil {
		t.Fatalf("two installs: %v, %v", vouched, err)
	}
	equal(t, "the answer", *vouched, want)
	equal(t, "the hotspot", must(other.Hotspots.Hotspot(t.Context(), before.ID)), want)
	wantAudit(t, db, 1, "hotspot.vouched")
	if by := must(db.Changes.Changes(t.Context(), db.Node(), 1, 1))[0].Actor; by != (beacon.Actor{Request: Actor.Request}) {
		t.Errorf("the audit tells who was at a hotspot: %+v", by)
	}

	remove(t, db, before.ID)
	if vouched, err := db.CheckIns.PutCheckIn(t.Context(), checkIn(1, 3, 0), Actor, vouch); err != nil || vouched != nil {
		t.Errorf("a deleted hotspot: %v, %v", vouched, err)
	}
	wantQuality(t, other, 1, 1, beacon.Quality{CheckIns: 5, Working: 4, Installs: 4})
}

// checkInsRepeated: a request with an Idempotency-Key takes effect once.
func checkInsRepeated(t *testing.T, database Database) {
	db := database.open(t)
	by := Actor
	by.Once = &beacon.Once{Owner: "usr_app", Key: "1", At: Now, ExpiresAt: Now.Add(time.Hour), Result: []byte("{}")}
	if _, err := db.CheckIns.PutCheckIn(t.Context(), checkIn(1, 1, 0), by, nil); err != nil {
		t.Fatal(err)
	}
	_, err := db.CheckIns.PutCheckIn(t.Context(), checkIn(1, 2, 0), by, nil)
	wantErr(t, "the second request", err, beacon.ErrRepeated)
	wantQuality(t, db, 1, 0, beacon.Quality{CheckIns: 1, Working: 1, Installs: 1})
	if first := must(db.Requests.Once(t.Context(), "usr_app", "1", Now)); first == nil || string(first.Result) != "{}" {
		t.Errorf("remembered: %v", first)
	}
}

// deviceAddresses: the latest is known, on every node, until it is old.
func deviceAddresses(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	var many []beacon.DeviceAddress
	for n := range 1000 {
		many = append(many, beacon.DeviceAddress{Hotspot: Hotspot(n).ID, Hash: int64(-n), Network: int64(n), At: Now})
	}
	if err := db.CheckIns.PutAddresses(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	moved := many[7]
	moved.Hash, moved.At = 1<<47, Now.Add(time.Minute)
	if err := other.CheckIns.PutAddresses(t.Context(), []beacon.DeviceAddress{moved}); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]beacon.DeviceAddress{6: many[6], 7: moved, 1001: {}} {
		if got, err := db.CheckIns.DeviceAddress(t.Context(), Hotspot(n).ID); err != nil || got != want {
			t.Errorf("the device of hotspot %d is at %+v, %v; want %+v", n, got, err, want)
		}
	}
	asked := []beacon.HotspotID{Hotspot(6).ID, Hotspot(7).ID, Hotspot(1001).ID}
	equal(t, "several", must(db.CheckIns.DeviceAddresses(t.Context(), asked)), map[beacon.HotspotID]beacon.DeviceAddress{asked[0]: many[6], asked[1]: moved})
	equal(t, "none", must(db.CheckIns.DeviceAddresses(t.Context(), nil)), map[beacon.HotspotID]beacon.DeviceAddress{})
	if err := other.CheckIns.PruneCheckIns(t.Context(), 0, Now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]beacon.DeviceAddress{6: {}, 7: moved} {
		if got, err := db.CheckIns.DeviceAddress(t.Context(), Hotspot(n).ID); err != nil || got != want {
			t.Errorf("later the device of hotspot %d is at %+v, %v; want %+v", n, got, err, want)
		}
	}
	if err := db.CheckIns.PutAddresses(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// hashKey: the first one that is stored is everyone's.
func hashKey(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	first, second := [32]byte{0, 1, 0xff}, [32]byte{2}
	for i, made := range [][32]byte{first, second} {
		if got, err := []*store.DB{db, other}[i].CheckIns.HashKey(t.Context(), "a", made); err != nil || got != first {
			t.Errorf("call %d: %v, %v; want the first", i, got, err)
		}
	}
	if got := must(db.CheckIns.HashKey(t.Context(), "b", second)); got != second {
		t.Errorf("another name: %v", got)
	}
}
