package beacon_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// Each day has one owner: the one who had the hotspot when the day began.
func TestHandOver_EachDayHasTheOwnerOfItsBeginning(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 71))
	for range 200 {
		h := beacon.Hotspot{Operator: "usr_0"}
		now := noon
		first := beacon.DayOf(now)
		var owners []beacon.UserID // of each day, when it began
		for range 40 {
			owners = append(owners, h.Operator)
			for try := range random.IntN(3) {
				to := beacon.UserID("usr_" + string(rune('0'+random.IntN(4))))
				was := h.Operator
				err := h.HandOver(beacon.Behind{User: to}, beacon.DayOf(now)-beacon.Day(random.IntN(3)), now.Add(time.Duration(try)*time.Hour))
				if (err == nil) != (was != to && owners[len(owners)-1] == was) {
					t.Fatalf("from %s to %s: %v", was, to, err)
				}
			}
			now = now.AddDate(0, 0, 1)
		}
		for i, want := range owners {
			if is := h.Owners().On(first + beacon.Day(i)); is != want {
				t.Fatalf("on day %d it is of %s, want %s: %+v", i, is, want, h.Owners())
			}
		}
		if is := h.Owners().On(first - 1); is != "usr_0" {
			t.Errorf("before, it was of %s", is)
		}
		if !slices.IsSortedFunc(h.Former, func(a, b beacon.Tenure) int { return int(a.Through - b.Through) }) {
			t.Errorf("not in order: %+v", h.Former)
		}
	}
}

func TestHandOver_Refused(t *testing.T) {
	today := beacon.DayOf(noon)
	for name, test := range map[string]struct {
		former  []beacon.Tenure
		to      beacon.UserID
		closing beacon.Day
	}{
		"to the owner":                  {to: "usr_a"},
		"twice a day":                   {former: []beacon.Tenure{{User: "usr_z", Through: today}}, to: "usr_b"},
		"when the clock was ahead":      {former: []beacon.Tenure{{User: "usr_z", Through: today + 1}}, to: "usr_b"},
		"too often":                     {former: make([]beacon.Tenure, 100), to: "usr_b"},
		"on a day that is closed again": {to: "usr_b", closing: today + 1},
	} {
		h := beacon.Hotspot{Operator: "usr_a", Former: test.former}
		if err := h.HandOver(beacon.Behind{User: test.to}, test.closing, noon); beacon.KindOf(err) != beacon.Conflict || h.Operator != "usr_a" {
			t.Errorf("%s: %v, and it is of %s", name, err, h.Operator)
		}
	}
	h := beacon.Hotspot{Operator: "usr_a"}
	if err := h.HandOver(beacon.Behind{User: "usr_b"}, today, noon); err != nil { // its owner today stays
		t.Error(err)
	}
}

// Who proved a place by a visit, and takes the hotspot over, has proven nothing; nor does who
// had it before.
func TestHandOver_OwnVisits(t *testing.T) {
	at := geo.Point{Lat: 40, Lng: -74}
	found := beacon.Verification{Point: at, AccuracyM: 5}
	visit := func(h *beacon.Hotspot, by beacon.UserID, now time.Time) {
		t.Helper()
		if _, err := h.RecordVisit(found, beacon.Behind{User: by}, now); err != nil {
			t.Fatal(err)
		}
	}
	tomorrow := func(h *beacon.Hotspot, now time.Time) bool {
		return h.PlaceOn(beacon.DayOf(now) + 1).Proven(beacon.DayOf(now) + 1)
	}
	for name, test := range map[string]struct {
		visitors []beacon.UserID
		proven   bool
	}{
		"by the buyer":               {[]beacon.UserID{"usr_b"}, false},
		"by the buyer, last":         {[]beacon.UserID{"usr_staff", "usr_b"}, false},
		"by staff after the buyer":   {[]beacon.UserID{"usr_b", "usr_staff"}, true},
		"by staff":                   {[]beacon.UserID{"usr_staff"}, true},
		"by the owner":               {[]beacon.UserID{"usr_a"}, false},
		"by staff, then the owner":   {[]beacon.UserID{"usr_staff", "usr_a"}, true},
		"by someone who is unknown":  {[]beacon.UserID{""}, true},
		"by nobody":                  {nil, false},
		"by the buyer and unproven":  {[]beacon.UserID{"usr_a", "usr_b"}, false},
		"by the owner after a buyer": {[]beacon.UserID{"usr_b", "usr_a"}, false},
	} {
		h := beacon.Hotspot{Operator: "usr_a", Location: beacon.Location{Point: at}}
		now := noon
		for _, by := range test.visitors {
			visit(&h, by, now)
			now = now.AddDate(0, 0, 1)
		}
		if err := h.HandOver(beacon.Behind{User: "usr_b"}, 0, now); err != nil {
			t.Fatal(err)
		}
		if is := tomorrow(&h, now); is != test.proven {
			t.Errorf("%s: proven %v", name, is)
		}
		for _, by := range []beacon.UserID{"usr_a", "usr_b"} {
			now = now.AddDate(0, 0, 1)
			visit(&h, by, now)
			if is := tomorrow(&h, now); is != test.proven {
				t.Errorf("%s, and then by %s: proven %v", name, by, is)
			}
		}
		now = now.AddDate(0, 0, 1)
		visit(&h, "usr_else", now)
		if !tomorrow(&h, now) {
			t.Errorf("%s: a visit by someone else proves nothing", name)
		}
	}
}

