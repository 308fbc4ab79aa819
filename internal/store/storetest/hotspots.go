package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func hotspotRoundTrip(t *testing.T, database Database) {
	db := database.open(t)
	names := []string{
		"Café №1", "日本語の名前", "👨‍👩‍👧‍👦", "Ünï\u0301", `quo"te 'n' back\slash; DROP TABLE hotspots; --`, "$1 ?1 :a %s", "trailing ", "\u202eltr", "",
	}
	for n, name := range names {
		want := Hotspot(n)
		want.Name, want.Location.Address, want.Device.SSID = name, name, name
		insert(t, db, want)
		got, err := db.Hotspots.Hotspot(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the hotspot read back", got, want)
	}
}

// hotspotMinimal: optional fields are absent, times are in another zone and have
// nanoseconds, numbers are at their limits.
func hotspotMinimal(t *testing.T, database Database) {
	db := database.open(t)
	want := Hotspot(1)
	want.Location.Address, want.Location.VerifiedAt, want.PastHours, want.PastService, want.Visits, want.Vouches = "", time.Time{}, nil, nil, nil, nil
	want.Device.Unlink()
	want.Settings = beacon.Settings{MaxConnections: 1, BandwidthLimitMbps: math.Nextafter(0.1, 1)}
	want.Location.Point.Lat, want.Location.Point.Lng = -90, math.Nextafter(180, 0)
	given := want
	given.CreatedAt = want.CreatedAt.Add(999 * time.Nanosecond).In(time.FixedZone("east", 5*3600+1800))
	insert(t, db, given)
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), want.ID)), want)
	zero := Hotspot(2)
	zero.Location.Point.Lat = math.Copysign(0, -1) // which one of the engines stores as 0
	insert(t, db, zero)
	equal(t, "the hotspot on the equator", must(db.Hotspots.Hotspot(t.Context(), zero.ID)), zero)
}

// hotspotUnstorable: databases disagree about these (one rejects them, the other stores
// or changes them), so the store rejects all of them, and no other operation is
// affected.
func hotspotUnstorable(t *testing.T, database Database) {
	db := database.open(t)
	for what, spoil := range map[string]func(*beacon.Hotspot){
		"NUL":          func(h *beacon.Hotspot) { h.Name = "a\x00b" },
		"broken UTF-8": func(h *beacon.Hotspot) { h.Device.SSID = "a\xffb" },
		"NaN":          func(h *beacon.Hotspot) { h.Location.Point.Lat = math.NaN() },
		"infinity":     func(h *beacon.Hotspot) { h.Settings.BandwidthLimitMbps = math.Inf(1) },
		"NUL in hours": func(h *beacon.Hotspot) {
			h.PastHours = []beacon.PastHours{{Until: Now, Hours: &beacon.OperatingHours{Timezone: "a\x00b"}}}
		},
		"no MAC": func(h *beacon.Hotspot) { h.Device.MAC = "none" },
	} {
		h := Hotspot(1)
		spoil(&h)
		err := db.Hotspots.InsertHotspot(t.Context(), h, Actor, nil)
		wantKind(t, what, err, beacon.Internal)
	}
	wantHead(t, db, 0)
}

func hotspotNotFound(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1))
	for _, id := range []beacon.HotspotID{"", "hs_", Hotspot(2).ID, beacon.HotspotID(strings.ToUpper(string(Hotspot(1).ID)))} {
		_, err := db.Hotspots.Hotspot(t.Context(), id)
		wantKind(t, "Hotspot("+string(id)+")", err, beacon.NotFound)
	}
}

