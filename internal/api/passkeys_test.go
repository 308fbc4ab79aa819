package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/visitor"
)

// phone is a device that makes passkeys, with a browser.
type phone struct{ *visitor.Phone }

func newPhone(s *server) *phone { return &phone{visitor.NewPhone("localhost", s.URL)} }

// make returns the form that adds a passkey.
func (d *phone) make(t testing.TB, c shapes.Ceremony) string { return d.Make(t, c.Ceremony, c.Options) }

// sign returns the form that finishes another ceremony.
func (d *phone) sign(t testing.TB, c shapes.Ceremony) string { return d.Sign(t, c.Ceremony, c.Options) }

// begin begins a ceremony.
func (g guest) begin(t testing.TB, path string) shapes.Ceremony {
	t.Helper()
	return data[shapes.Ceremony](t, g.send(t, "POST", path, ""), http.StatusOK)
}

// adds adds a passkey on a new device.
func (g guest) adds(t testing.TB) *phone {
	t.Helper()
	d := newPhone(g.server)
	g.send(t, "POST", "/console/passkeys/finish", d.make(t, g.begin(t, "/console/passkeys/begin"))).want(t, http.StatusOK)
	return d
}

const (
	signInBegin  = "/console/passkeys/sign-in/begin"
	signInFinish = "/console/passkeys/sign-in/finish"
)

var atName = options{limits: ample, named: true}

// Someone adds a passkey, signs in with it elsewhere, is fresh by it, adds another and removes
// the first.
func TestPasskeys_Story(t *testing.T) {
	eachStoreWith(t, atName, func(t *testing.T, s *server) {
		if doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", ""), http.StatusOK); !doors.Passkeys || doors.PasskeysReason != "" {
			t.Errorf("at a name, the doors are %+v", doors)
		}
		for host, reason := range map[string]string{strings.Replace(s.URL[7:], "localhost", "127.0.0.1", 1): "address", "wifi.example.org": "http", "[::1]:80": "address", "localhost:1": "http"} {
			if doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", "", "Host", host), http.StatusOK); doors.Passkeys || doors.PasskeysReason != reason {
				t.Errorf("at %s, the doors are %+v", host, doors)
			}
		}
		ada := s.firstAdmin(t)
		d := newPhone(s)
		body := strings.Replace(d.make(t, ada.begin(t, "/console/passkeys/begin")), "{", `{"name":" My phone ",`, 1)
		made := data[shapes.Passkey](t, ada.send(t, "POST", "/console/passkeys/finish", body), http.StatusOK)
		if made.Name != "My phone" || made.LastUsedAt != nil || made.Synced || !made.CreatedAt.Equal(noon) {
			t.Errorf("the passkey is %+v", made)
		}
		wantFault(t, ada.send(t, "POST", "/console/passkeys/finish", body), http.StatusUnauthorized, "unauthorized") // again
		s.advance(time.Hour)
		begun := guest{server: s}.begin(t, signInBegin)
		signed := d.sign(t, begun)
		elsewhere := guest{server: s}.enters(t, signInFinish, signed)
		if elsewhere.me.ID != ada.me.ID || elsewhere.cookie == ada.cookie || elsewhere.me.FreshUntil == nil || elsewhere.me.Doors.Passkeys != 1 || elsewhere.me.FrozenUntil != nil {
			t.Errorf("who signed in is %+v", elsewhere.me)
		}
		wantFault(t, guest{server: s}.send(t, "POST", signInFinish, signed), http.StatusUnauthorized, "unauthorized") // replayed
		sessions := data[[]shapes.Session](t, elsewhere.send(t, "GET", "/v1/people/me/sessions", ""), http.StatusOK)
		if len(sessions) != 2 || sessions[0].Door != "passkey" {
			t.Errorf("the sessions are %+v", sessions)
		}
		// The first session is no longer fresh, and another passkey needs that.
		stale := ada.send(t, "POST", "/console/passkeys/begin", "")
		if wantFault(t, stale, http.StatusForbidden, "forbidden"); stale.Header.Get("Beacon-Sign-In") != "fresh" {
			t.Errorf("no word of a fresh sign-in: %s", stale)
		}
		again := d.sign(t, ada.begin(t, "/console/fresh/begin"))
		if until := data[shapes.Freshness](t, ada.send(t, "POST", "/console/fresh/finish", again), http.StatusOK).FreshUntil; !until.Equal(s.now().Add(5 * time.Minute)) {
			t.Errorf("fresh until %s", until)
		}
		wantFault(t, ada.send(t, "POST", "/console/fresh/finish", again), http.StatusUnauthorized, "unauthorized")
		ada.adds(t)
		keys := data[[]shapes.Passkey](t, ada.send(t, "GET", "/v1/people/me/passkeys", ""), http.StatusOK)
		if len(keys) != 2 || keys[0].ID != made.ID || keys[0].Name != "My phone" || keys[0].LastUsedAt == nil || !keys[0].LastUsedAt.Equal(s.now()) {
			t.Fatalf("the passkeys are %+v", keys)
		}
		// A passkey that is removed between the two halves signs nobody in.
		late := d.sign(t, guest{server: s}.begin(t, signInBegin))
		ada.send(t, "DELETE", "/v1/people/me/passkeys/"+made.ID, "").want(t, http.StatusNoContent)
		wantFault(t, guest{server: s}.send(t, "POST", signInFinish, late), http.StatusUnauthorized, "unauthorized")
	})
}

