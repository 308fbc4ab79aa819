package storetest

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func key(id beacon.KeyID) beacon.Key {
	return beacon.Key{
		ID: id, User: "usr_tester", Name: "ключ 🔑", Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead},
		SecretHash: [32]byte{0, 1, 0xfe, 0xff, 31: 7}, CreatedAt: Now, ExpiresAt: Now.Add(720 * time.Hour),
		Restrictions: beacon.Restrictions{
			Origins: []string{"https://a.example", "https://b.example"}, Publishable: true,
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")},
		},
	}
}

func insertKeys(t testing.TB, db *store.DB, all ...beacon.Key) {
	t.Helper()
	for _, k := range all {
		if err := db.Keys.InsertKey(t.Context(), k, Actor, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func keys(t *testing.T, database Database) {
	db := database.open(t)
	full, bare := key("key_1"), beacon.Key{ID: "key_2", User: "usr_2", CreatedAt: Now}
	insertKeys(t, db, full, bare)
	equal(t, "the key", must(db.Keys.Key(t.Context(), "key_1")), full)
	equal(t, "the bare key", must(db.Keys.Key(t.Context(), "key_2")), bare)
	for _, id := range []beacon.KeyID{"", "KEY_1", "key_3"} {
		_, err := db.Keys.Key(t.Context(), id)
		wantKind(t, "Key("+string(id)+")", err, beacon.NotFound)
	}
	wantKind(t, "the same id again", db.Keys.InsertKey(t.Context(), full, Actor, nil), beacon.Internal)
	spoilt := key("key_4")
	spoilt.Name = "\x00"
	wantKind(t, "NUL", db.Keys.InsertKey(t.Context(), spoilt, Actor, nil), beacon.Internal)
	wantHead(t, db, 2)
}

// firstKey checks that an invitation is used up by one key, while there is none, whatever
// became of the others.
func firstKey(t *testing.T, database Database) {
	db := database.open(t)
	equal(t, "before there is one", must(db.Keys.Invitation(t.Context())), beacon.Invitation{})
	invited := beacon.Invitation{Hash: [32]byte{1, 2, 31: 9}, Until: Now.Add(time.Hour)}
	invite := func(i beacon.Invitation) {
		t.Helper()
		if err := db.Keys.SetInvitation(t.Context(), i, Actor, Now); err != nil {
			t.Fatal(err)
		}
		equal(t, "the invitation", must(db.Keys.Invitation(t.Context())), i)
	}
	first, second := key("key_1"), key("key_2")
	refused := func(what string, k beacon.Key, i beacon.Invitation) {
		t.Helper()
		wantKind(t, what, db.Keys.InsertFirstKey(t.Context(), k, Actor, i), beacon.Conflict)
	}
	refused("one without an invitation", first, beacon.Invitation{})
	refused("one with an invitation that there is not", first, invited)
	invite(beacon.Invitation{Hash: invited.Hash, Until: Now})
	invite(invited)
	refused("one with an invitation that was replaced", first, beacon.Invitation{Hash: invited.Hash, Until: Now})
	if err := db.Keys.InsertFirstKey(t.Context(), first, Actor, invited); err != nil {
		t.Fatal(err)
	}
	equal(t, "the first key", must(db.Keys.Key(t.Context(), first.ID)), first)
	equal(t, "the invitation after it was used", must(db.Keys.Invitation(t.Context())), beacon.Invitation{})
	refused("a second one", second, invited)
	if err := db.Keys.RevokeKey(t.Context(), first.ID, Now, Actor); err != nil {
		t.Fatal(err)
	}
	invite(invited)
	refused("one after a revoked one", second, invited)
	_, err := db.Keys.Key(t.Context(), second.ID)
	wantKind(t, "the second key", err, beacon.NotFound)
	wantHead(t, db, 5)
}

// firstAdmin checks that who becomes the first admin uses up the invitation that was seen, and
// that it is nothing once there is a key.
func firstAdmin(t *testing.T, database Database) {
	db := database.open(t)
	invited := beacon.Invitation{Hash: [32]byte{1}, Until: Now}
	if err := db.Keys.SetInvitation(t.Context(), invited, Actor, Now); err != nil {
		t.Fatal(err)
	}
	become := func(n int, with beacon.Invitation) error {
		return db.People.EditPeople(t.Context(), Actor, beacon.PeopleSight{FirstKey: true}, func(e *beacon.PeopleEdit) error {
			equal(t, "what is seen", e.FirstKey, invited)
			e.FirstKey, e.Write.UseFirstKey, e.Write.People = with, true, []beacon.Person{person(n)}
			return nil
		})
	}
	wantKind(t, "another invitation", become(1, beacon.Invitation{Hash: [32]byte{2}, Until: Now}), beacon.Conflict)
	if must(db.People.AnyPerson(t.Context())) {
		t.Error("who was refused is there")
	}
	if err := become(1, invited); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "a key by the same invitation", db.Keys.InsertFirstKey(t.Context(), key("key_1"), Actor, invited), beacon.Conflict)
	invited.Until = Now.Add(time.Hour)
	if err := db.Keys.SetInvitation(t.Context(), invited, Actor, Now); err != nil {
		t.Fatal(err)
	}
	insertKeys(t, db, key("key_2"))
	wantKind(t, "an admin beside a key", become(2, invited), beacon.Conflict)
}

// firstKeys checks that of two servers one creates the first key, or the first admin.
func firstKeys(t *testing.T, database Database) {
	a, b := database.open(t), database.open(t)
	invited := beacon.Invitation{Hash: [32]byte{1}, Until: Now}
	if err := a.Keys.SetInvitation(t.Context(), invited, Actor, Now); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		all.Go(func() {
			on := []*store.DB{a, b}[i%2]
			if i%4 < 2 {
				errs[i] = on.Keys.InsertFirstKey(t.Context(), key(beacon.KeyID(fmt.Sprint("key_", i))), Actor, invited)
				return
			}
			errs[i] = on.People.EditPeople(t.Context(), Actor, beacon.PeopleSight{FirstKey: true}, func(e *beacon.PeopleEdit) error {
				if e.FirstKey != invited {
					return &beacon.Error{Kind: beacon.Conflict}
				}
				e.Write.UseFirstKey, e.Write.People = true, []beacon.Person{person(i)}
				return nil
			})
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			wantKind(t, "another", err, beacon.Conflict)
		}
	}
	if made != 1 {
		t.Errorf("%d keys and admins were made with one invitation", made)
	}
}

func keyOrderAndUsers(t *testing.T, database Database) {
	db := database.open(t)
	old, middle, twin, foreign := key("key_9"), key("key_a"), key("key_B"), key("key_1")
	middle.CreatedAt, twin.CreatedAt, foreign.CreatedAt = Now.Add(time.Second), Now.Add(time.Second), Now.Add(time.Hour)
	foreign.User = "usr_other"
	insertKeys(t, db, middle, old, foreign, twin)
	// Keys of the same age are ordered by the bytes of the id: "B" < "a".
	for _, tc := range []struct {
		user          beacon.UserID
		offset, limit int
		want          []beacon.Key
		total         int
	}{
		{"usr_tester", 0, 100, []beacon.Key{middle, twin, old}, 3},
		{"", 0, 100, []beacon.Key{foreign, middle, twin, old}, 4},
		{"", 1, 2, []beacon.Key{middle, twin}, 4},
		{"usr_tester", 2, 2, []beacon.Key{old}, 3},
		{"usr_tester", 3, 2, nil, 3},
		{"", 1 << 30, 100, nil, 4},
		{"usr_nobody", 0, 100, nil, 0},
	} {
		page, total, err := db.Keys.Keys(t.Context(), tc.user, beacon.KeyPlace{}, tc.offset, tc.limit)
		if err != nil || total != tc.total {
			t.Errorf("Keys(%q, %d, %d): total %d, %v; want %d", tc.user, tc.offset, tc.limit, total, err, tc.total)
		}
		equal(t, fmt.Sprintf("Keys(%q, %d, %d)", tc.user, tc.offset, tc.limit), page, tc.want)
	}
	all := []beacon.Key{foreign, middle, twin, old}
	for i := range all { // a page that begins after a key
		page, total, err := db.Keys.Keys(t.Context(), "", all[i].Place(), 0, 2)
		if err != nil || total != 4 {
			t.Errorf("Keys after %s: total %d, %v", all[i].ID, total, err)
		}
		equal(t, "keys after "+string(all[i].ID), append([]beacon.Key{}, page...), append([]beacon.Key{}, all[i+1:min(i+3, 4)]...))
	}
	page, total, err := db.Keys.Keys(t.Context(), "usr_tester", middle.Place(), 0, 10)
	if err != nil || total != 3 {
		t.Errorf("the user's keys after one: total %d, %v", total, err)
	}
	equal(t, "the user's keys after one", page, []beacon.Key{twin, old})
}

func revokeKey(t *testing.T, database Database) {
	db := database.open(t)
	want := key("key_1")
	insertKeys(t, db, want, key("key_2"))
	want.RevokedAt = Now.Add(time.Minute)
	for range 2 { // the second call succeeds and changes nothing
		if err := db.Keys.RevokeKey(t.Context(), "key_1", want.RevokedAt, Actor); err != nil {
			t.Fatal(err)
		}
		equal(t, "the revoked key", must(db.Keys.Key(t.Context(), "key_1")), want)
	}
	if err := db.Keys.RevokeKey(t.Context(), "key_1", Now.Add(time.Hour), Actor); err != nil {
		t.Fatal(err)
	}
	equal(t, "the revoked key", must(db.Keys.Key(t.Context(), "key_1")), want)
	equal(t, "the other key", must(db.Keys.Key(t.Context(), "key_2")), key("key_2"))
	wantKind(t, "an unknown key", db.Keys.RevokeKey(t.Context(), "key_3", Now, Actor), beacon.NotFound)
	wantHead(t, db, 3)
}

func touchKeys(t *testing.T, database Database) {
	db := database.open(t)
	insertKeys(t, db, key("key_1"), key("key_2"), key("key_3"))
	touch := func(used map[beacon.KeyID]time.Time) {
		t.Helper()
		if err := db.Keys.TouchKeys(t.Context(), used); err != nil {
			t.Fatal(err)
		}
	}
	touch(nil)
	touch(map[beacon.KeyID]time.Time{"key_1": Now.Add(time.Hour), "key_2": Now, "key_unknown": Now})
	touch(map[beacon.KeyID]time.Time{"key_1": Now, "key_2": Now.Add(time.Minute)}) // times never move back
	for id, want := range map[beacon.KeyID]time.Time{"key_1": Now.Add(time.Hour), "key_2": Now.Add(time.Minute), "key_3": {}} {
		if got := must(db.Keys.Key(t.Context(), id)).LastUsedAt; !got.Equal(want) {
			t.Errorf("%s was last used %v; want %v", id, got, want)
		}
	}
	wantHead(t, db, 3) // use is not a write
}
