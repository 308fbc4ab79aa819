package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func changesOfEveryWrite(t *testing.T, database Database) {
	db := database.open(t)
	if heads := must(db.Changes.Heads(t.Context())); len(heads) != 0 {
		t.Errorf("heads of an empty database = %v", heads)
	}
	h, k := Hotspot(1), key("key_1")
	actor := func(n int) beacon.Actor {
		return beacon.Actor{Key: "key_a", User: "usr_a", Request: fmt.Sprint("req_", n), Note: fmt.Sprint("note ", n)}
	}
	if err := db.Hotspots.InsertHotspot(t.Context(), h, actor(1), nil); err != nil {
		t.Fatal(err)
	}
	must(db.Hotspots.UpdateHotspot(t.Context(), h.ID, actor(2), beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.UpdatedAt = Now.Add(2 * time.Minute)
		return true, nil
	}))
	must(db.Hotspots.UpdateHotspot(t.Context(), h.ID, actor(3), beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
		h.UpdatedAt, h.DeletedAt = Now.Add(3*time.Minute), Now.Add(3*time.Minute)
		return true, nil
	}))
	for _, err := range []error{
		db.Keys.InsertKey(t.Context(), k, actor(4), nil), db.Keys.RevokeKey(t.Context(), k.ID, Now.Add(5*time.Minute), actor(5)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	node, id := db.Node(), string(h.ID)
	want := []beacon.Change{
		{Node: node, Seq: 1, Kind: beacon.HotspotRegistered, Target: id, Version: 1, Actor: actor(1), At: h.CreatedAt},
		{Node: node, Seq: 2, Kind: beacon.HotspotUpdated, Target: id, Version: 2, Actor: actor(2), At: Now.Add(2 * time.Minute)},
		{Node: node, Seq: 3, Kind: beacon.HotspotDeleted, Target: id, Version: 3, Actor: actor(3), At: Now.Add(3 * time.Minute)},
		{Node: node, Seq: 4, Kind: beacon.KeyCreated, Target: "key_1", Actor: actor(4), At: k.CreatedAt},
		{Node: node, Seq: 5, Kind: beacon.KeyRevoked, Target: "key_1", Actor: actor(5), At: Now.Add(5 * time.Minute)},
	}
	equal(t, "all changes", must(db.Changes.Changes(t.Context(), node, 0, 100)), want)
	equal(t, "changes after 2", must(db.Changes.Changes(t.Context(), node, 2, 2)), want[2:4])
	if rest := must(db.Changes.Changes(t.Context(), node, 5, 100)); len(rest) != 0 {
		t.Errorf("changes after the head = %v; want none", rest)
	}
	if other := must(db.Changes.Changes(t.Context(), "node_other", 0, 100)); len(other) != 0 {
		t.Errorf("changes of an unknown node = %v; want none", other)
	}
	equal(t, "heads", must(db.Changes.Heads(t.Context())), map[string]int64{node: 5})
}

// audit reads the pages of two nodes with equal times.
func audit(t *testing.T, database Database) {
	one, two := database.open(t), database.open(t)
	const each = 120 // more than is read at once
	for n := range each {
		for node, db := range []*store.DB{one, two} {
			k := key(beacon.KeyID(fmt.Sprintf("key_%d_%d", node, n)))
			k.CreatedAt = Now.Add(time.Duration(n/2) * time.Second)
			insertKeys(t, db, k)
		}
	}
	var all []beacon.Change
	for before := (beacon.Change{}); ; before = all[len(all)-1] {
		page, err := one.Changes.Audit(t.Context(), before, 37)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		if len(all) > 10*each {
			t.Fatalf("the pages never end: %v", page)
		}
	}
	seen := map[string]bool{}
	for i, c := range all {
		seen[c.Target] = true
		if i > 0 && c.At.After(all[i-1].At) {
			t.Errorf("%s at %v stands after an older one", c.Target, c.At)
		}
	}
	if len(all) != 2*each || len(seen) != 2*each {
		t.Errorf("the audit lists %d changes of %d keys; want %d", len(all), len(seen), 2*each)
	}
}
