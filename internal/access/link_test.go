package access_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

const linked beacon.UserID = "usr_01kb3gzk00e9x8q6s5t4v3w2y1"

func (w *world) refusesLink(t *testing.T, token string) {
	t.Helper()
	if made, err := w.SignIn(t.Context(), beacon.Principal{}, token); beacon.KindOf(err) != beacon.Unauthorized || made.Plain != "" {
		t.Errorf("the link %q makes %+v, %v", token, made, err)
	}
}

// A link gives one browser a key of the user that it is for, with an end, within its time.
func TestLink_Once(t *testing.T) {
	w := newWorld()
	token := w.Offer(beacon.Key{User: linked, Name: "demo", Scopes: []beacon.Scope{beacon.RewardsRead}})
	for _, wrong := range []string{"", token[1:], token + "0", strings.ToLower(token)} {
		w.refusesLink(t, wrong)
	}
	w.now = w.now.Add(access.LinkLasts - time.Second)
	made, err := w.SignIn(t.Context(), beacon.Principal{Request: "req_1"}, token)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := w.Verify(t.Context(), made.Plain); err != nil || p.User != linked || !p.Has(beacon.RewardsRead) || p.Has(beacon.Admin) {
		t.Errorf("the key is of %+v: %v", p, err)
	}
	if end := made.Key.ExpiresAt.Sub(w.now); end <= 0 || end > 24*time.Hour {
		t.Errorf("the key is valid for %v", end)
	}
	if by := w.store.actors[0]; by.Request != "req_1" || by.Key != "" {
		t.Errorf("the audit names %+v", by)
	}
	w.refusesLink(t, token)
}

// A link ends, and does not create the first key.
func TestLink_Late(t *testing.T) {
	w := newWorld()
	late, other := w.Offer(beacon.Key{User: linked}), ""
	w.now = w.now.Add(access.LinkLasts)
	w.refusesLink(t, late)
	other = w.Offer(beacon.Key{User: linked})
	w.refusesToken(t, other)
	if _, err := w.SignIn(t.Context(), beacon.Principal{}, other); err != nil {
		t.Error(err)
	}
}

// A database that fails uses up no link.
func TestLink_StoreFails(t *testing.T) {
	w := newWorld()
	token := w.Offer(beacon.Key{User: linked})
	w.store.fails = errors.New("the database is away")
	if _, err := w.SignIn(t.Context(), beacon.Principal{}, token); !errors.Is(err, w.store.fails) {
		t.Errorf("the error is %v", err)
	}
	w.store.fails = nil
	if _, err := w.SignIn(t.Context(), beacon.Principal{}, token); err != nil {
		t.Error(err)
	}
}

// Of many requests with one link, one gets a key.
func TestLink_Race(t *testing.T) {
	w := newWorld()
	token := w.Offer(beacon.Key{User: linked})
	var all sync.WaitGroup
	results := make([]error, 16)
	for i := range results {
		all.Go(func() { _, results[i] = w.SignIn(t.Context(), beacon.Principal{}, token) })
	}
	all.Wait()
	made := 0
	for _, err := range results {
		if err == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d requests got a key", made)
	}
}
