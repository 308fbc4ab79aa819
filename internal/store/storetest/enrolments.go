package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

var errFull = errors.New("the key is used up")

func enrolmentKey(most int, more ...beacon.HotspotID) beacon.Key {
	k := key("key_1")
	k.User, k.Scopes = Hotspot(1).Operator, []beacon.Scope{beacon.DevicesEnrol}
	k.Enrolment = beacon.Enrolment{Most: most, Hotspots: more, Register: len(more) == 0}
	return k
}

// enrols returns a use of a key that links a hotspot, or registers the nth.
func enrols(n int) func(beacon.Enrolling, *beacon.Hotspot) error {
	return func(found beacon.Enrolling, h *beacon.Hotspot) error {
		switch {
		case found.Key.Enrolled >= found.Key.Enrolment.Most:
			return errFull
		case h.Version > 0 && !h.Device.LinkedAt.IsZero():
			return errVerdict
		case h.Version == 0:
			*h = unlinked(n)
		}
		return linkWith(9)(nil, h)
	}
}

func enrol(t testing.TB, db *store.DB, n int, use func(beacon.Enrolling, *beacon.Hotspot) error) func() error {
	return func() error {
		_, err := db.Hotspots.Enrol(t.Context(), "key_1", Hotspot(n).Device.MAC, device, Now, use)
		return err
	}
}

func enrolDevice(t *testing.T, database Database) {
	db := database.open(t)
	before, k := unlinked(1), enrolmentKey(2)
	insert(t, db, before)
	insertKeys(t, db, k)
	equal(t, "the key", must(db.Keys.Key(t.Context(), k.ID)), k)
	want := before
	want.Device.KeyHash, want.Device.LinkedAt, want.UpdatedAt, want.Version = [32]byte{9}, Now.Add(time.Minute), Now.Add(time.Minute), 2
	spelled := beacon.MAC("0x")
	if _, err := db.Hotspots.Enrol(t.Context(), k.ID, spelled, device, Now, func(_ beacon.Enrolling, h *beacon.Hotspot) error {
		equal(t, "the hotspot of no address", *h, beacon.Hotspot{})
		return errVerdict
	}); err != errVerdict { //nolint:errorlint // as it is
		t.Errorf("error %v; want that of the use", err)
	}
	got, err := db.Hotspots.Enrol(t.Context(), k.ID, before.Device.MAC, device, Now, func(found beacon.Enrolling, h *beacon.Hotspot) error {
		equal(t, "what the use sees", found, beacon.Enrolling{Key: k, Waiting: found.Waiting, Quota: 50})
		equal(t, "what is linked", *h, before)
		return enrols(1)(found, h)
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the answer", got, want)
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), before.ID)), want)

	// Refusals write nothing.
	refuse := func(beacon.Enrolling, *beacon.Hotspot) error { return errVerdict }
	for _, refused := range []func() error{enrol(t, db, 1, enrols(1)), enrol(t, db, 1, refuse), enrol(t, db, 2, refuse)} {
		if err := refused(); err != errVerdict { //nolint:errorlint // as it is
			t.Errorf("error %v; want that of the use", err)
		}
	}
	wantKind(t, "a panic", enrol(t, db, 2, func(beacon.Enrolling, *beacon.Hotspot) error { panic("a mistake in a use") })(), beacon.Internal)
	wantHead(t, db, 3)

	made := unlinked(2)
	if err := enrol(t, db, 2, enrols(2))(); err != nil {
		t.Fatal(err)
	}
	made.Device.KeyHash, made.Device.LinkedAt, made.UpdatedAt, made.Version = [32]byte{9}, Now.Add(time.Minute), Now.Add(time.Minute), 2
	equal(t, "the registered hotspot", must(db.Hotspots.Hotspot(t.Context(), made.ID)), made)
	if err := enrol(t, db, 3, enrols(3))(); err != errFull { //nolint:errorlint // as it is
		t.Errorf("error %v; want that of the use", err)
	}
	k.Enrolled = 2
	equal(t, "the key afterwards", must(db.Keys.Key(t.Context(), k.ID)), k)
	equal(t, "the changes", must(db.Changes.Changes(t.Context(), db.Node(), 2, 10)), []beacon.Change{
		{Node: db.Node(), Seq: 3, Kind: beacon.HotspotLinked, Target: string(before.ID), Version: 2, Actor: device, At: Now.Add(time.Minute)},
		{Node: db.Node(), Seq: 4, Kind: beacon.HotspotRegistered, Target: string(made.ID), Version: 1, Actor: device, At: Now},
		{Node: db.Node(), Seq: 5, Kind: beacon.HotspotLinked, Target: string(made.ID), Version: 2, Actor: device, At: Now},
	})
	if _, err := db.Hotspots.Enrol(t.Context(), "key_none", before.Device.MAC, device, Now, func(found beacon.Enrolling, _ *beacon.Hotspot) error {
		equal(t, "a key that does not exist", found, beacon.Enrolling{})
		return errVerdict
	}); err != errVerdict { //nolint:errorlint // as it is
		t.Errorf("error %v; want that of the use", err)
	}
}

// foreignHotspots: a new key may name only live hotspots of its user.
func foreignHotspots(t *testing.T, database Database) {
	db := database.open(t)
	mine, other, gone := Hotspot(1), Hotspot(2), Hotspot(3)
	other.Operator = "usr_other"
	insert(t, db, mine, other, gone)
	remove(t, db, gone.ID)
	for _, test := range []struct {
		named   []beacon.HotspotID
		foreign beacon.HotspotID
	}{
		{nil, ""},
		{[]beacon.HotspotID{mine.ID}, ""},
		{[]beacon.HotspotID{mine.ID, other.ID}, other.ID},
		{[]beacon.HotspotID{gone.ID}, gone.ID},
		{[]beacon.HotspotID{"hs_x", mine.ID}, "hs_x"},
	} {
		err := db.Keys.InsertKey(t.Context(), enrolmentKey(1, test.named...), Actor, func(has beacon.Holding) error {
			equal(t, fmt.Sprint("foreign of ", test.named), has.Foreign, test.foreign)
			return errVerdict
		})
		if err != errVerdict { //nolint:errorlint // as it is
			t.Errorf("error %v; want that of may", err)
		}
	}
}

// enrolRace: many devices at two nodes use one key, two at a time for each hotspot. As many
// are linked as it permits, and none twice.
func enrolRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const hotspots, most = 12, 7
	for n := range hotspots / 2 {
		insert(t, nodes[0], unlinked(n))
	}
	insertKeys(t, nodes[0], enrolmentKey(most))
	var all sync.WaitGroup
	errs := make([]error, 2*hotspots)
	for i := range errs {
		all.Go(func() { errs[i] = insist(enrol(t, nodes[i%2], i/2, enrols(i/2))) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		switch err { //nolint:errorlint // as it is
		case nil:
			won++
		case errFull, errVerdict:
		default:
			wantKind(t, "a racer", err, beacon.Conflict)
		}
	}
	linked := 0
	for _, node := range nodes {
		for _, c := range must(node.Changes.Changes(t.Context(), node.Node(), 0, 1000)) {
			if c.Kind == beacon.HotspotLinked {
				linked++
			}
		}
	}
	if counted := must(nodes[0].Keys.Key(t.Context(), "key_1")).Enrolled; won != most || linked != most || counted != most {
		t.Errorf("%d were enrolled, %d linked and %d counted; want %d of each", won, linked, counted, most)
	}
}
