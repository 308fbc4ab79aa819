package access_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A session acts for its key, on every server, until one of them ends.
func TestSession_ActsForItsKey(t *testing.T) {
	w := newWorld()
	key, plain := w.add(t, beacon.Key{Scopes: []beacon.Scope{beacon.RewardsRead}})
	text, until := w.session(t, plain)
	if strings.Contains(text, plain[31:61]) {
		t.Error("the session contains the secret of the key")
	}
	for _, server := range []*world{w, {Keys: access.New(w.store, func() time.Time { return w.now }, inStep())}} {
		p, err := server.VerifySession(t.Context(), text, free)
		if err != nil || p.Key != key.ID || p.User != key.User || !p.Has(beacon.RewardsRead) || p.Has(beacon.Admin) {
			t.Errorf("the session is of %+v: %v", p, err)
		}
	}
	if _, err := w.Verify(t.Context(), text); !errors.Is(err, access.ErrUnauthorized) {
		t.Errorf("as a key, the session is %v", err)
	}
	w.now = until.Add(-time.Second)
	if _, err := w.VerifySession(t.Context(), text, free); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	w.now = until
	w.refusesSession(t, "an expired session", text)
}

func TestSession_EndsWithItsKey(t *testing.T) {
	w := newWorld()
	key, plain := w.add(t, beacon.Key{ExpiresAt: noon.Add(time.Hour)})
	revoked, other := w.add(t, beacon.Key{})
	text, _ := w.session(t, plain)
	ended, _ := w.session(t, other)
	if _, err := w.Revoke(t.Context(), beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}, revoked.ID); err != nil {
		t.Fatal(err)
	}
	w.refusesSession(t, "a session of a revoked key", ended)
	if _, err := w.VerifySession(t.Context(), text, free); err != nil {
		t.Error(err)
	}
	w.now = key.ExpiresAt
	w.refusesSession(t, "a session of an expired key", text)
}

// No session can be made from another one, or from the database.
func TestSession_Forged(t *testing.T) {
	w := newWorld()
	key, plain := w.add(t, beacon.Key{})
	admin, _ := w.add(t, beacon.Key{Scopes: []beacon.Scope{beacon.Admin}})
	text, until := w.session(t, plain)
	parts := strings.Split(text, ".")
	with := func(i int, value string) string {
		changed := append([]string{}, parts...)
		changed[i] = value
		return strings.Join(changed, ".")
	}
	later := strconv.FormatInt(until.Add(time.Hour).Unix(), 10)
	// Who has read the database knows the hash of the secret, and not the secret.
	leaked := func(secret string) string {
		context := "session " + parts[1] + " " + parts[2]
		sealed, err := access.Seal(string(key.SecretHash[:]), context, []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return with(3, base64.RawURLEncoding.EncodeToString(sealed))
	}
	hash := sha256.Sum256([]byte("x"))
	for name, forged := range map[string]string{
		"empty": "", "cut": text[:len(text)-1], "longer": text + "A", "of another key": with(1, string(admin.ID[4:])), "of no key": with(1, strings.Repeat("0", 26)),
		"that lasts longer": with(2, later), "that lasts forever": with(2, "9223372036854775808"), "with a sign": with(2, "+"+parts[2]), "with a space": with(2, parts[2]+" "),
		"of another kind": with(0, "bcn"), "with no secret": with(3, ""), "with more parts": text + ".", "too long": text + strings.Repeat("A", 8000),
		"made with the hash": leaked(string(key.SecretHash[:30])), "made with anything": leaked(strings.Repeat("a", 30)), "made with nothing": leaked(""),
		"made of the hash of another": leaked(string(hash[:])), "the key": plain,
	} {
		w.refusesSession(t, "a session "+name, forged)
	}
	for i := range text {
		w.refusesSession(t, "a session with a changed byte", text[:i]+string(text[i]^1)+text[i+1:])
	}
}

// An unknown session is not looked up if that is refused: ids can be invented.
func TestSession_MayAsk(t *testing.T) {
	w := newWorld()
	_, plain := w.add(t, beacon.Key{})
	text, _ := w.session(t, plain)
	flood := errors.New("too many")
	if _, err := w.VerifySession(t.Context(), text, func() error { return flood }); !errors.Is(err, flood) || w.store.asked() != 0 {
		t.Errorf("%v, after %d lookups", err, w.store.asked())
	}
}

func free() error { return nil }

func (w *world) session(t *testing.T, plain string) (text string, until time.Time) {
	t.Helper()
	text, until, err := w.NewSession(plain)
	if err != nil {
		t.Fatal(err)
	}
	return text, until
}

func (w *world) refusesSession(t *testing.T, name, text string) {
	t.Helper()
	if _, err := w.VerifySession(t.Context(), text, free); !errors.Is(err, access.ErrUnauthorized) {
		t.Errorf("%s: %v", name, err)
	}
}