func hotspotsOf(t *testing.T, database Database) {
	db := database.open(t)
	const own = 5
	var want []beacon.Hotspot
	for n := range own {
		want = append(want, Hotspot(n))
	}
	insert(t, db, want[3], want[0], want[4], want[2], want[1])
	stranger := Hotspot(own)
	stranger.Operator = "USR_TESTER" // text is compared by its bytes
	gone := Hotspot(own + 1)
	insert(t, db, stranger, gone)
	remove(t, db, gone.ID)

	for _, page := range []struct{ offset, limit, from, to int }{
		{0, 100, 0, 5},
		{0, 5, 0, 5},
		{0, 2, 0, 2},
		{2, 2, 2, 4},
		{4, 2, 4, 5},
		{5, 2, 5, 5},
		{9, 2, 5, 5},
		{math.MaxInt, 100, 5, 5},
		{0, 0, 0, 0},
	} {
		got, total, err := db.Hotspots.HotspotsOf(t.Context(), "usr_tester", "", page.offset, page.limit)
		if err != nil || total != own {
			t.Fatalf("HotspotsOf(%d, %d) = total %d, %v; want %d", page.offset, page.limit, total, err, own)
		}
		equal(t, "the page", append([]beacon.Hotspot{}, got...), append([]beacon.Hotspot{}, want[page.from:page.to]...))
	}
	if got, total, err := db.Hotspots.HotspotsOf(t.Context(), "usr_nobody", "", 0, 10); len(got)+total != 0 || err != nil {
		t.Errorf("HotspotsOf(nobody) = %v, %d, %v; want nothing", got, total, err)
	}
	ever, err := db.Hotspots.EverOf(t.Context(), "usr_tester", "", 100)
	if err != nil || len(ever) <= own || !slices.ContainsFunc(ever, func(h beacon.Hotspot) bool { return !h.DeletedAt.IsZero() }) {
		t.Errorf("EverOf = %v, %v; want deleted ones too", ever, err)
	}
	if after, err := db.Hotspots.EverOf(t.Context(), "usr_tester", ever[0].ID, 2); err != nil || len(after) != 2 || after[0].ID != ever[1].ID {
		t.Errorf("EverOf after the first = %v, %v", after, err)
	}
	for i, h := range want[:own] { // a page that begins after an id
		got, total, err := db.Hotspots.HotspotsOf(t.Context(), "usr_tester", h.ID, 0, 2)
		if err != nil || total != own {
			t.Fatalf("HotspotsOf(after %s) = total %d, %v; want %d", h.ID, total, err, own)
		}
		equal(t, "the page", append([]beacon.Hotspot{}, got...), append([]beacon.Hotspot{}, want[i+1:min(i+3, own)]...))
	}
}

// namesOf: ordered by id regardless of insertion order, and only one operator's.
func namesOf(t *testing.T, database Database) {
	db := database.open(t)
	var want []beacon.HotspotName
	var own []beacon.Hotspot
	for n, name := range []string{"Zoë", "äpfel", "Straße 1", "日本橋"} {
		h := Hotspot(n)
		h.Name = name
		own = append(own, h)
		want = append(want, beacon.HotspotName{ID: h.ID, Name: name})
	}
	insert(t, db, own[2], own[0], own[3], own[1])
	stranger, gone := Hotspot(8), Hotspot(9)
	stranger.Operator = "USR_TESTER"
	insert(t, db, stranger, gone)
	remove(t, db, gone.ID)
	equal(t, "the names", must(db.Hotspots.NamesOf(t.Context(), "usr_tester")), want)
	if none := must(db.Hotspots.NamesOf(t.Context(), "usr_nobody")); len(none) != 0 {
		t.Errorf("NamesOf(nobody) = %v; want nothing", none)
	}
}

