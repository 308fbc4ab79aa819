package storetest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// codeHash stands in for the hash of a code.
func codeHash(n int) [32]byte { return [32]byte{0, 0xff, byte(n), byte(n >> 8), 31: 3} }

// unlinked returns a hotspot without a device.
func unlinked(n int) beacon.Hotspot {
	h := Hotspot(n)
	h.Device.Unlink()
	return h
}

func putCode(t testing.TB, db *store.DB, hotspot, code int) {
	t.Helper()
	err := db.Hotspots.PutLinkCode(t.Context(), beacon.LinkCode{Hotspot: Hotspot(hotspot).ID, Hash: codeHash(code), ExpiresAt: Now.Add(15 * time.Minute)}, Actor, Now)
	if err != nil {
		t.Fatal(err)
	}
}

// linkWith returns a use of a code that links a device.
func linkWith(key byte) func(*beacon.LinkCode, *beacon.Hotspot) error {
	return func(_ *beacon.LinkCode, h *beacon.Hotspot) error {
		h.Device.KeyHash, h.Device.LinkedAt, h.UpdatedAt = [32]byte{key}, Now.Add(time.Minute), Now.Add(time.Minute)
		return nil
	}
}

// linkTries is how often these tests let a code be used in vain.
const linkTries = 5

func wrongMAC(code *beacon.LinkCode, _ *beacon.Hotspot) error {
	code.Tries++
	code.Void = code.Tries == linkTries
	return errVerdict
}

// device is the actor that links: it has no key.
var device = beacon.Actor{Request: "req_device"}

// wantAudit compares the kinds and notes of a node's changes after the first skipped
// ones, and checks that no change contains a code's hash or a MAC address.
func wantAudit(t testing.TB, db *store.DB, skipped int64, want ...string) {
	t.Helper()
	got := []string{}
	for _, c := range must(db.Changes.Changes(t.Context(), db.Node(), skipped, 1000)) {
		got = append(got, strings.TrimSuffix(fmt.Sprint(c.Kind, ": ", c.Actor.Note), ": "))
		text := strings.ToLower(fmt.Sprintf("%+v", c))
		for n := range 20 {
			hash, address := codeHash(n), strings.ToLower(string(mac(n)))
			if strings.Contains(text, hex.EncodeToString(hash[:])) || strings.Contains(text, address) {
				t.Errorf("the audit tells too much: %s", text)
			}
		}
	}
	equal(t, "the audit", got, append([]string{}, want...))
}

