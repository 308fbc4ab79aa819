package storetest

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func update(t *testing.T, database Database) {
	db := database.open(t)
	before := Hotspot(1)
	insert(t, db, before)
	other := Hotspot(2)
	want := before
	want.Name, want.Type, want.Location, want.Settings = "Renamed", beacon.Public, other.Location, other.Settings
	want.Device = beacon.Device{SSID: "other", MAC: "0200.5e99.0001", KeyHash: [32]byte{1: 9}}
	want.PastHours = other.PastHours[1:]
	want.PastService = other.PastService[1:]
	want.Visits = other.Visits[1:]
	want.Vouches = other.Vouches[1:]
	want.Settings.OperatingHours = nil
	want.UpdatedAt = Now.Add(time.Minute)
	want.Version = 2
	got, err := db.Hotspots.UpdateHotspot(t.Context(), before.ID, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		equal(t, "what the edit sees", *h, before)
		*h = want
		h.UpdatedAt = want.UpdatedAt.Add(400 * time.Nanosecond)                     // more precise than what is stored
		h.ID, h.Operator, h.Version, h.CreatedAt = "hs_x", "usr_x", 77, time.Time{} // must be ignored
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the answer", got, want)
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), before.ID)), want)
	wantHead(t, db, 2)
}

// updateVerdicts: nothing is written, and no change is recorded.
func updateVerdicts(t *testing.T, database Database) {
	db := database.open(t)
	want, gone := Hotspot(1), Hotspot(2)
	insert(t, db, want, gone)
	remove(t, db, gone.ID)

	got, err := db.Hotspots.UpdateHotspot(t.Context(), want.ID, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.Name = "not meant"
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the answer to no change", got, want)
	_, err = db.Hotspots.UpdateHotspot(t.Context(), want.ID, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.Name = "refused"
		return true, errVerdict
	})
	if err != errVerdict { //nolint:errorlint // as it is
		t.Errorf("error %v; want that of the edit, as it is", err)
	}
	for _, id := range []beacon.HotspotID{"hs_unknown", gone.ID} {
		_, err = db.Hotspots.UpdateHotspot(t.Context(), id, Actor, beacon.HotspotUpdated, func(*beacon.Hotspot) (bool, error) {
			t.Errorf("the edit runs on %s", id)
			return true, nil
		})
		wantKind(t, string(id), err, beacon.NotFound)
	}
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), want.ID)), want)
	wantHead(t, db, 3)
}

func updateToTakenMAC(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1), Hotspot(2))
	_, err := db.Hotspots.UpdateHotspot(t.Context(), Hotspot(1).ID, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.Device.MAC = Hotspot(2).Device.MAC
		return true, nil
	})
	wantKind(t, "the MAC of another", err, beacon.Conflict)
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)), Hotspot(1))
	wantHead(t, db, 2)
}

func deleteFreesMAC(t *testing.T, database Database) {
	db := database.open(t)
	first, second := Hotspot(1), Hotspot(2)
	second.Device.MAC = first.Device.MAC
	insert(t, db, first)
	gone := remove(t, db, first.ID)
	if !gone.Deleted() || gone.Version != 2 {
		t.Errorf("deleted %v, version %d; want true, 2", gone.Deleted(), gone.Version)
	}
	_, err := db.Hotspots.Hotspot(t.Context(), first.ID)
	wantKind(t, "the deleted one", err, beacon.NotFound)
	insert(t, db, second)
	equal(t, "the successor", must(db.Hotspots.Hotspot(t.Context(), second.ID)), second)
	remove(t, db, second.ID) // two deleted hotspots may have had the same MAC
	all := must(db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{first.ID}))
	equal(t, "the deleted one by id", all, []beacon.Hotspot{gone})
}

func macTaken(t *testing.T, database Database) {
	db := database.open(t)
	first := Hotspot(1)
	first.Device.MAC = "02:00:5E:AA:BB:CC"
	insert(t, db, first)
	for n, same := range []beacon.MAC{"02:00:5E:AA:BB:CC", "02-00-5e-aa-bb-cc", "0200.5EAA.bbcc", "02005eaabbcc"} {
		h := Hotspot(2 + n)
		h.Device.MAC = same
		err := db.Hotspots.InsertHotspot(t.Context(), h, Actor, nil)
		wantKind(t, string(same), err, beacon.Conflict)
	}
	equal(t, "the MAC as sent", must(db.Hotspots.Hotspot(t.Context(), first.ID)).Device.MAC, first.Device.MAC)
	wantHead(t, db, 1)
}
