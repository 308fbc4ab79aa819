package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// A wish can be taken back until it is begun, which only one of the two can win.
func erasures(t *testing.T, database Database) {
	db := database.open(t)
	wish := beacon.Erasure{User: "usr_tester", Asked: Now, Due: Now.Add(time.Hour)}
	_, err := db.Users.AskErasure(t.Context(), wish, Actor)
	wantKind(t, "a user who is not known", err, beacon.NotFound)
	insertKeys(t, db, key("key_1"))
	equal(t, "the wish", must(db.Users.AskErasure(t.Context(), wish, Actor)), wish)
	later := wish
	later.Asked, later.Due = Now.Add(time.Minute), Now.Add(2*time.Hour)
	equal(t, "the wish again", must(db.Users.AskErasure(t.Context(), later, Actor)), wish)
	wantHead(t, db, 2)

	for at, want := range map[time.Time]int{wish.Due.Add(-time.Microsecond): 0, wish.Due: 1} {
		if due := must(db.Users.DueErasures(t.Context(), "", at, 10)); len(due) != want {
			t.Errorf("at %v %d are due; want %d", at, len(due), want)
		}
	}
	if due := must(db.Users.DueErasures(t.Context(), wish.User, wish.Due, 10)); len(due) != 0 {
		t.Errorf("after the last there are %v", due)
	}
	if err := db.Users.WithdrawErasure(t.Context(), wish.User, Actor, Now); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "taken back twice", db.Users.WithdrawErasure(t.Context(), wish.User, Actor, Now), beacon.NotFound)
	begun := wish
	begun.Begun = wish.Due
	if found := must(db.Users.StepErasure(t.Context(), begun, Actor, wish.Due)); found {
		t.Error("an erasure began that was taken back")
	}
	equal(t, "a new wish", must(db.Users.AskErasure(t.Context(), later, Actor)), later)
	if found := must(db.Users.StepErasure(t.Context(), begun, Actor, wish.Due)); found {
		t.Error("the new wish began by the time of the old one")
	}
	begun = later
	begun.Begun = later.Due
	if found := must(db.Users.StepErasure(t.Context(), begun, Actor, later.Due)); !found {
		t.Error("the erasure did not begin")
	}
	wantKind(t, "taken back too late", db.Users.WithdrawErasure(t.Context(), wish.User, Actor, Now), beacon.Conflict)
	verdict := errors.New("no")
	err = db.Keys.InsertKey(t.Context(), key("key_2"), Actor, func(has beacon.Holding) error {
		equal(t, "what an erased user has", has, beacon.Holding{Keys: 1, Quota: 100, Erased: true})
		return verdict
	})
	if !errors.Is(err, verdict) {
		t.Errorf("a key of the erased: %v", err)
	}
	begun.Cleared, begun.Erased = later.Due, later.Due
	must(db.Users.StepErasure(t.Context(), begun, Actor, later.Due))
	is, found, err := db.Users.Erasure(t.Context(), wish.User)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	equal(t, "the erased", is, begun)
	if due := must(db.Users.DueErasures(t.Context(), "", later.Due, 10)); len(due) != 0 {
		t.Errorf("erased, and still due: %v", due)
	}
}

// What is erased can be read, and says nothing.
func eraseRows(t *testing.T, database Database) {
	db := database.open(t)
	h, other := Hotspot(1), Hotspot(2)
	insert(t, db, h)
	insert(t, db, other)
	full := key("key_1")
	insertKeys(t, db, full)
	if err := db.Keys.RevokeKey(t.Context(), full.ID, Now, Actor); err != nil {
		t.Fatal(err)
	}
	if err := db.Keys.EraseKey(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	want := full
	want.Name, want.Restrictions, want.RevokedAt = "", beacon.Restrictions{}, Now
	equal(t, "the key", must(db.Keys.Key(t.Context(), full.ID)), want)

	sends := beacon.DeviceAddress{Hotspot: h.ID, Hash: 7, At: Now}
	if err := db.CheckIns.PutAddresses(t.Context(), []beacon.DeviceAddress{sends}); err != nil {
		t.Fatal(err)
	}
	day, flagged := beacon.DayOf(Now), beacon.Flag{Hotspot: "hs_x", Operator: "usr_x", Kind: beacon.AcrossAccounts, Weight: 1}
	flagged.First, flagged.Last, flagged.Group = day, day, []beacon.Owned{{User: "usr_x", Hotspot: "hs_x"}, {User: h.Operator, Hotspot: h.ID}}
	own := beacon.Flag{Hotspot: h.ID, Operator: h.Operator, Kind: beacon.TooRegular, Weight: 1, First: day, Last: day}
	others := beacon.Flag{Hotspot: "hs_x", Operator: "usr_x", Kind: beacon.TooRegular, Weight: 1, First: day, Last: day}
	if err := db.Flags.PutFlags(t.Context(), lead(t, db, "keeper"), []beacon.Flag{flagged, own, others}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "a live hotspot", db.Hotspots.EraseHotspot(t.Context(), h.ID, Actor, (*beacon.Hotspot).Erase), beacon.NotFound)
	equal(t, "what belongs to a live hotspot", must(db.CheckIns.DeviceAddress(t.Context(), h.ID)), sends)
	noted := Actor
	noted.Note = "the window is broken"
	deleted := must(db.Hotspots.UpdateHotspot(t.Context(), h.ID, noted, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
		h.DeletedAt = Now
		return true, nil
	}))
	for range 2 {
		if err := db.Hotspots.EraseHotspot(t.Context(), h.ID, Actor, (*beacon.Hotspot).Erase); err != nil {
			t.Fatal(err)
		}
	}
	erased := must(db.Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{h.ID}))
	deleted.Erase()
	deleted.Version = 3
	equal(t, "the hotspot", erased, []beacon.Hotspot{deleted})
	equal(t, "what belonged to it", must(db.CheckIns.DeviceAddress(t.Context(), h.ID)), beacon.DeviceAddress{})

	left, _, _, err := db.Flags.Flags(t.Context(), beacon.FlagFilter{}, beacon.FirstFlag(), 0, 10)
	if err != nil || len(left) != 1 || left[0].Kind != beacon.TooRegular || left[0].Hotspot != "hs_x" {
		t.Errorf("left are the flags %+v, %v", left, err)
	}

	if err := db.Changes.EraseNotes(t.Context(), map[string]bool{string(other.ID): true}); err != nil {
		t.Fatal(err)
	}
	wantNotes(t, db, noted.Note)
	if err := db.Changes.EraseNotes(t.Context(), map[string]bool{string(h.ID): true}); err != nil {
		t.Fatal(err)
	}
	wantNotes(t, db)
	if err := db.Users.EraseUser(t.Context(), Actor.User, Actor, Now); err != nil {
		t.Fatal(err)
	}
	insert(t, db, again(h)) // nobody has its address reserved
}

// again returns another hotspot with the same device.
func again(h beacon.Hotspot) beacon.Hotspot {
	next := Hotspot(9)
	next.Device.MAC, next.Operator = h.Device.MAC, "usr_2"
	return next
}

// wantNotes compares the notes of all changes that have one.
func wantNotes(t *testing.T, db *store.DB, want ...string) {
	t.Helper()
	var notes []string
	for _, c := range must(db.Changes.Changes(t.Context(), db.Node(), 0, 100)) {
		if c.Actor.Note != "" {
			notes = append(notes, c.Actor.Note)
		}
	}
	equal(t, "the notes", notes, want)
}
