package access_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

var errAway = errors.New("the database is away")

// opens fails the test unless the key is accepted as k.
func (w *world) opens(t *testing.T, plain string, k beacon.Key) {
	t.Helper()
	p, err := w.Verify(t.Context(), plain)
	if err != nil || p.Key != k.ID || p.User != k.User || len(p.Scopes) != len(k.Scopes) {
		t.Errorf("got %+v, %v; want the principal of %s", p, err, k.ID)
	}
}

// refuses fails the test unless the answer is the one and only refusal.
func (w *world) refuses(t *testing.T, plain, why string) {
	t.Helper()
	if p, err := w.Verify(t.Context(), plain); err != access.ErrUnauthorized || p.Key != "" || p.User != "" || p.Scopes != nil {
		t.Errorf("%s: %+v, %v; want ErrUnauthorized", why, p, err)
	}
}

func (w *world) wantLookups(t *testing.T, want int, when string) {
	t.Helper()
	if got := w.store.asked(); got != want {
		t.Errorf("%s: %d lookups; want %d", when, got, want)
	}
}

func TestVerify_IsCached(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{Scopes: []beacon.Scope{beacon.RewardsRead}})
	for range 3 {
		w.opens(t, plain, k)
		w.now = w.now.Add(time.Hour)
	}
	w.wantLookups(t, 1, "in step")
}

func TestVerify_AllRefusalsAreOne(t *testing.T) {
	w := newWorld()
	_, expired := w.add(t, beacon.Key{ExpiresAt: noon})
	_, revoked := w.add(t, beacon.Key{RevokedAt: noon.Add(-time.Hour)})
	_, unknown := access.Mint(noon, beacon.Key{})
	k, plain := w.add(t, beacon.Key{})
	public, _ := access.Parse(plain)
	_, other := access.Mint(noon, beacon.Key{})
	body := "bcn_" + string(public.ID())[4:] + other[30:61]
	forged := body + sum(body)

	for why, text := range map[string]string{
		"expired": expired, "revoked": revoked, "unknown": unknown, "malformed": plain + "x", "empty": "",
		"forged": forged, "of the preview": "svc_test_abcdef",
	} {
		w.refuses(t, text, why)
		w.refuses(t, text, why+", again")
	}
	w.opens(t, plain, k)
	w.refuses(t, forged, "forged, with the real one in memory")
}

func TestVerify_GarbageAndForgeriesCostNoLookup(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.refuses(t, "bcn_"+plain[5:]+"0", "garbage")
	odd := plain[:60] + "-"
	w.refuses(t, odd+sum(odd), "garbage with a right checksum")
	w.wantLookups(t, 0, "garbage")

	w.opens(t, plain, k)
	w.heard.Set(time.Time{})
	w.now = w.now.Add(time.Minute)
	_, other := access.Mint(noon, beacon.Key{})
	body := plain[:30] + other[30:61]
	w.refuses(t, body+sum(body), "forged")
	w.wantLookups(t, 1, "a forged secret of a known key, out of step")
}

func TestVerify_ExpiresInMemory(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{ExpiresAt: noon.Add(time.Minute)})
	w.opens(t, plain, k)
	w.now = noon.Add(time.Minute - 1)
	w.opens(t, plain, k)
	w.now = noon.Add(time.Minute)
	w.refuses(t, plain, "expired since")
	w.wantLookups(t, 1, "expiry")
}

func TestVerify_UnknownIsRememberedForASecond(t *testing.T) {
	w := newWorld()
	k, plain := access.Mint(noon, beacon.Key{User: user()})
	w.refuses(t, plain, "not stored yet")
	w.now = noon.Add(time.Second - 1)
	w.refuses(t, plain, "not stored yet")
	w.wantLookups(t, 1, "within a second")

	if err := w.store.InsertKey(t.Context(), k, beacon.Actor{}, nil); err != nil {
		t.Fatal(err)
	}
	w.refuses(t, plain, "still remembered")
	w.now = noon.Add(time.Second)
	w.opens(t, plain, k)
	w.wantLookups(t, 2, "after a second")
}

func TestForget_UnknownIsAskedAgain(t *testing.T) {
	w := newWorld()
	k, plain := access.Mint(noon, beacon.Key{User: user()})
	w.refuses(t, plain, "not stored yet")
	if err := w.store.InsertKey(t.Context(), k, beacon.Actor{}, nil); err != nil {
		t.Fatal(err)
	}
	w.Forget(k.ID)
	w.opens(t, plain, k)
}

func TestForget_EndsARevokedKey(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	other, plainOther := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	w.opens(t, plainOther, other)
	if err := w.store.RevokeKey(t.Context(), k.ID, noon, beacon.Actor{}); err != nil {
		t.Fatal(err)
	}
	w.opens(t, plain, k) // the feed has not told us yet
	w.Forget(k.ID)
	w.refuses(t, plain, "revoked")
	w.opens(t, plainOther, other)
	w.wantLookups(t, 3, "one was forgotten")
	w.Forget("") // must not panic
}

