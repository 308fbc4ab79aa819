package beacon_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

const (
	metre = 1 / 111_195.0 // in degrees of latitude
	staff = beacon.UserID("usr_staff")
	owner = beacon.UserID("usr_owner")
)

// visited records a visit, and reports whether it is anything new.
func visited(h *beacon.Hotspot, metres, accuracy float64, by beacon.UserID, at time.Time) bool {
	news, err := h.RecordVisit(found(metres, accuracy), beacon.Behind{User: by}, at)
	return news && err == nil
}

// moved records a visit of someone who says that the hotspot has moved.
func moved(h *beacon.Hotspot, metres, accuracy float64, by beacon.UserID, at time.Time) bool {
	v := found(metres, accuracy)
	v.Moved = true
	news, err := h.RecordVisit(v, beacon.Behind{User: by}, at)
	return news && err == nil
}

func found(metres, accuracy float64) beacon.Verification {
	return beacon.Verification{Point: geo.Point{Lat: 40 + metres*metre, Lng: -74}, AccuracyM: accuracy}
}

func TestPlaceOn(t *testing.T) {
	noon := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	today := beacon.DayOf(noon)
	later := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	check := func(name string, day beacon.Day, metres float64, since beacon.Day, provenAt time.Time, proven bool) {
		t.Helper()
		p := h.PlaceOn(day)
		if d := geo.Distance(p.Point, geo.Point{Lat: 40 + metres*metre, Lng: -74}); d > 0.1 || p.Since != since || !p.ProvenAt.Equal(provenAt) || p.Proven(day) != proven {
			t.Errorf("%s: on %s it is %+v, proven: %t", name, day, p, p.Proven(day))
		}
	}
	check("never visited", today, 0, 0, time.Time{}, false)

	visited(&h, 40, 20, staff, noon)
	check("the first visit counts at once", today, 40, today, noon, true)
	if visited(&h, 60, 10, staff, noon.Add(time.Hour)) {
		t.Error("a second visit on the day says something new")
	}
	check("a visit proves for a year", today+365, 40, today, noon, true)
	check("and no longer", today+366, 40, today, noon, false)

	visited(&h, 69, 5, staff, later(10))
	check("the day before, as if it had not been", today+10, 40, today, noon, true)
	check("a visit within 30 m confirms the place", today+11, 40, today, later(10), true)
	visited(&h, 84, 25, staff, later(12))
	check("so does one that is no farther off than both accuracies", today+13, 40, today, later(12), true)
	visited(&h, 71, 5, owner, later(20))
	check("and by its operator it says nothing", today+21, 40, today, later(12), true)
	moved(&h, 71, 15, staff, later(20))
	check("whatever the visitor says", today+21, 40, today, later(20), true)

	if visited(&h, 71, 5, staff, later(22)) || visited(&h, 160, 60, staff, later(22)) || moved(&h, 160, 60, staff, later(22)) {
		t.Error("a visit that is farther off and does not say that the hotspot has moved, or cannot, is recorded")
	}
	moved(&h, 71, 5, owner, later(22))
	check("on the day itself, the old place", today+22, 40, today, later(20), true)
	check("farther off is a new place, unproven if its operator says so", today+23, 71, today+23, time.Time{}, false)
	if visited(&h, 80, 5, owner, later(23)) {
		t.Error("a visit of its operator confirms something")
	}
	visited(&h, 80, 5, staff, later(23))
	check("proven by someone else", today+24, 71, today+23, later(23), true)

	h.Location.Point.Lat = 40 + 400*metre
	if visited(&h, 95, 31, staff, later(30)) {
		t.Error("an inexact visit near the place says something new")
	}
	visited(&h, 410, 31, staff, later(31))
	check("its operator has registered it far away: an inexact visit proves nothing there", today+32, 400, today+32, time.Time{}, false)
	visited(&h, 425, 30, staff, later(40))
	check("on the day of an exact one, as before", today+40, 400, today+32, time.Time{}, false)
	check("the first exact one within 30 m says where the place is", today+41, 425, today+32, later(40), true)
	visited(&h, 450, 5, staff, later(50))
	check("the second confirms it", today+51, 425, today+32, later(50), true)
}