// hotspotsByID: more than one batch, unknown and repeated ids, deleted hotspots.
func hotspotsByID(t *testing.T, database Database) {
	db := database.open(t)
	var ids []beacon.HotspotID
	var want []beacon.Hotspot
	for n := range 230 {
		want = append(want, Hotspot(n))
		ids = append(ids, want[n].ID)
	}
	insert(t, db, want...)
	want[7] = remove(t, db, want[7].ID)
	ids = append(ids, "hs_unknown")
	for _, size := range []int{0, 1, 99, 100, 101, 231} {
		got, err := db.Hotspots.HotspotsByID(t.Context(), ids[:size])
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "those of the ids", sorted(got), sorted(want[:min(size, 230)]))
	}
	got := must(db.Hotspots.HotspotsByID(t.Context(), ids))
	equal(t, "all of them", sorted(got), sorted(want))
	for _, step := range []int{2, 3, 7, 20, 229} { // with others in between, first few and then many
		some, is := ids[:30:30], want[:30:30]
		for n := 30; n < 230; n += step {
			some, is = append(some, ids[n]), append(is, want[n])
		}
		equal(t, fmt.Sprintf("every %dth", step), sorted(must(db.Hotspots.HotspotsByID(t.Context(), some))), sorted(is))
	}

	later := Now.AddDate(1, 0, 0)
	for _, n := range []int{3, 5, 6} {
		must(db.Hotspots.UpdateHotspot(t.Context(), ids[n], Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			h.UpdatedAt = later.Add(time.Duration(n) * time.Second)
			return true, nil
		}))
	}
	remove(t, db, ids[6])
	equal(t, "changed later", must(db.Hotspots.HotspotsChangedAfter(t.Context(), later)), []beacon.HotspotID{ids[3], ids[5]})
	equal(t, "changed last", must(db.Hotspots.HotspotsChangedAfter(t.Context(), later.Add(3*time.Second))), []beacon.HotspotID{ids[5]})
}

func sorted(all []beacon.Hotspot) []beacon.Hotspot {
	return slices.SortedFunc(slices.Values(all), func(a, b beacon.Hotspot) int { return strings.Compare(string(a.ID), string(b.ID)) })
}

func eachHotspot(t *testing.T, database Database) {
	db := database.open(t)
	each := func(deletedSince time.Time) (all []beacon.Hotspot, err error) {
		var mu sync.Mutex
		err = db.Hotspots.EachHotspot(t.Context(), deletedSince, func(h beacon.Hotspot) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, h)
			return nil
		})
		return all, err
	}
	if all, err := each(time.Time{}); len(all) != 0 || err != nil {
		t.Errorf("EachHotspot of none = %v, %v", all, err)
	}
	want := []beacon.Hotspot{Hotspot(1), Hotspot(2), Hotspot(3)}
	insert(t, db, append(want, Hotspot(4))...)
	gone := remove(t, db, Hotspot(4).ID)
	equal(t, "each", sorted(must(each(time.Time{}))), want)
	equal(t, "and those deleted since", sorted(must(each(gone.DeletedAt))), append(want[:3:3], gone))
	equal(t, "and those deleted later", sorted(must(each(gone.DeletedAt.Add(time.Microsecond)))), want)

	// More than two pages.
	var all sync.WaitGroup
	const many, clients = 4_500, 32
	for client := range clients {
		all.Go(func() {
			for n := 10 + client; n < 10+many; n += clients {
				if err := db.Hotspots.InsertHotspot(t.Context(), Hotspot(n), Actor, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for n := range many {
		want = append(want, Hotspot(10+n))
	}
	equal(t, "each of many", sorted(must(each(time.Time{}))), want)

	stop := errors.New("stop")
	if err := db.Hotspots.EachHotspot(t.Context(), time.Time{}, func(beacon.Hotspot) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Errorf("EachHotspot = %v; want the error of its function", err)
	}
	if _, err := db.Hotspots.Hotspot(t.Context(), want[0].ID); err != nil {
		t.Errorf("after a stopped EachHotspot: %v", err)
	}
}

func remove(t testing.TB, db *store.DB, id beacon.HotspotID) beacon.Hotspot {
	t.Helper()
	h, err := db.Hotspots.UpdateHotspot(t.Context(), id, Actor, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
		h.DeletedAt = Now.Add(time.Hour)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