// What was begun elsewhere, long ago, by someone else or for something else is refused.
func TestPasskeys_Refused(t *testing.T) {
	eachStoreWith(t, atName, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		adas, bens := ada.adds(t), ben.adds(t)
		stranger := guest{server: s}
		refused := func(what string, g guest, path, body string) {
			t.Helper()
			a := g.send(t, "POST", path, body)
			if a.StatusCode != http.StatusUnauthorized || len(a.Header["Set-Cookie"]) > 0 {
				t.Errorf("%s: %s", what, a)
			}
		}
		// A ceremony of another browser: what this device signed is of its own.
		mine, theirs := stranger.begin(t, signInBegin), stranger.begin(t, signInBegin)
		other := adas.sign(t, mine)
		refused("for another ceremony", stranger, signInFinish, strings.Replace(other, mine.Ceremony, theirs.Ceremony, 1))
		refused("for none", stranger, signInFinish, strings.Replace(other, mine.Ceremony, "x", 1))
		// One of another session, even of the same person.
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+ben.me.ID+"/link", ""), http.StatusOK)
		again := stranger.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		adding := ben.begin(t, "/console/passkeys/begin")
		made := newPhone(s).make(t, adding)
		refused("another session of the person", again, "/console/passkeys/finish", made)
		refused("another person", ada, "/console/passkeys/finish", made)
		wantFault(t, stranger.send(t, "POST", "/console/passkeys/finish", made), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.send(t, "POST", "/console/passkeys/begin", ""), http.StatusForbidden, "forbidden")
		wantFault(t, stranger.send(t, "POST", "/console/fresh/begin", ""), http.StatusForbidden, "forbidden")
		// For something else.
		refused("a sign-in in the place of a fresh one", ada, "/console/fresh/finish", adas.sign(t, stranger.begin(t, signInBegin)))
		refused("a fresh one in the place of a sign-in", stranger, signInFinish, adas.sign(t, ada.begin(t, "/console/fresh/begin")))
		refused("another's passkey", ada, "/console/fresh/finish", bens.sign(t, ada.begin(t, "/console/fresh/begin")))
		for _, bad := range []string{`{}`, `{"ceremony":"x"}`, `{"ceremony":"x","response":"y"}`, `{"ceremony":"x","response":{},"more":1}`} {
			if a := stranger.send(t, "POST", signInFinish, bad); a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", bad, a)
			}
		}
		// A passkey that is known already, of whomever.
		stolen := &phone{new(*bens.Phone)}
		wantFault(t, ada.send(t, "POST", "/console/passkeys/finish", stolen.make(t, ada.begin(t, "/console/passkeys/begin"))), http.StatusConflict, "conflict")
		// Of other pages, and by GET.
		wantFault(t, s.call(t, "POST", signInBegin, "", "Origin", "https://evil.example"), http.StatusForbidden, "forbidden")
		s.call(t, "GET", signInBegin, "").want(t, http.StatusMethodNotAllowed)
		// A session that was there before is not kept.
		planted := ben
		entered := planted.enters(t, signInFinish, adas.sign(t, planted.begin(t, signInBegin)))
		if entered.cookie == planted.cookie || entered.me.ID != ada.me.ID {
			t.Errorf("who signed in beside Ben is %+v", entered.me)
		}
		// A copy: its count does not go on.
		copied := &phone{new(*adas.Phone)}
		copied.Key.Counter = 0
		refused("a copy", stranger, signInFinish, copied.sign(t, stranger.begin(t, signInBegin)))
		late, suspended := adas.sign(t, stranger.begin(t, signInBegin)), bens.sign(t, stranger.begin(t, signInBegin))
		ada.send(t, "PATCH", "/v1/people/"+ben.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		refused("suspended", stranger, signInFinish, suspended)
		s.advance(5 * time.Minute)
		refused("too late", stranger, signInFinish, late)
	})
}

