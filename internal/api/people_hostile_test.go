package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A link to sign in gives no more than its maker could give when it is used: they may have lost
// rights since, and its person may have got some.
func TestPeople_LinkOfSomeoneElse(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		s.advance(time.Second)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new","account_name":"Ben's"}`, "Ben")
		member := func(role, name string) guest {
			t.Helper()
			return ben.invited(t, "/v1/users/me/invitations", `{"role":"`+role+`"}`, name)
		}
		link := func(by guest, path string) string {
			t.Helper()
			return tokenOf(data[shapes.SignInLink](t, by.send(t, "POST", path+"/link", ""), http.StatusOK).Link)
		}
		refused := func(why, token string) {
			t.Helper()
			if a := (guest{server: s}).send(t, "POST", "/console/links/use", `{"token":"`+token+`"}`); a.StatusCode != http.StatusUnauthorized {
				t.Errorf("a link of %s: %s", why, a)
			}
		}
		eve := member("owner", "Eve")
		token := link(eve, "/v1/users/me/members/"+ben.me.ID)
		ben.send(t, "PATCH", "/v1/users/me/members/"+eve.me.ID, `{"role":"viewer"}`).want(t, http.StatusOK)
		refused("an owner who is a viewer now", token)
		ben.send(t, "PATCH", "/v1/users/me/members/"+eve.me.ID, `{"role":"owner"}`).want(t, http.StatusOK)
		ben.send(t, "DELETE", "/v1/users/me/members/"+eve.me.ID, "").want(t, http.StatusNoContent)
		refused("an owner who was removed", token)
		bad := ada.invited(t, "/v1/invitations", `{"posts":["admin"]}`, "Bad")
		token = link(bad, "/v1/people/"+ada.me.ID)
		ada.send(t, "PATCH", "/v1/people/"+bad.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		ada.send(t, "PATCH", "/v1/people/"+bad.me.ID, `{"suspended":false}`).want(t, http.StatusOK)
		refused("an admin who was suspended", token)
		mel, vic, kay := member("manager", "Mel"), member("viewer", "Vic"), member("viewer", "Kay")
		token = link(mel, "/v1/users/me/members/"+vic.me.ID)
		key := s.keyOf(t, beacon.UserID(ben.account), access.Creation{Scopes: beacon.Some([]string{"hotspots:write", "keys:manage", "rewards:read"})})
		byKey := tokenOf(data[shapes.SignInLink](t, key.post(t, "/v1/users/me/members/"+kay.me.ID+"/link", ""), http.StatusOK).Link)
		for _, g := range []guest{vic, kay} {
			ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"posts":["treasurer"]}`).want(t, http.StatusOK)
		}
		refused("a manager for a treasurer", token)
		refused("a key of an account for a treasurer", byKey)
		for _, g := range []guest{vic, kay} {
			ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"posts":[]}`).want(t, http.StatusOK)
		}
		for _, token := range []string{token, byKey} { // no refusal used them up
			guest{server: s}.enters(t, "/console/links/use", `{"token":"`+token+`"}`)
		}
	})
}

// Who has not signed in just now, or is frozen, gives no posts and suspends nobody who has one.
func TestPeople_StaleAdmin(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		eve := ada.invited(t, "/v1/invitations", `{"posts":["admin"]}`, "Eve")
		bob := ada.invited(t, "/v1/invitations", `{"posts":["auditor"]}`, "Bob")
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+eve.me.ID+"/link", ""), http.StatusOK)
		frozen := guest{server: s}.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		for _, g := range []guest{frozen, ada} {
			if g.cookie == ada.cookie {
				s.advance(time.Hour) // not frozen, and not fresh
			}
			for _, post := range []string{"verifier", "treasurer", "auditor", "admin"} {
				wantFault(t, g.send(t, "POST", "/v1/invitations", `{"posts":["`+post+`"]}`), http.StatusForbidden, "forbidden")
			}
			for _, change := range []string{`{"posts":["treasurer"]}`, `{"posts":[]}`, `{"suspended":true}`} {
				wantFault(t, g.send(t, "PATCH", "/v1/people/"+bob.me.ID, change), http.StatusForbidden, "forbidden")
			}
		}
	})
}

// A person without any door who makes codes long after they signed in is frozen: they may be
// someone else.
func TestPeople_FirstCodes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		s.advance(24 * time.Hour)
		codes := data[shapes.RecoveryCodes](t, ada.send(t, "POST", "/v1/people/me/codes", ""), http.StatusOK).Codes
		ada.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"`+codes[0]+`"}`).want(t, http.StatusNoContent)
		ada.send(t, "POST", "/console/fresh/finish", `{"code":"`+codes[1]+`"}`).want(t, http.StatusOK)
		wantFault(t, ada.send(t, "POST", "/v1/invitations", `{"posts":["admin"]}`), http.StatusForbidden, "forbidden")
		s.advance(72 * time.Hour)
		ada.send(t, "POST", "/console/fresh/finish", `{"code":"`+codes[2]+`"}`).want(t, http.StatusOK)
		ada.send(t, "POST", "/v1/invitations", `{"posts":["admin"]}`).want(t, http.StatusOK)
	})
}

// Ids that no database can hold are those of nobody.
func TestPeople_OddIDs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		for _, id := range []string{"%00", "%ff", "usr_%00", "x"} {
			for _, r := range [][3]string{
				{"PATCH", "/v1/users/" + id + "/members/per_01kb3gzk00e9x8q6s5t4v3w2y1", `{"role":"viewer"}`},
				{"PATCH", "/v1/users/" + ada.account + "/members/" + id, `{"role":"viewer"}`},
				{"DELETE", "/v1/users/" + id + "/members/per_01kb3gzk00e9x8q6s5t4v3w2y1", ""},
				{"POST", "/v1/users/" + id + "/members/per_01kb3gzk00e9x8q6s5t4v3w2y1/link", ""},
				{"DELETE", "/v1/users/" + id + "/invitations/inv_01kb3gzk00e9x8q6s5t4v3w2y1", ""},
			} {
				if a := ada.send(t, r[0], r[1], r[2]); a.StatusCode < 400 || a.StatusCode >= 500 {
					t.Errorf("%s %s: %s", r[0], r[1], a)
				}
			}
		}
	})
}

// A change to what there is already writes nothing.
func TestPeople_NothingChanges(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		vic := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Vic")
		changes := func() (n int) {
			err := s.APIConfig().Users.Changes(t.Context(), beacon.UserID(ada.account), map[string]bool{}, func(beacon.Change) error { n++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := changes()
		for range 3 {
			ada.send(t, "PATCH", "/v1/users/me", `{"name":"Ada's place"}`).want(t, http.StatusOK)
			ada.send(t, "PATCH", "/v1/users/me/members/"+vic.me.ID, `{"role":"viewer"}`).want(t, http.StatusOK)
		}
		if after := changes(); after != before {
			t.Errorf("%d changes were written", after-before)
		}
	})
}

// Who may change people does so a number of times a day, with or without an account.
func TestPeople_CountedByDay(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	ada := s.firstAdmin(t)
	s.advance(time.Second)
	ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
	var last answer
	for n := range 3000 {
		if last = ben.send(t, "PATCH", "/v1/users/me", `{"name":"Bar `+strconv.Itoa(n)+`"}`); last.StatusCode != http.StatusOK {
			break
		}
	}
	wantFault(t, last, http.StatusTooManyRequests, "rate_limit_exceeded")
	ben.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent) // which is always possible
}
