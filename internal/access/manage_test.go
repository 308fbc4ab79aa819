package access_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

func kindOf(err error) beacon.Kind {
	if e, ok := errors.AsType[*beacon.Error](err); ok {
		return e.Kind
	}
	return -1
}

func creation(scopes ...string) access.Creation {
	return access.Creation{Scopes: beacon.Some(scopes)}
}

func TestCreate(t *testing.T) {
	w := newWorld()
	me := beacon.Principal{Key: "key_me", User: user(), Scopes: []beacon.Scope{beacon.KeysManage, beacon.HotspotsWrite}, Request: "req_1"}
	in := creation("hotspots:write", "keys:manage", "hotspots:write")
	in.Name, in.ExpiresAt = beacon.Some(" laptop "), beacon.Some(noon.Add(time.Hour))
	made, err := w.Create(t.Context(), me, in)
	if err != nil {
		t.Fatal(err)
	}
	k := made.Key
	if k.User != me.User || k.Name != "laptop" || !k.CreatedAt.Equal(noon) || !k.ExpiresAt.Equal(noon.Add(time.Hour)) ||
		!slices.Equal(k.Scopes, []beacon.Scope{beacon.HotspotsWrite, beacon.KeysManage}) {
		t.Errorf("created %+v; want what was asked for", k)
	}
	if got := w.store.actors; len(got) != 1 || got[0] != me.CountedActor(noon) {
		t.Errorf("recorded %v; want %v", got, me.CountedActor(noon))
	}
	w.opens(t, made.Plain, k)
}

func TestCreate_Rights(t *testing.T) {
	mine, theirs := user(), user()
	plain := []beacon.Scope{beacon.KeysManage, beacon.RewardsRead}
	admin := []beacon.Scope{beacon.Admin}
	for _, test := range []struct {
		name   string
		held   []beacon.Scope
		user   string
		scopes []string
		want   beacon.Kind // 0 (Internal) when it is allowed
	}{
		{"own user", plain, string(mine), []string{"rewards:read"}, 0},
		{"no scope at all", plain, "", nil, 0},
		{"a scope it lacks", plain, "", []string{"rewards:read", "hotspots:write"}, beacon.Forbidden},
		{"admin", plain, "", []string{"admin"}, beacon.Forbidden},
		{"someone else", plain, string(theirs), []string{"rewards:read"}, beacon.Forbidden},
		{"a new user", plain, "new", nil, beacon.Forbidden},
		{"admin for someone else", admin, string(theirs), []string{"admin", "hotspots:verify"}, 0},
		{"admin for a new user", admin, "new", []string{"rewards:read"}, 0},
		{"admin for themselves", admin, "", []string{"keys:manage"}, 0},
	} {
		w := newWorld()
		p := beacon.Principal{User: mine, Scopes: test.held}
		in := creation(test.scopes...)
		if test.user != "" {
			in.User = beacon.Some(test.user)
		}
		made, err := w.Create(t.Context(), p, in)
		if test.want != 0 {
			if kindOf(err) != test.want || made.Plain != "" || len(w.store.keys) != 0 {
				t.Errorf("%s: %v; want kind %d, and no key", test.name, err, test.want)
			}
			continue
		}
		if err != nil || len(w.store.keys) != 1 {
			t.Errorf("%s: %v; want a key", test.name, err)
		}
		switch got := made.Key.User; {
		case test.user == "new" && (!id.Valid("usr_", string(got)) || got == mine),
			test.user == "" && got != mine,
			id.Valid("usr_", test.user) && string(got) != test.user:
			t.Errorf("%s: the key is for %s", test.name, got)
		}
	}
}

func TestCreate_Faults(t *testing.T) {
	p := beacon.Principal{User: user(), Scopes: []beacon.Scope{beacon.Admin}}
	w := newWorld()
	for _, test := range []struct {
		name string
		by   beacon.Principal
		in   access.Creation
		want []string
		kind beacon.Kind
	}{
		{"nothing", p, access.Creation{}, []string{"scopes"}, beacon.MissingParameter},
		{"by no user, for no user", beacon.Principal{Scopes: p.Scopes}, creation(), []string{"user_id"}, beacon.MissingParameter},
		{"all wrong", p, access.Creation{
			User: beacon.Some("me"), Name: beacon.Some("a\x00"), Scopes: beacon.Some([]string{"root"}), ExpiresAt: beacon.Some(noon),
		}, []string{"user_id", "name", "scopes", "expires_at"}, beacon.InvalidRequest},
		{"nulls", p, access.Creation{
			User: beacon.Null[string](), Name: beacon.Null[string](), Scopes: beacon.Null[[]string](), ExpiresAt: beacon.Null[time.Time](),
		}, []string{"user_id", "name", "scopes", "expires_at"}, beacon.InvalidRequest},
	} {
		_, err := w.Create(t.Context(), test.by, test.in)
		e, ok := errors.AsType[*beacon.Error](err)
		if !ok || e.Kind != test.kind || len(e.Fields) != len(test.want) {
			t.Errorf("%s: %v; want faults of %v", test.name, err, test.want)
			continue
		}
		for i, f := range e.Fields {
			if f.Field != test.want[i] {
				t.Errorf("%s: fault %d is of %s; want %s", test.name, i, f.Field, test.want[i])
			}
		}
	}
	w.store.fail(errAway)
	if _, err := w.Create(t.Context(), p, creation()); !errors.Is(err, errAway) {
		t.Errorf("store away: %v", err)
	}
}