// Days served at a place come back when a visit finds the hotspot there again, and what
// proved the other place does not prove this one.
func TestPlaceOn_Again(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	today := beacon.DayOf(noon)
	later := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	visited(&h, 0, 10, staff, noon)
	first := h.PlaceOn(today)
	moved(&h, 80, 5, staff, later(10))
	moved(&h, 160, 5, staff, later(20))
	second := h.PlaceOn(today + 11)
	h.Vouches = []time.Time{later(15)}
	if visited(&h, 12, 15, staff, later(30)) {
		t.Error("a visit at the first place that does not say that it has moved is recorded")
	}
	if !moved(&h, 12, 15, owner, later(30)) {
		t.Error("a visit at the first place is no news")
	}
	again := h.PlaceOn(today + 31)
	want := beacon.Place{Point: first.Point, Measured: true, AccuracyM: 10, Since: today, Began: today + 31}
	if again != want {
		t.Errorf("back at the first place it is %+v; want %+v", again, want)
	}
	if got := h.PlaceOn(today + 11); got != second {
		t.Errorf("the place in between is now %+v; it was %+v", got, second)
	}
	moved(&h, 80, 25, staff, later(40))
	want = second
	want.Began, want.ProvenAt = today+41, later(40)
	if got := h.PlaceOn(today + 41); got != want {
		t.Errorf("back at the second place it is %+v; want %+v", got, want)
	}

	// Its operator registers it far away, where a visit cannot measure it, and back.
	h.Location.Point.Lat += 400 * metre
	moved(&h, 400, 60, staff, later(50))
	h.Location.Point.Lat -= 400 * metre
	if at := h.PlaceOn(today + 51); at.Measured || !visited(&h, 5, 5, staff, later(60)) {
		t.Errorf("where no visit has measured it, it is %+v", at)
	}
	if got := h.PlaceOn(today + 61); got.Point != first.Point || got.Since != today {
		t.Errorf("back from there it is %+v; want it at %v since %s", got, first.Point, today)
	}

	// Visits from before this was recorded stay what they were: new places.
	for i := range h.Visits {
		h.Visits[i].Again = false
	}
	if got := h.PlaceOn(today + 31); got.Since != today+31 {
		t.Errorf("an earlier version's visit begins a place on %s; want %s", got.Since, today+31)
	}
}