// Who proved a place is behind the account that takes the hotspot over: a member of it, whose
// visit was for the network, a key of another account of theirs, or one that they made.
func TestHandOver_OwnVisitsOfPeople(t *testing.T) {
	at := geo.Point{Lat: 40, Lng: -74}
	takers := beacon.Behind{User: "usr_b", People: []beacon.PersonID{"per_1", "per_2"}, Accounts: []beacon.UserID{"usr_b", "usr_c"}}
	for name, test := range map[string]struct {
		visitor beacon.Behind
		proven  bool
	}{
		"a member":                       {beacon.Behind{Person: "per_2", People: []beacon.PersonID{"per_2"}, Accounts: []beacon.UserID{"usr_b"}}, false},
		"someone else":                   {beacon.Behind{Person: "per_3", People: []beacon.PersonID{"per_3"}}, true},
		"someone else, for one of them":  {beacon.Behind{User: "usr_c", Person: "per_3", People: []beacon.PersonID{"per_3"}}, false},
		"a key that a member may have":   {beacon.Behind{User: "usr_staff", People: []beacon.PersonID{"per_3", "per_1"}}, false},
		"a key that no member has":       {beacon.Behind{User: "usr_staff", People: []beacon.PersonID{"per_3"}}, true},
		"somebody of the account before": {beacon.Behind{User: "usr_staff", People: []beacon.PersonID{"per_3"}, Accounts: []beacon.UserID{"usr_a"}}, false},
	} {
		h := beacon.Hotspot{Operator: "usr_a", Location: beacon.Location{Point: at}}
		if _, err := h.RecordVisit(beacon.Verification{Point: at, AccuracyM: 5}, test.visitor, noon); err != nil {
			t.Fatal(err)
		}
		if err := h.HandOver(takers, 0, noon.AddDate(0, 0, 1)); err != nil {
			t.Fatal(err)
		}
		day := beacon.DayOf(noon) + 2
		if is := h.PlaceOn(day).Proven(day); is != test.proven {
			t.Errorf("by %s: proven %v", name, is)
		}
	}
}

// Days that have not come are moved to the right one, with a clock that was ahead.
func TestHandOver_SetRight(t *testing.T) {
	today := beacon.DayOf(noon)
	h := beacon.Hotspot{Operator: "usr_c", Former: []beacon.Tenure{{User: "usr_a", Through: today - 3}, {User: "usr_b", Through: today + 2}, {User: "usr_x", Through: today + 5}}}
	was := slices.Clone(h.Former)
	others := h
	if !h.SetRight(noon, noon) {
		t.Error("nothing was changed")
	}
	if want := []beacon.Tenure{{User: "usr_a", Through: today - 3}, {User: "usr_b", Through: today}}; !slices.Equal(h.Former, want) {
		t.Errorf("%+v, want %+v", h.Former, want)
	}
	if !slices.Equal(others.Former, was) {
		t.Error("a list that others hold was changed")
	}
	if h.SetRight(noon, noon) {
		t.Error("and again")
	}
}

func TestOwners(t *testing.T) {
	o := beacon.Owners{Operator: "usr_c", Former: []beacon.Tenure{{User: "usr_a", Through: 10}, {User: "usr_b", Through: 20}}}
	for day, want := range map[beacon.Day][]beacon.UserID{10: {"usr_a", "usr_b", "usr_c"}, 11: {"usr_b", "usr_c"}, 20: {"usr_b", "usr_c"}, 21: {"usr_c"}} {
		if is := o.From(day); !slices.Equal(is, want) {
			t.Errorf("from %d on it was of %s, want %s", day, is, want)
		}
	}
	for _, user := range o.From(0) {
		if !o.Ever(user) {
			t.Errorf("it never was of %s", user)
		}
	}
	if o.Ever("usr_d") || o.Ever("") {
		t.Error("it never was of others")
	}
}

func TestOfferCode(t *testing.T) {
	code := beacon.SpellOfferCode([beacon.OfferCodeLength]byte{0, 31, 32, 255, 1, 1, 1, 1, 18, 17, 16, 15})
	if code != "0Z0Z-1111-JHGF-0000" {
		t.Errorf("spelled %s", code)
	}
	for text, want := range map[string]string{code: "0Z0Z1111JHGF0000", "oz0z iLi1 jhgf0000": "0Z0Z1111JHGF0000", "0Z0Z-1111-JHGF-000": "", "": "", "0Z0Z-1111-JHGF-000U": ""} {
		if is, ok := beacon.CanonicalOfferCode(text); ok != (want != "") || ok && is != want {
			t.Errorf("%q is %q, %v", text, is, ok)
		}
	}
}

func TestHandOverNote(t *testing.T) {
	from, to, ok := beacon.ParseHandOver(beacon.HandOverNote("usr_a", "usr_b"))
	if from != "usr_a" || to != "usr_b" || !ok {
		t.Errorf("%s, %s, %v", from, to, ok)
	}
	for _, text := range []string{"", "from ", "usr_a to usr_b", "from usr_a"} {
		if _, _, ok := beacon.ParseHandOver(text); ok {
			t.Errorf("%q is a note", text)
		}
	}
}