func linkDevice(t *testing.T, database Database) {
	db := database.open(t)
	before := unlinked(1)
	insert(t, db, before)
	putCode(t, db, 1, 1)
	want := before
	want.Device.KeyHash, want.Device.LinkedAt, want.UpdatedAt, want.Version = [32]byte{9}, Now.Add(time.Minute), Now.Add(time.Minute), 2
	got, err := db.Hotspots.LinkDevice(t.Context(), codeHash(1), device, Now.Add(time.Minute), func(code *beacon.LinkCode, h *beacon.Hotspot) error {
		equal(t, "the code", *code, beacon.LinkCode{Hotspot: before.ID, ExpiresAt: Now.Add(15 * time.Minute)})
		equal(t, "what the edit sees", *h, before)
		h.ID, h.Operator, h.Version, h.CreatedAt = "hs_x", "usr_x", 77, time.Time{} // must be ignored
		return linkWith(9)(code, h)
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the answer", got, want)
	equal(t, "the hotspot read back", must(db.Hotspots.Hotspot(t.Context(), before.ID)), want)
	_, err = db.Hotspots.LinkDevice(t.Context(), codeHash(1), device, Now.Add(time.Minute), linkWith(8))
	wantKind(t, "the code again", err, beacon.NotFound)
	equal(t, "the changes", must(db.Changes.Changes(t.Context(), db.Node(), 1, 10)), []beacon.Change{
		{Node: db.Node(), Seq: 2, Kind: beacon.LinkCodeCreated, Target: string(before.ID), Actor: Actor, At: Now},
		{Node: db.Node(), Seq: 3, Kind: beacon.HotspotLinked, Target: string(before.ID), Version: 2, Actor: device, At: Now.Add(time.Minute)},
	})
}

// linkRefused: a code allows five wrong tries, the last of which deletes it. Each
// records one row, even if the right device links in between.
func linkRefused(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, unlinked(1), unlinked(2))
	putCode(t, db, 1, 1)
	putCode(t, db, 2, 2)
	refuse := func(code int) {
		t.Helper()
		if _, err := db.Hotspots.LinkDevice(t.Context(), codeHash(code), device, Now, wrongMAC); err != errVerdict { //nolint:errorlint // as it is
			t.Errorf("error %v; want that of the edit, as it is", err)
		}
	}
	for range linkTries {
		refuse(1)
	}
	_, err := db.Hotspots.LinkDevice(t.Context(), codeHash(1), device, Now, linkWith(1))
	wantKind(t, "the right device after five wrong ones", err, beacon.NotFound)
	for range linkTries - 1 {
		refuse(2)
	}
	must(db.Hotspots.LinkDevice(t.Context(), codeHash(2), device, Now, linkWith(1)))
	wantAudit(t, db, 2, "link_code.created", "link_code.created",
		"link.refused: the edit says no", "link.refused: the edit says no", "link.refused: the edit says no", "link.refused: the edit says no", "link.refused: the edit says no",
		"link.refused: the edit says no", "link.refused: the edit says no", "link.refused: the edit says no", "link.refused: the edit says no", "hotspot.linked")
	equal(t, "the hotspot of the spent code", must(db.Hotspots.Hotspot(t.Context(), Hotspot(1).ID)), unlinked(1))

	for code := 3; code <= 4; code++ { // a new code has its own tries, even if it replaces another
		putCode(t, db, 1, code)
		for range linkTries - 1 {
			refuse(code)
		}
	}
	must(db.Hotspots.LinkDevice(t.Context(), codeHash(4), device, Now, linkWith(1)))
}

func linkVerdicts(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, unlinked(1), unlinked(2), unlinked(3), unlinked(4))
	for n := 1; n <= 3; n++ {
		putCode(t, db, n, n)
	}
	putCode(t, db, 1, 11) // replaces code 1
	remove(t, db, Hotspot(3).ID)
	const sofar = 4 + 4 + 1
	at := Now.Add(15*time.Minute - time.Microsecond)
	never := func(*beacon.LinkCode, *beacon.Hotspot) error {
		t.Error("the use runs")
		return nil
	}
	refused := func(what string, code int, use func(*beacon.LinkCode, *beacon.Hotspot) error, want error) {
		t.Helper()
		if _, err := db.Hotspots.LinkDevice(t.Context(), codeHash(code), device, at, use); !errors.Is(err, want) && (want != nil || beacon.KindOf(err) != beacon.NotFound) {
			t.Errorf("%s: %v; want %v", what, err, want)
		}
	}
	void := func(code *beacon.LinkCode, h *beacon.Hotspot) error {
		code.Void = true
		if gone := h == nil; gone != (code.Hotspot == Hotspot(3).ID) {
			t.Errorf("the hotspot of the code is deleted: %t", gone)
		}
		return errVerdict
	}
	refused("an unknown code", 99, never, nil)
	refused("a replaced code", 1, never, nil)
	wantAudit(t, db, sofar)
	refused("a code that becomes void", 2, void, errVerdict)
	refused("a void code again", 2, never, nil)
	refused("that of a deleted hotspot", 3, void, errVerdict)
	refused("that of a deleted hotspot again", 3, never, nil)
	wantAudit(t, db, sofar, "link.refused: the edit says no", "link.refused: the edit says no")

	put := func(what string, code beacon.LinkCode, kind beacon.Kind) {
		t.Helper()
		wantKind(t, what, db.Hotspots.PutLinkCode(t.Context(), code, Actor, Now), kind)
	}
	put("a code for a deleted hotspot", beacon.LinkCode{Hotspot: Hotspot(3).ID, Hash: codeHash(5), ExpiresAt: at}, beacon.NotFound)
	put("a code for no hotspot", beacon.LinkCode{Hotspot: "hs_x", Hash: codeHash(5), ExpiresAt: at}, beacon.NotFound)
	put("the code of another", beacon.LinkCode{Hotspot: Hotspot(4).ID, Hash: codeHash(11), ExpiresAt: at}, beacon.Conflict)

	_, err := db.Hotspots.LinkDevice(t.Context(), codeHash(11), device, at, func(*beacon.LinkCode, *beacon.Hotspot) error { panic("a mistake in a use") })
	wantKind(t, "a panic", err, beacon.Internal)
	by := device
	by.Note = "from afar"
	if _, err := db.Hotspots.LinkDevice(t.Context(), codeHash(11), by, at, wrongMAC); err != errVerdict { //nolint:errorlint // as it is
		t.Errorf("error %v; want that of the edit", err)
	}
	must(db.Hotspots.LinkDevice(t.Context(), codeHash(11), by, at, linkWith(1)))
	wantAudit(t, db, sofar+2, "link.refused: the edit says no", "hotspot.linked: from afar")
}

