package storetest

import (
	"errors"
	"fmt"
	"slices"
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
		is, _, n, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{Operator: "usr_a"}, beacon.FirstFlag(), 0, len(first))
		if err != nil || n != total {
			t.Fatalf("%s: %d flags, %v; want %d", what, n, err, total)
		}
		var flags []beacon.Flag
		for _, l := range is {
			flags = append(flags, l.Flag)
		}
		equal(t, what, flags, first)
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
	if err := db.Flags.DismissFlags(t.Context(), "hs_a", beacon.TooRegular, "seen", by, Now, func(beacon.UserID) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("a dismissal that is refused: %v", err)
	}
	want("it stays in the queue", 302, again, flag("hs_b", 3, day))
	anyone := func(beacon.UserID) error { return nil }
	if err := db.Flags.DismissFlags(t.Context(), "hs_a", beacon.TooRegular, "seen", by, Now, anyone); err != nil {
		t.Fatal(err)
	}
	for _, other := range []struct {
		hotspot beacon.HotspotID
		kind    beacon.FlagKind
	}{{"hs_a", beacon.TooRegular}, {"hs_b", beacon.ManyBoots}, {"hs_x", beacon.TooRegular}} {
		err := db.Flags.DismissFlags(t.Context(), string(other.hotspot), other.kind, "seen", by, Now, anyone)
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

// flagLines checks that all flags of a kind that an account has are one line, that accounts
// with the most at stake come first, and that pages have each line once.
func flagLines(t *testing.T, database Database) {
	db := database.open(t)
	held := lead(t, db, "keeper")
	day := beacon.DayOf(Now)
	flag := func(hotspot beacon.HotspotID, operator beacon.UserID, kind beacon.FlagKind, weight int, stake beacon.Amount) beacon.Flag {
		return beacon.Flag{Hotspot: hotspot, Operator: operator, Kind: kind, Weight: weight, First: day, Last: day, Stake: stake}
	}
	all := []beacon.Flag{
		flag("hs_r1", "usr_rich", beacon.RadiusGrown, 20, 5_000_000), flag("hs_r2", "usr_rich", beacon.TooRegular, 65, 5_000_000),
		flag("hs_p1", "usr_poor", beacon.InterleavedBoots, 90, 1_000_000), flag("hs_n1", "usr_none", beacon.ManyBoots, 55, 0),
		flag("hs_b1", "usr_bare", beacon.ManyBoots, 50, 0),
	}
	all[2].Group = []beacon.Owned{{User: "usr_poor", Hotspot: "hs_p1"}, {User: "usr_rich", Hotspot: "hs_r1"}}
	for i := range 7 {
		all = append(all, flag(beacon.HotspotID(fmt.Sprintf("hs_f%d", i)), "usr_flood", beacon.ManyBoots, 55, 1))
	}
	if err := db.Flags.PutFlags(t.Context(), held, all); err != nil {
		t.Fatal(err)
	}
	want := []beacon.HotspotID{"hs_r2", "hs_r1", "hs_p1", "hs_f0", "hs_n1", "hs_b1"}
	for _, size := range []int{1, 2, 4, 100} {
		var found []beacon.HotspotID
		for after := beacon.FirstFlag(); len(found) < 10; {
			page, lines, flags, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{}, after, 0, size)
			if err != nil || lines != len(want) || flags != len(all) {
				t.Fatalf("%d lines of %d flags, %v", lines, flags, err)
			}
			for _, l := range page {
				if found = append(found, l.Hotspot); l.Count != map[beacon.HotspotID]int{"hs_f0": 7}[l.Hotspot] && l.Count != 1 {
					t.Errorf("%s stands for %d", l.Hotspot, l.Count)
				}
				if l.Hotspot == "hs_p1" {
					equal(t, "a group", l.Flag, all[2])
				}
			}
			if len(page) < size {
				break
			}
			after = page[len(page)-1].Place()
		}
		equal(t, fmt.Sprintf("lines, by %d", size), found, want)
	}
	for offset, want := range map[int]int{0: 2, 5: 1, 6: 0} {
		if page, _, _, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{}, beacon.FirstFlag(), offset, 2); err != nil || len(page) != want {
			t.Errorf("from line %d: %d, %v; want %d", offset, len(page), err, want)
		}
	}
	each, lines, _, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{Operator: "usr_flood", Kind: beacon.ManyBoots}, beacon.FirstFlag(), 0, 5)
	if err != nil || lines != 7 || len(each) != 5 || each[4].Hotspot != "hs_f4" || each[4].Count != 1 {
		t.Fatalf("the flags of one account are %+v of %d, %v", each, lines, err)
	}
	rest, _, _, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{Operator: "usr_flood", Kind: beacon.ManyBoots}, each[4].Place(), 0, 5)
	if err != nil || len(rest) != 2 || rest[0].Hotspot != "hs_f5" {
		t.Errorf("the rest is %+v, %v", rest, err)
	}

	var asked []beacon.UserID
	by := beacon.Actor{User: "usr_staff", Request: "req_1"}
	for of, kind := range map[string]beacon.FlagKind{"usr_flood": beacon.ManyBoots, "hs_p1": beacon.InterleavedBoots} {
		err := db.Flags.DismissFlags(t.Context(), of, kind, "seen", by, Now, func(u beacon.UserID) error {
			asked = append(asked, u)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(asked)
	equal(t, "whose flags are dismissed", slices.Compact(asked), []beacon.UserID{"usr_flood", "usr_poor", "usr_rich"})
	if _, lines, flags, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{}, beacon.FirstFlag(), 0, 1); err != nil || lines != 4 || flags != 4 {
		t.Errorf("left are %d lines, %d flags, %v", lines, flags, err)
	}
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
