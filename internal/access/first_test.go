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

// The holder of the token creates the first key, once, within the hour.
func TestFirst_Once(t *testing.T) {
	w := newWorld()
	token := w.invite(t)
	for _, wrong := range []string{"", token[1:], token + "0", strings.ToLower(token)} {
		w.refusesToken(t, wrong)
	}
	w.now = w.now.Add(access.InvitationLasts - time.Second)
	made, err := w.CreateFirst(t.Context(), beacon.Principal{Request: "req_1"}, token)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := w.Verify(t.Context(), made.Plain); err != nil || !p.Has(beacon.Admin) || p.User != made.Key.User {
		t.Errorf("the key is of %+v: %v", p, err)
	}
	if by := w.store.actors[0]; by.Request != "req_1" || by.Key != "" {
		t.Errorf("the audit names %+v", by)
	}
	w.refusesToken(t, token)
	if again := w.invite(t); again != "" {
		t.Errorf("with a key, there is another token: %q", again)
	}
}

// A token is worth nothing after an hour, after somebody invited again, and as soon as
// there is any key.
func TestFirst_Lost(t *testing.T) {
	w := newWorld()
	w.refusesToken(t, "") // nobody was invited
	late := w.invite(t)
	w.now = w.now.Add(access.InvitationLasts)
	w.refusesToken(t, late)
	replaced, token := w.invite(t), w.invite(t)
	w.refusesToken(t, replaced)
	w.add(t, beacon.Key{})
	w.refusesToken(t, token)
}

// A database that fails uses up no token.
func TestFirst_StoreFails(t *testing.T) {
	w := newWorld()
	token := w.invite(t)
	w.store.fails = errors.New("the database is away")
	if _, err := w.CreateFirst(t.Context(), beacon.Principal{}, token); !errors.Is(err, w.store.fails) {
		t.Errorf("the error is %v", err)
	}
	w.store.fails = nil
	if _, err := w.CreateFirst(t.Context(), beacon.Principal{}, token); err != nil {
		t.Error(err)
	}
}

// Of many requests with the token, one gets a key.
func TestFirst_Race(t *testing.T) {
	w := newWorld()
	token := w.invite(t)
	var all sync.WaitGroup
	results := make([]error, 16)
	for i := range results {
		all.Go(func() { _, results[i] = w.CreateFirst(t.Context(), beacon.Principal{}, token) })
	}
	all.Wait()
	made := 0
	for _, err := range results {
		if err == nil {
			made++
		}
	}
	if made != 1 || len(w.store.keys) != 1 {
		t.Errorf("%d requests were successful, and there are %d keys", made, len(w.store.keys))
	}
}

func (w *world) invite(t *testing.T) string {
	t.Helper()
	token, err := w.Invite(t.Context(), beacon.Principal{})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (w *world) refusesToken(t *testing.T, token string) {
	t.Helper()
	_, err := w.CreateFirst(t.Context(), beacon.Principal{}, token)
	if e, ok := errors.AsType[*beacon.Error](err); !ok || e.Kind != beacon.Unauthorized {
		t.Errorf("the token %q: %v", token, err)
	}
}