// A hotspot that was verified before visits were kept is proven by that, where it is
// registered.
func TestPlaceOn_Before(t *testing.T) {
	verified := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}, VerifiedAt: verified}}
	want := beacon.Place{Point: h.Location.Point, Measured: true, Since: beacon.DayOf(verified), Began: beacon.DayOf(verified), ProvenAt: verified}
	if got := h.PlaceOn(beacon.DayOf(verified) + 100); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	again := verified.AddDate(0, 6, 0)
	visited(&h, 10, 5, staff, again)
	want.ProvenAt = again
	if got := h.PlaceOn(beacon.DayOf(again) + 1); got != want || len(h.Visits) != 2 {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// A visit that is less exact says nothing new about a place that was measured, whether the
// hotspot is verified or has to be again.
func TestVisited_LessExact(t *testing.T) {
	first := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	visited(&h, 50, 5, staff, first)
	tomorrow := beacon.DayOf(first) + 1
	measured := h.PlaceOn(tomorrow)
	for _, at := range []time.Time{first, {}} {
		h.Location.VerifiedAt = at
		if visited(&h, 0, 60, staff, first.AddDate(0, 0, 1)) || h.PlaceOn(tomorrow+1) != measured {
			t.Errorf("after a less exact visit the place is %+v; want %+v", h.PlaceOn(tomorrow+1), measured)
		}
	}
}

// What staff withdraw proves nothing from the next day on, and no visit that proves nothing
// itself brings it back. The place stays, with the days served there.
func TestWithdraw(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := beacon.DayOf(noon)
	later := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	for _, tc := range []struct {
		name     string
		withdraw func(h *beacon.Hotspot) bool
	}{
		{"withdrawn", func(h *beacon.Hotspot) bool { return h.Withdraw("no radio", later(9)) }},
		{"rejected after a move", func(h *beacon.Hotspot) bool {
			h.Location.VerifiedAt, h.Location.UnverifiedReason = time.Time{}, "no radio"
			return h.Reject("no radio", later(9))
		}},
	} {
		h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
		visited(&h, 20, 5, staff, noon)
		h.Location.VerifiedAt = noon
		place := h.PlaceOn(first + 9)
		if !tc.withdraw(&h) || h.PlaceOn(first+9) != place {
			t.Errorf("%s: on the day itself it is %+v; want %+v", tc.name, h.PlaceOn(first+9), place)
		}
		if h.Withdraw("no radio", later(9)) || h.Reject("no radio", later(9)) {
			t.Errorf("%s: it can be taken away twice", tc.name)
		}
		unproven := place
		unproven.ProvenAt = time.Time{}
		visited(&h, 0, 60, staff, later(10))
		visited(&h, 0, 5, owner, later(11))
		if got := h.PlaceOn(first + 12); got != unproven {
			t.Errorf("%s: after visits that prove nothing it is %+v; want %+v", tc.name, got, unproven)
		}
		if _, due := h.EvidenceSince(later(11)); due {
			t.Errorf("%s: check-ins can extend what is not proven", tc.name)
		}
		erased := h
		erased.ErasePlace()
		if erased.PlaceOn(first+9).Proven(first+9) != true || erased.PlaceOn(first+12).Proven(first+12) {
			t.Errorf("%s: erased, it is proven on other days", tc.name)
		}
		visited(&h, 0, 5, staff, later(12))
		unproven.ProvenAt = later(12)
		if got := h.PlaceOn(first + 13); got != unproven {
			t.Errorf("%s: proven again it is %+v; want %+v", tc.name, got, unproven)
		}
	}
}

// The last speed that a visit measured counts from the next day on, until one measures
// another or the hotspot is elsewhere.
func TestVisited_Measured(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := beacon.DayOf(noon)
	fast, slow := beacon.SpeedTest{DownMbps: 100, UpMbps: 10, LatencyMs: 49}, beacon.SpeedTest{DownMbps: 49, UpMbps: 5, LatencyMs: 9}
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	for i, step := range []struct {
		name             string
		metres, accuracy float64
		by               beacon.UserID
		test             beacon.SpeedTest
		news             bool
		same, next       beacon.Tier // at most, on the day of the visit and the next
	}{
		{"measured at first", 0, 5, staff, slow, true, beacon.Premium, beacon.Standard},
		{"confirmed without a test", 0, 5, staff, beacon.SpeedTest{}, true, beacon.Standard, beacon.Standard},
		{"by the operator", 0, 5, owner, fast, false, beacon.Standard, beacon.Standard},
		{"faster", 0, 5, staff, fast, true, beacon.Standard, beacon.Premium},
		{"less exact, and the same speed", 50, 60, staff, fast, false, beacon.Premium, beacon.Premium},
		{"less exact, and slower", 50, 60, staff, slow, true, beacon.Premium, beacon.Standard},
		{"elsewhere", 90, 5, staff, beacon.SpeedTest{}, true, beacon.Standard, beacon.Premium}, // and says so
	} {
		at := noon.AddDate(0, 0, i)
		found := found(step.metres, step.accuracy)
		found.Test, found.Moved = step.test, true
		was := h.PlaceOn(beacon.DayOf(at))
		for _, want := range []bool{step.news, false} {
			if news, err := h.RecordVisit(found, beacon.Behind{User: step.by}, at); err != nil || news != want {
				t.Errorf("%s: it is not news once, but %v, %v", step.name, h.Visits, err)
			}
			at = at.Add(time.Hour)
		}
		h.Location.VerifiedAt = noon
		if same, next := h.PlaceOn(beacon.DayOf(at)).Test.AtMost(), h.PlaceOn(beacon.DayOf(at)+1).Test.AtMost(); same != step.same || next != step.next {
			t.Errorf("%s: at most %s and then %s; want %s and %s", step.name, same, next, step.same, step.next)
		}
		if step.accuracy > 30 && h.PlaceOn(beacon.DayOf(at)+1).Since != was.Since {
			t.Errorf("%s: it is elsewhere", step.name)
		}
	}
	if p := h.PlaceOn(first + 3); p.Test != slow {
		t.Errorf("on a day before, at most %+v", p.Test)
	}
}

// However often a hotspot is visited, it keeps few visits, and its place.
func TestVisited_Bounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	h := beacon.Hotspot{Operator: owner}
	for range 10 {
		moved(&h, 0, 5, staff, at)
		at = at.AddDate(0, 0, 1)
		moved(&h, 100, 5, staff, at)
		at = at.AddDate(0, 0, 1)
	}
	since := h.PlaceOn(beacon.DayOf(at)).Since
	for range 200 {
		held := h.Visits
		first := held[0]
		visited(&h, 100, 5, staff, at)
		if !reflect.DeepEqual(held[0], first) {
			t.Fatal("a list that others hold was changed")
		}
		at = at.AddDate(0, 0, 1)
	}
	if p := h.PlaceOn(beacon.DayOf(at)); p.Since != since || len(h.Visits) > 50 {
		t.Errorf("%+v after %d visits; want a place since %s", p, len(h.Visits), since)
	}
}

