package api_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/node"
)

// Of many who hold one token, on two servers, one makes the first key or becomes the first
// admin; and once there is a key, nobody becomes the first admin.
func TestPeople_FirstAdmin(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		servers := []*server{s, start(t, s.db, options{limits: ample})}
		token, err := s.Keys.Invite(t.Context(), beacon.Principal{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var admins, keys atomic.Int64
		for n := range 8 {
			g := guest{server: servers[n%2]}
			all.Go(func() {
				path, made := "/console/first-admin", &admins
				if n%4 == 0 {
					path, made = "/console/first-key", &keys
				}
				body := `{"token":"` + token + `","name":"Ada"}`
				if made == &keys {
					body = `{"token":"` + token + `"}`
				}
				switch a := g.send(t, "POST", path, body); a.StatusCode {
				case http.StatusOK:
					made.Add(1)
				case http.StatusUnauthorized:
				default:
					t.Errorf("%s", a)
				}
			})
		}
		all.Wait()
		if admins.Load()+keys.Load() != 1 {
			t.Errorf("one token made %d admins and %d keys", admins.Load(), keys.Load())
		}
	})
}

func TestPeople_FirstAdminBesideKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		token, err := s.Keys.Invite(t.Context(), beacon.Principal{})
		if err != nil {
			t.Fatal(err)
		}
		s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some([]string{"admin"})})
		wantFault(t, guest{server: s}.send(t, "POST", "/console/first-admin", `{"token":"`+token+`","name":"Eve"}`), http.StatusUnauthorized, "unauthorized")
	})
}

// Who signs in over a session leaves no session behind that nobody could end.
func TestPeople_SessionReplaced(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+ben.me.ID+"/link", ""), http.StatusOK)
		body := `{"token":"` + tokenOf(link.Link) + `"}`
		again := ben.enters(t, "/console/links/use", body)
		if again.cookie == ben.cookie {
			t.Fatal("the session is the same")
		}
		wantFault(t, ben.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		if sessions := data[[]shapes.Session](t, again.send(t, "GET", "/v1/people/me/sessions", ""), http.StatusOK); len(sessions) != 1 {
			t.Errorf("the sessions are %+v", sessions)
		}
		// A door that does not open ends nothing.
		wantFault(t, again.send(t, "POST", "/console/links/use", body), http.StatusUnauthorized, "unauthorized")
		again.send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
		// Nor does an invitation that is accepted by who is signed in.
		made := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/invitations", `{"account":"new"}`), http.StatusOK)
		again.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
		again.send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
	})
}

// Sessions that someone made up cost like wrong keys, at every door and at the way out. A
// session that is in memory still ends.
func TestPeople_WrongSessions(t *testing.T) {
	t.Parallel()
	limits := edge.DefaultLimits()
	limits.Failures = ratelimit.Limit{Every: time.Hour, Burst: 20}
	const wrong = "beacon-session=bcp_00000000000000000000000000_"
	for _, door := range []string{"POST /console/passkeys/sign-in/begin", "POST /console/qr", "POST /console/invitations/read", "DELETE /console/session", "POST /console/fresh/finish"} {
		s := onSQLite(t, options{named: true, limits: limits})
		ada := s.firstAdmin(t)
		ada.send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
		method, path, _ := strings.Cut(door, " ")
		limited := 0
		for range 30 {
			a := guest{server: s, cookie: wrong + strings.Repeat("A", 43)}.send(t, method, path, "")
			if a.StatusCode == http.StatusTooManyRequests {
				limited++
			}
		}
		if limited < 10 {
			t.Errorf("%s: of 30 requests with a wrong session, %d were refused", door, limited)
		}
		ada.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent)
		wantFault(t, ada.send(t, "GET", "/v1/people/me", ""), http.StatusTooManyRequests, "rate_limit_exceeded") // it is not known any more
	}
}