func TestList(t *testing.T) {
	w := newWorld()
	a, b := user(), user()
	var want []beacon.KeyID
	for i, u := range []beacon.UserID{a, b, a} {
		w.now = noon.Add(time.Duration(i) * time.Second)
		k, _ := w.add(t, beacon.Key{User: u})
		want = append(want, k.ID)
	}
	ofA := []beacon.KeyID{want[2], want[0]}
	all := []beacon.KeyID{want[2], want[1], want[0]}
	owner := beacon.Principal{User: a, Scopes: []beacon.Scope{beacon.KeysManage}}
	admin := beacon.Principal{User: b, Scopes: []beacon.Scope{beacon.Admin}}
	for _, test := range []struct {
		name string
		by   beacon.Principal
		of   beacon.UserID
		want []beacon.KeyID
		kind beacon.Kind
	}{
		{"own", owner, "", ofA, 0},
		{"own, by name", owner, a, ofA, 0},
		{"another's", owner, b, nil, beacon.Forbidden},
		{"no one's", owner, user(), nil, beacon.Forbidden},
		{"all", admin, "", all, 0},
		{"another's, by an admin", admin, a, ofA, 0},
		{"by no user", beacon.Principal{}, "", nil, beacon.Forbidden},
	} {
		list, err := w.List(t.Context(), test.by, access.Listing{User: test.of, Page: beacon.Page{Number: 1, Size: 100}})
		var got []beacon.KeyID
		for _, k := range list.Items {
			got = append(got, k.ID)
		}
		if !slices.Equal(got, test.want) || (err != nil) != (test.kind != 0) || err != nil && kindOf(err) != test.kind {
			t.Errorf("%s: %v, %v; want %v, kind %d", test.name, got, err, test.want, test.kind)
		}
	}
}

func TestRevoke(t *testing.T) {
	mine, theirs := user(), user()
	owner := beacon.Principal{User: mine, Scopes: []beacon.Scope{beacon.KeysManage}, Request: "req_1"}
	admin := beacon.Principal{User: theirs, Scopes: []beacon.Scope{beacon.Admin}}
	for _, test := range []struct {
		name    string
		by      beacon.Principal
		of      beacon.UserID
		revoked bool
	}{
		{"own", owner, mine, true},
		{"another's", owner, theirs, false},
		{"another's, by an admin", admin, mine, true},
	} {
		w := newWorld()
		k, plain := w.add(t, beacon.Key{User: test.of})
		w.opens(t, plain, k)
		for range 2 { // a second time changes nothing
			_, err := w.Revoke(t.Context(), test.by, k.ID)
			if test.revoked && err != nil || !test.revoked && kindOf(err) != beacon.NotFound {
				t.Errorf("%s: %v; want revoked: %t", test.name, err, test.revoked)
			}
		}
		if test.revoked {
			w.refuses(t, plain, test.name) // at once, though the feed has not told
			if by := w.store.actors[1]; by != test.by.Actor() {
				t.Errorf("%s: recorded %v", test.name, by)
			}
		} else {
			w.opens(t, plain, k)
		}
	}
}

// Another's key and one that does not exist must look the same.
func TestRevoke_UnknownIsAsUnknown(t *testing.T) {
	w := newWorld()
	owner := beacon.Principal{User: user(), Scopes: []beacon.Scope{beacon.KeysManage}}
	other, _ := w.add(t, beacon.Key{})
	_, want := w.Revoke(t.Context(), owner, other.ID)
	for _, key := range []beacon.KeyID{beacon.KeyID(id.New("key_", noon)), "", "key_", "k", "nonsense"} {
		if _, err := w.Revoke(t.Context(), owner, key); kindOf(err) != beacon.NotFound || err.Error() != want.Error() {
			t.Errorf("%q: %v; want %v", key, err, want)
		}
	}
}

// When the database is away a revocation fails, and memory stays as it is.
func TestRevoke_StoreAway(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	w.store.fail(errAway)
	stranger := beacon.Principal{User: user(), Scopes: []beacon.Scope{beacon.KeysManage}}
	if _, err := w.Revoke(t.Context(), stranger, k.ID); !errors.Is(err, errAway) {
		t.Errorf("got %v; want %v", err, errAway)
	}
	w.opens(t, plain, k)
}

func TestSelf(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{Name: "ci", ExpiresAt: noon.Add(time.Hour)})
	p, err := w.Verify(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	w.store.fail(errAway)
	got, err := w.Self(t.Context(), p, struct{}{})
	if err != nil || got.ID != k.ID || got.Name != "ci" || !got.ExpiresAt.Equal(k.ExpiresAt) {
		t.Errorf("with the store away: %+v, %v; want %+v", got, err, k)
	}
	w.store.fail(nil)
	w.Forget(k.ID)
	if got, err := w.Self(t.Context(), p, struct{}{}); err != nil || got.ID != k.ID {
		t.Errorf("from the store: %+v, %v; want %+v", got, err, k)
	}
	if _, err := w.Self(t.Context(), beacon.Principal{}, struct{}{}); kindOf(err) != beacon.NotFound {
		t.Errorf("of no key: %v; want NotFound", err)
	}
}