// Check-ins of enough people on enough days extend the proof by 90 days at a time, to at
// most two years after the visit, and never what a day that has begun earns.
func TestVouch(t *testing.T) {
	noon := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	today := beacon.DayOf(noon)
	later := func(days int) time.Time { return noon.AddDate(0, 0, days) }
	h := beacon.Hotspot{Operator: owner, Location: beacon.Location{Point: geo.Point{Lat: 40, Lng: -74}}}
	if _, due := h.EvidenceSince(noon); due || h.Vouch(9, 9, noon) {
		t.Error("there is nothing to extend before a visit")
	}
	visited(&h, 0, 5, staff, noon)
	provenThrough := func(last beacon.Day) {
		t.Helper()
		if !h.PlaceOn(last).Proven(last) || h.PlaceOn(last+1).Proven(last+1) {
			t.Errorf("it is proven on %s: %t, and on the next day: %t; want until then", last, h.PlaceOn(last).Proven(last), h.PlaceOn(last+1).Proven(last+1))
		}
	}
	evidence := func(days int, since beacon.Day, due bool) {
		t.Helper()
		if s, d := h.EvidenceSince(later(days)); d != due || due && s != since {
			t.Errorf("after %d days evidence counts since %s: %t; want %s, %t", days, s, d, since, due)
		}
	}
	provenThrough(today + 365)
	evidence(305, 0, false)
	evidence(306, today+306-89, true)
	for _, few := range [][2]int{{2, 9}, {9, 2}, {0, 0}} {
		if h.Vouch(few[0], few[1], later(306)) {
			t.Errorf("%d installs on %d days suffice", few[0], few[1])
		}
	}
	if !h.Vouch(3, 3, later(306)) || h.Vouch(9, 9, later(306)) {
		t.Error("three installs on three days do not extend it, or extend it twice")
	}
	provenThrough(today + 306 + 90)
	evidence(306+30, 0, false)
	evidence(306+31, today+307, true) // what extended it does not count again
	evidence(306+100, today+317, true)

	// After it has ended, a day between stays unproven.
	if !h.Vouch(3, 3, later(400)) {
		t.Error("it cannot be extended after it has ended")
	}
	for day, want := range map[beacon.Day]bool{today + 396: true, today + 397: false, today + 400: false, today + 401: true} {
		if h.PlaceOn(day).Proven(day) != want {
			t.Errorf("on day %d it is proven: %t", day-today, !want)
		}
	}
	provenThrough(today + 490)
	for day := 460; day < 800; day++ {
		h.Vouch(3, 3, later(day))
	}
	provenThrough(today + 730)
	if len(h.Vouches) > 20 {
		t.Errorf("%d extensions in two years", len(h.Vouches))
	}

	// At another place it is of no use, and another visit counts again.
	held := h.Vouches
	moved(&h, 100, 5, owner, later(500))
	if p := h.PlaceOn(today + 501); p.Proven(today+501) || !p.VouchedAt.IsZero() {
		t.Errorf("a new place is proven by what was said of another: %+v", p)
	}
	visited(&h, 100, 5, staff, later(800))
	provenThrough(today + 800 + 365)
	for day := 1106; day < 1600; day += 31 {
		h.Vouch(3, 3, later(day))
	}
	if held[0] != later(306) || len(h.Vouches) > 50 {
		t.Error("a list that others hold was changed, or there are too many")
	}
}