// Behind a proxy that changes the Host, pages of the public address are the server's own, and
// no others.
func TestPeople_PublicURL(t *testing.T) {
	t.Parallel()
	s := onSQLite(t, options{limits: ample, node: func(c *node.Config) { c.LinkBase = "https://wifi.example.org" }})
	ada := s.firstAdmin(t)
	_, session, _ := strings.Cut(ada.cookie, "=")
	change := func(header ...string) answer {
		return s.call(t, "PATCH", "/v1/people/me", `{"language":"es"}`, append(header, "Beacon-Account", "", "Cookie", "__Host-beacon-session="+session)...)
	}
	change("Origin", "https://wifi.example.org", "Sec-Fetch-Site", "same-origin").want(t, http.StatusOK)
	change("Origin", "https://wifi.example.org").want(t, http.StatusOK) // of a browser that does not say
	for _, header := range [][]string{
		{"Origin", "https://wifi.example.org", "Sec-Fetch-Site", "cross-site"},
		{"Origin", "https://wifi.example.org", "Sec-Fetch-Site", "same-site"},
		{"Origin", "http://wifi.example.org"},
		{"Origin", "https://wifi.example.org.evil.example"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{},
		{"Origin", "https://wifi.example.org:8443"},
		{"Sec-Fetch-Site", "same-origin"},
	} {
		if a := change(header...); a.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", header, a)
		}
	}
	for _, path := range []string{"/console/links/use", "/console/codes/use", signInFinish, oidcFinish, "/console/first-admin", "/console/sign-up", "/console/invitations/accept"} {
		for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "https://wifi.example.org", "Sec-Fetch-Site", "cross-site"}, {}} {
			wantFault(t, s.call(t, "POST", path, `{"token":"x"}`, header...), http.StatusForbidden, "forbidden")
		}
	}
}