// linkRace: many use one code at two nodes, some with the wrong device. One succeeds,
// unless the wrong ones used it up; and each use of the code has a row.
func linkRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const rounds, racers = 6, 10
	linked := 0
	for round := range rounds {
		insert(t, nodes[0], unlinked(round))
		putCode(t, nodes[0], round, round)
		id := Hotspot(round).ID
		var won, wrong atomic.Int64
		var all sync.WaitGroup
		for racer := range racers {
			all.Go(func() {
				edit := linkWith(byte(racer + 1))
				if racer < 3 {
					edit = wrongMAC
				}
				err := insist(func() error {
					_, err := nodes[racer%2].Hotspots.LinkDevice(t.Context(), codeHash(round), device, Now, edit)
					return err
				})
				switch err { //nolint:errorlint // as it is
				case nil:
					won.Add(1)
				case errVerdict:
					wrong.Add(1)
				default:
					wantKind(t, "a racer", err, beacon.NotFound)
				}
			})
			all.Go(func() { edit(t, nodes[racer%2], id) }) // meanwhile
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d: %d of %d were linked; want 1", round, won.Load(), racers)
		}
		h := must(nodes[0].Hotspots.Hotspot(t.Context(), id))
		if h.Version != 1+racers+won.Load() || h.Settings.MaxConnections != 64+racers {
			t.Errorf("round %d: version %d, counted to %d", round, h.Version, h.Settings.MaxConnections)
		}
		kinds := map[beacon.ChangeKind]int64{}
		for _, node := range nodes {
			for _, c := range must(node.Changes.Changes(t.Context(), node.Node(), 0, 10_000)) {
				if c.Target == string(id) {
					kinds[c.Kind]++
				}
			}
		}
		equal(t, "the audit", kinds, withoutZeros(map[beacon.ChangeKind]int64{
			beacon.HotspotRegistered: 1, beacon.LinkCodeCreated: 1, beacon.HotspotUpdated: racers,
			beacon.HotspotLinked: won.Load(), beacon.LinkRefused: wrong.Load(),
		}))
		linked++
	}
	if linked != rounds {
		t.Errorf("%d rounds; want %d", linked, rounds)
	}
}

func withoutZeros(counts map[beacon.ChangeKind]int64) map[beacon.ChangeKind]int64 {
	for kind, n := range counts {
		if n == 0 {
			delete(counts, kind)
		}
	}
	return counts
}

func noteRefusal(t *testing.T, database Database) {
	db := database.open(t)
	by := Actor
	by.Note = "is 5 km away: €"
	want := beacon.Change{Kind: beacon.VerificationRefused, Target: string(Hotspot(1).ID), Actor: by, At: Now}
	if err := db.Changes.NoteRefusal(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	want.Node, want.Seq = db.Node(), 1
	equal(t, "the changes", must(db.Changes.Changes(t.Context(), db.Node(), 0, 10)), []beacon.Change{want})
	equal(t, "the audit", must(db.Changes.Audit(t.Context(), beacon.Change{}, 10)), []beacon.Change{want})
	want.Actor.Note = "a\x00b"
	wantKind(t, "a note that cannot be stored", db.Changes.NoteRefusal(t.Context(), want), beacon.Internal)
	wantHead(t, db, 1)
}
