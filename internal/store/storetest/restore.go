package storetest

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// restore deletes hotspots and brings them back: only what its operator deleted is known as
// such, and only while its MAC address is free.
func restore(t *testing.T, database Database) {
	db := database.open(t)
	mine, staffs, taken, reserved := Hotspot(1), Hotspot(2), Hotspot(3), Hotspot(4)
	insert(t, db, mine, staffs, taken, reserved)
	operator := Actor
	operator.User = mine.Operator
	del := func(h beacon.Hotspot, by beacon.Actor, at time.Time) beacon.Hotspot {
		t.Helper()
		return must(db.Hotspots.UpdateHotspot(t.Context(), h.ID, by, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
			h.UpdatedAt, h.DeletedAt = at, at
			return true, nil
		}))
	}
	deleted := func(since time.Time) (ids []beacon.HotspotID) {
		t.Helper()
		for _, h := range must(db.Hotspots.DeletedOf(t.Context(), mine.Operator, since, 10)) {
			ids = append(ids, h.ID)
		}
		return ids
	}
	by := beacon.Actor{User: "usr_someone", Request: "req_1"}
	gone := del(mine, operator, Now)
	del(staffs, by, Now)
	del(taken, operator, Now.Add(time.Minute))
	del(reserved, operator, Now.Add(2*time.Minute))
	equal(t, "deleted by their operator", deleted(Now), []beacon.HotspotID{reserved.ID, taken.ID, mine.ID})
	equal(t, "deleted later", deleted(Now.Add(time.Second)), []beacon.HotspotID{reserved.ID, taken.ID})

	var known []beacon.Deletion
	back := func(id beacon.HotspotID) (beacon.Hotspot, error) {
		return db.Hotspots.RestoreHotspot(t.Context(), id, operator, func(h *beacon.Hotspot, d beacon.Deletion) (bool, error) {
			known = append(known, d)
			h.DeletedAt, h.UpdatedAt = time.Time{}, Now.Add(time.Hour)
			return true, nil
		})
	}
	want := gone
	want.DeletedAt, want.UpdatedAt, want.Version = time.Time{}, Now.Add(time.Hour), gone.Version+1
	equal(t, "brought back", must(back(mine.ID)), want)
	equal(t, "read back", must(db.Hotspots.Hotspot(t.Context(), mine.ID)), want)
	equal(t, "what is left of it", deleted(Now), []beacon.HotspotID{reserved.ID, taken.ID})
	must(back(staffs.ID)) // whether it may be is for others to say
	if !known[0].ByOperator || known[0].Quota != beacon.DefaultQuota().Hotspots || known[1].ByOperator {
		t.Errorf("known was %+v", known)
	}

	// Another hotspot has the address, or had it in service.
	other := Hotspot(5)
	other.Operator, other.Device.MAC = "usr_other", taken.Device.MAC
	free(t, db, taken.Device.MAC)
	insert(t, db, other)
	_, err := back(taken.ID)
	wantKind(t, "a MAC address that is taken", err, beacon.Conflict)
	other = Hotspot(6)
	other.Operator, other.Device.MAC = "usr_other", reserved.Device.MAC
	other.Location.VerifiedAt, other.Device.LinkedAt = Now, Now
	free(t, db, reserved.Device.MAC)
	insert(t, db, other)
	del(other, beacon.Actor{User: other.Operator}, Now.Add(3*time.Minute))
	was := must(db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{reserved.ID}))
	_, err = back(reserved.ID)
	wantKind(t, "a MAC address that is reserved", err, beacon.Conflict)
	equal(t, "one that did not come back", must(db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{reserved.ID})), was)

	// What is erased, or long ago, is forgotten.
	if err := db.Hotspots.EraseHotspot(t.Context(), taken.ID, by, func(h *beacon.Hotspot) { h.Erase() }); err != nil {
		t.Fatal(err)
	}
	equal(t, "after an erasure", deleted(Now), []beacon.HotspotID{reserved.ID})
	if err := db.Hotspots.PruneDeletions(t.Context(), Now.Add(3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	equal(t, "after a while", deleted(Now), []beacon.HotspotID(nil))
}

// free ends the reservation of a MAC address, if there is one.
func free(t testing.TB, db *store.DB, mac beacon.MAC) {
	t.Helper()
	if _, err := db.Hotspots.ReleaseMAC(t.Context(), mac, "sold", Actor, Now); err != nil && beacon.KindOf(err) != beacon.NotFound {
		t.Fatal(err)
	}
}