// A passkey that is added long after signing in freezes, like first codes: who has the browser
// may be someone else. One that is added beside codes needs a fresh sign-in.
func TestPasskeys_Stale(t *testing.T) {
	eachStoreWith(t, atName, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		s.advance(5 * time.Minute)
		adas := ada.adds(t)
		me := data[shapes.Person](t, ada.send(t, "GET", "/v1/people/me", ""), http.StatusOK)
		if me.FrozenUntil == nil || !me.FrozenUntil.Equal(s.now().Add(72*time.Hour)) {
			t.Errorf("after a stale first passkey: frozen until %v", me.FrozenUntil)
		}
		fresh := func() {
			t.Helper()
			ada.send(t, "POST", "/console/fresh/finish", adas.sign(t, ada.begin(t, "/console/fresh/begin"))).want(t, http.StatusOK)
		}
		fresh()
		wantFault(t, ada.send(t, "POST", "/v1/invitations", `{"posts":["admin"]}`), http.StatusForbidden, "forbidden")
		wantFault(t, ada.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:write"]}`), http.StatusForbidden, "forbidden")
		s.advance(72 * time.Hour)
		fresh()
		ada.send(t, "POST", "/v1/invitations", `{"posts":["admin"]}`).want(t, http.StatusOK)
		// At the moment of the change, and not at that of the beginning.
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		slow := newPhone(s).make(t, ben.begin(t, "/console/passkeys/begin"))
		s.advance(4*time.Minute + 59*time.Second)
		ben.send(t, "POST", "/console/passkeys/finish", slow).want(t, http.StatusOK)
		if me := data[shapes.Person](t, ben.send(t, "GET", "/v1/people/me", ""), http.StatusOK); me.FrozenUntil != nil {
			t.Errorf("after a fresh first passkey: frozen until %v", me.FrozenUntil)
		}
		fresh()
		eva := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Eva")
		codes := data[shapes.RecoveryCodes](t, eva.send(t, "POST", "/v1/people/me/codes", ""), http.StatusOK).Codes
		eva.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"`+codes[0]+`"}`).want(t, http.StatusNoContent)
		s.advance(5 * time.Minute)
		wantFault(t, eva.send(t, "POST", "/console/passkeys/begin", ""), http.StatusForbidden, "forbidden")
		eva.send(t, "POST", "/console/fresh/finish", `{"code":"`+codes[1]+`"}`).want(t, http.StatusOK)
		eva.adds(t)
		if me := data[shapes.Person](t, eva.send(t, "GET", "/v1/people/me", ""), http.StatusOK); me.FrozenUntil != nil {
			t.Errorf("after a passkey beside codes: frozen until %v", me.FrozenUntil)
		}
	})
}

// What a key of an account gives is no more than the key may do: by an invitation, by a link,
// or by a change; and a link of a key ends with the key.
func TestPeople_KeysGiveWhatTheyMay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		s.advance(time.Second)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		roles := []string{"owner", "manager", "installer", "viewer"}
		members := map[string]guest{}
		for _, role := range roles {
			members[role] = ben.invited(t, "/v1/users/me/invitations", `{"role":"`+role+`"}`, role)
		}
		keyOf := func(scopes string) client {
			return s.keyOf(t, beacon.UserID(ben.account), access.Creation{Scopes: beacon.Some(strings.Fields(scopes))})
		}
		for scopes, may := range map[string]string{
			"hotspots:write keys:manage rewards:read": "owner manager installer viewer",
			"hotspots:write keys:manage":              "installer",
			"keys:manage rewards:read":                "", "keys:manage": "", "hotspots:write rewards:read": "", "rewards:read": "",
		} {
			key := keyOf(scopes)
			for _, role := range roles {
				want := strings.Contains(may, role)
				for what, a := range map[string]answer{
					"invites": key.post(t, "/v1/users/me/invitations", `{"role":"`+role+`"}`),
					"links":   key.post(t, "/v1/users/me/members/"+members[role].me.ID+"/link", ""),
					"changes": key.do(t, "PATCH", "/v1/users/me/members/"+members[role].me.ID, `{"role":"`+role+`"}`),
				} {
					if (a.StatusCode == http.StatusOK) != want || !want && a.StatusCode != http.StatusForbidden {
						t.Errorf("a key with %s %s %s: %s", scopes, what, role, a)
					}
				}
				if !want {
					wantFault(t, key.do(t, "DELETE", "/v1/users/me/members/"+members[role].me.ID, ""), http.StatusForbidden, "forbidden")
				}
			}
			// Nor of another account, nor of the network.
			for _, path := range []string{"/v1/users/" + ada.account + "/members/" + ada.me.ID + "/link", "/v1/people/" + ada.me.ID + "/link", "/v1/people/" + ben.me.ID + "/link", "/v1/users/me/members/" + ada.me.ID + "/link"} {
				if a := key.post(t, path, ""); a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusNotFound {
					t.Errorf("a key with %s: %s", scopes, a)
				}
			}
		}
		link := func(key client, member string) string {
			t.Helper()
			return `{"token":"` + tokenOf(data[shapes.SignInLink](t, key.post(t, "/v1/users/me/members/"+members[member].me.ID+"/link", ""), http.StatusOK).Link) + `"}`
		}
		stranger := guest{server: s}
		// Its person has more by now than the key may do.
		body := link(keyOf("hotspots:write keys:manage"), "installer")
		ben.send(t, "PATCH", "/v1/users/me/members/"+members["installer"].me.ID, `{"role":"viewer"}`).want(t, http.StatusOK)
		wantFault(t, stranger.send(t, "POST", "/console/links/use", body), http.StatusUnauthorized, "unauthorized")
		ben.send(t, "PATCH", "/v1/users/me/members/"+members["installer"].me.ID, `{"role":"installer"}`).want(t, http.StatusOK)
		stranger.enters(t, "/console/links/use", body)
		// The key was stolen, and is revoked.
		stolen := keyOf("hotspots:write keys:manage rewards:read")
		body = link(stolen, "owner")
		ben.send(t, "DELETE", "/v1/keys/"+string(stolen.key), "").want(t, http.StatusNoContent)
		wantFault(t, stranger.send(t, "POST", "/console/links/use", body), http.StatusUnauthorized, "unauthorized")
	})
}
