package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// flags checks that a flag keeps its first day, that one that was dismissed returns only
// after its rest, that what is not seen again is forgotten, and that all of that needs the
// lease.
func flags(t *testing.T, database Database) {
	db := database.open(t)
	held := lead(t, db, "keeper")
	day := beacon.DayOf(Now)
	flag := func(hotspot beacon.HotspotID, weight int, day beacon.Day) beacon.Flag {
		return beacon.Flag{Hotspot: hotspot, Operator: "usr_a", Kind: beacon.TooRegular, Weight: weight, Facts: map[string]int64{"n": int64(day)}, First: day, Last: day}
	}
	see := func(day beacon.Day, flags ...beacon.Flag) {
		t.Helper()
		if err := db.Flags.PutFlags(t.Context(), held, flags); err != nil {
			t.Fatal(err)
		}
		if err := db.Flags.FinishReview(t.Context(), held, day, day-30, (day - 90).Time()); err != nil {
			t.Fatal(err)
		}
		if is, found, err := db.Flags.Reviewed(t.Context()); err != nil || !found || is != day {
			t.Fatalf("reviewed is %v, %v, %v; want %v", is, found, err, day)
		}
	}
	want := func(what string, total int, first ...beacon.Flag) {
		t.Helper()
		is, n, err := db.Flags.Flags(t.Context(), len(first))
		if err != nil || n != total {
			t.Fatalf("%s: %d flags, %v; want %d", what, n, err, total)
		}
		equal(t, what, is, first)
	}
	if _, found, err := db.Flags.Reviewed(t.Context()); found || err != nil {
		t.Fatalf("a new database was reviewed: %v", err)
	}
	want("a new database", 0)
	many := make([]beacon.Flag, 300)
	for i := range many {
		many[i] = flag(beacon.HotspotID(rune('a'+i%26))+beacon.HotspotID(rune('a'+i/26)), 1, day)
	}
	see(day, append(many, flag("hs_a", 2, day), flag("hs_b", 3, day))...)
	want("the highest first", 302, flag("hs_b", 3, day), flag("hs_a", 2, day), many[0])

	again := flag("hs_a", 4, day+1)
	see(day+1, again)
	again.First = day
	want("the first day is kept", 302, again, flag("hs_b", 3, day))

	by := beacon.Actor{User: "usr_staff", Request: "req_1"}
	refused := errors.New("refused")
	if err := db.Flags.DismissFlag(t.Context(), "hs_a", beacon.TooRegular, "seen", by, Now, func(beacon.UserID) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("a dismissal that is refused: %v", err)
	}
	want("it stays in the queue", 302, again, flag("hs_b", 3, day))
	anyone := func(beacon.UserID) error { return nil }
	if err := db.Flags.DismissFlag(t.Context(), "hs_a", beacon.TooRegular, "seen", by, Now, anyone); err != nil {
		t.Fatal(err)
	}
	for _, other := range []struct {
		hotspot beacon.HotspotID
		kind    beacon.FlagKind
	}{{"hs_a", beacon.TooRegular}, {"hs_b", beacon.ManyBoots}, {"hs_x", beacon.TooRegular}} {
		err := db.Flags.DismissFlag(t.Context(), other.hotspot, other.kind, "seen", by, Now, anyone)
		wantKind(t, "dismissing what is not in the queue", err, beacon.NotFound)
	}
	see(day+2, flag("hs_a", 4, day+2))
	want("a dismissed flag rests", 301, flag("hs_b", 3, day))
	see(day+31, flag("hs_a", 4, day+31))
	want("what was not seen is forgotten", 0)
	late := flag("hs_a", 4, day+92)
	see(day+92, late)
	want("the rest is over", 1, late)

	if _, taken, err := db.Leases.TakeLease(t.Context(), "keeper", "other", Now.Add(2*time.Hour), time.Hour); !taken || err != nil {
		t.Fatal(err)
	}
	wantKind(t, "flags without the lease", db.Flags.PutFlags(t.Context(), held, many), beacon.Conflict)
	wantKind(t, "a day without the lease", db.Flags.FinishReview(t.Context(), held, day, day, Now), beacon.Conflict)
}

// macsAgain checks that registrations are counted by address, however it is written, and
// deleted ones too, but not those that nobody visited.
func macsAgain(t *testing.T, database Database) {
	db := database.open(t)
	var last beacon.HotspotID
	for i, mac := range []beacon.MAC{"02:00:00:00:0A:01", "02-00-00-00-0a-01", "0200.0000.0a01", "02:00:00:00:0a:02"} {
		h := Hotspot(i)
		h.Device.MAC, h.CreatedAt = mac, Now.Add(time.Duration(i)*time.Minute)
		if h.Location.VerifiedAt = Now; i == 1 { // pending again
			h.Location.VerifiedAt, h.Visits = time.Time{}, []beacon.Visit{{At: Now, Point: h.Location.Point, Proves: true}}
		}
		insert(t, db, h)
		if i < 3 {
			last = max(last, h.ID)
			remove(t, db, h.ID)
		}
	}
	for i := 4; i < 7; i++ {
		h := Hotspot(i)
		h.Device.MAC, h.CreatedAt = "02:00:00:00:0a:03", Now
		h.Location.VerifiedAt, h.Visits = time.Time{}, nil
		insert(t, db, h)
		remove(t, db, h.ID)
	}
	for since, want := range map[time.Time]map[beacon.HotspotID]int{
		Now: {last: 3}, Now.Add(time.Second): {},
	} {
		is, err := db.Hotspots.MACsAgain(t.Context(), since, 3)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "addresses registered again", is, want)
	}
}