// At once, one ceremony lets one in; and of two ceremonies the higher count stays, so that the
// next one is no copy.
func TestPasskeys_Races(t *testing.T) {
	eachStoreWith(t, atName, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		adas := ada.adds(t)
		stranger := guest{server: s}
		at := func(bodies ...string) (entered int) {
			answers := make([]answer, len(bodies))
			var all sync.WaitGroup
			for i, body := range bodies {
				all.Go(func() { answers[i] = stranger.send(t, "POST", signInFinish, body) })
			}
			all.Wait()
			for _, a := range answers {
				if a.StatusCode == http.StatusOK {
					entered++
				}
			}
			return entered
		}
		one := adas.sign(t, stranger.begin(t, signInBegin))
		if entered := at(one, one, one, one); entered != 1 {
			t.Errorf("one ceremony let %d in", entered)
		}
		for range 5 {
			first, second := adas.sign(t, stranger.begin(t, signInBegin)), adas.sign(t, stranger.begin(t, signInBegin))
			if entered := at(second, first); entered == 0 {
				t.Error("of two ceremonies, neither let anyone in")
			}
			var stored struct{ Count uint32 }
			keys, err := s.db.People.Passkeys(context.WithoutCancel(t.Context()), beacon.PersonID(ada.me.ID))
			if err != nil || json.Unmarshal([]byte(keys[0].Data), &stored) != nil || stored.Count != adas.Key.Counter {
				t.Errorf("stored is %+v, %v; the device counted %d", stored, err, adas.Key.Counter)
			}
		}
		// Of two first passkeys that are added at once, both were begun fresh.
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		a, b := newPhone(s).make(t, ben.begin(t, "/console/passkeys/begin")), newPhone(s).make(t, ben.begin(t, "/console/passkeys/begin"))
		s.advance(4 * time.Minute)
		ben.send(t, "POST", "/console/passkeys/finish", a).want(t, http.StatusOK)
		s.advance(59 * time.Second)
		ben.send(t, "POST", "/console/passkeys/finish", b).want(t, http.StatusOK)
	})
}

// Where passkeys do not work, ceremonies say where they would.
func TestPasskeys_NotHere(t *testing.T) {
	t.Parallel()
	s := onSQLite(t, options{limits: ample})
	for _, path := range []string{signInBegin, "/console/passkeys/begin"} {
		g := guest{server: s}
		if path != signInBegin {
			g = s.firstAdmin(t)
		}
		wantFault(t, g.send(t, "POST", path, ""), http.StatusConflict, "conflict")
	}
}