// Out of step, a revocation holds after a second at the latest, without Forget.
func TestVerify_OutOfStep(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	w.heard.Set(time.Time{})
	w.now = noon.Add(time.Second - time.Millisecond)
	w.opens(t, plain, k)
	w.wantLookups(t, 1, "confirmed a moment ago")
	w.now = noon.Add(time.Second)
	w.opens(t, plain, k)
	w.opens(t, plain, k)
	w.wantLookups(t, 2, "a second later")

	if err := w.store.RevokeKey(t.Context(), k.ID, w.now, beacon.Actor{}); err != nil {
		t.Fatal(err)
	}
	w.now = noon.Add(2 * time.Second)
	w.refuses(t, plain, "revoked")
	w.heard.Set(always)
	w.refuses(t, plain, "revoked, and in step again")
}

func TestVerify_StoreAway(t *testing.T) {
	for _, cause := range []error{errAway, &beacon.Error{Kind: beacon.Internal, Message: "?"}} {
		w := newWorld()
		k, plain := w.add(t, beacon.Key{ExpiresAt: noon.Add(time.Hour)})
		_, cold := w.add(t, beacon.Key{})
		w.opens(t, plain, k)
		w.heard.Set(time.Time{})
		w.store.fail(cause)

		_, err := w.Verify(t.Context(), cold)
		e, ok := errors.AsType[*beacon.Error](err)
		if !ok || e.Kind != beacon.Overloaded || e.RetryAfter <= 0 || !errors.Is(err, cause) {
			t.Errorf("a key not in memory: %v; want Overloaded because of %v", err, cause)
		}
		for minute := range 59 {
			w.now = noon.Add(time.Duration(minute) * time.Minute)
			w.opens(t, plain, k)
		}
		w.now = noon.Add(time.Hour)
		w.refuses(t, plain, "expired while the store was away")
	}
}

// While the store fails, one request a second tries it; then all is as before.
func TestVerify_StoreComesBack(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	w.heard.Set(time.Time{})
	w.store.fail(errAway)
	w.now = noon.Add(time.Minute)
	for range 10 {
		w.opens(t, plain, k)
		w.now = w.now.Add(100 * time.Millisecond)
	}
	w.wantLookups(t, 2, "within the second after the failure")
	w.opens(t, plain, k)
	w.wantLookups(t, 3, "after it")

	w.store.fail(nil)
	if err := w.store.RevokeKey(t.Context(), k.ID, w.now, beacon.Actor{}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Second)
	w.refuses(t, plain, "revoked while the store was away")
}

// Once the store answers again, every key is checked, not one a second.
func TestVerify_StoreIsBackForAll(t *testing.T) {
	w := newWorld()
	a, plainA := w.add(t, beacon.Key{})
	b, plainB := w.add(t, beacon.Key{})
	w.opens(t, plainA, a)
	w.opens(t, plainB, b)
	w.heard.Set(time.Time{})
	w.now = noon.Add(time.Minute)
	w.store.fail(errAway)
	w.opens(t, plainA, a)
	w.store.fail(nil)
	if err := w.store.RevokeKey(t.Context(), b.ID, w.now, beacon.Actor{}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Second)
	w.opens(t, plainA, a)
	w.refuses(t, plainB, "revoked")
}

// A key that was just created is never refused because its address sent too many wrong
// ones: where it was created at once, elsewhere as soon as the feed tells of it. What is
// not a key's id stays refused.
func TestVerify_FreshKey(t *testing.T) {
	w := newWorld()
	flooded := func() error { return errors.New("too many wrong keys from this address") }
	verify := func(plain string) error {
		_, err := w.VerifyIf(t.Context(), plain, flooded)
		return err
	}
	here, err := w.Create(t.Context(), beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}, access.Creation{
		User: beacon.Some(access.NewUser), Scopes: beacon.Some([]string{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, plain := w.add(t, beacon.Key{})
	if verify(plain) == nil {
		t.Error("a key that nobody has heard of is looked up for an address that floods")
	}
	for range 2 { // before and after the feed
		if err := verify(here.Plain); err != nil {
			t.Errorf("created here: %v", err)
		}
		w.Created(here.Key.ID)
	}
	w.wantLookups(t, 0, "a key that was created here")
	typo := "x"
	if strings.HasSuffix(plain, typo) {
		typo = "y"
	}
	w.refuses(t, plain[:len(plain)-1]+typo, "a typo")
	w.Created(elsewhere.ID)
	for range 2 {
		if err := verify(plain); err != nil {
			t.Errorf("created elsewhere: %v", err)
		}
		w.Created(elsewhere.ID) // the feed may tell of it again
	}
	w.wantLookups(t, 1, "a key that was created elsewhere")
	if _, err := w.Revoke(t.Context(), beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}, elsewhere.ID); err != nil {
		t.Fatal(err)
	}
	w.Forget(elsewhere.ID)
	if verify(plain) == nil {
		t.Error("a revoked key is valid")
	}
}

// Memory for keys that the feed told of and nobody used is bounded.
func TestCreated_MemoryIsBounded(t *testing.T) {
	w := newWorld()
	for range 2 * access.MaxUnknown {
		w.Created(beacon.KeyID(id.New(beacon.KeyPrefix, noon)))
	}
	if n := w.Fresh(); n > access.MaxUnknown {
		t.Errorf("%d fresh keys are remembered", n)
	}
}
