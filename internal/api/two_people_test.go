package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
)

// What needs two people needs two people: keys, accounts and posts of one are one, also after
// they have left an account, and two people of one account are two.
func TestTwoPeople_Holds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		spot := data[hotspot](t, ben.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
		s.verify(t, "/v1/hotspots/"+spot)
		posts := `{"posts":["verifier","treasurer"]}`
		tom, tina := ada.invited(t, "/v1/invitations", posts, "Tom"), ada.invited(t, "/v1/invitations", posts, "Tina")
		place := func(by guest) string {
			a := by.send(t, "POST", "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":%q}`, spot, s.now().Add(10*24*time.Hour).Format(time.RFC3339)))
			return data[heldBack](t, a, http.StatusCreated).ID
		}
		extension := at(`{"action":"extend","reason":"r","until":%q}`, s.now().Add(20*24*time.Hour).Format(time.RFC3339))
		extend := func(by guest, hold string) answer {
			return by.send(t, "POST", "/v1/holds/"+hold+"/decisions", extension)
		}

		// Tom has an account of his own beside his posts, and a key of it.
		founded := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/invitations", `{"account":"new"}`), http.StatusOK)
		tom = tom.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(founded.Link)+`"}`)
		made := tom.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:verify"]}`).want(t, http.StatusOK)
		var key struct{ Data shapes.CreatedKey }
		if err := json.Unmarshal(made.body, &key); err != nil || key.Data.Secret == "" {
			t.Fatal(err, made)
		}
		withKey := func(path, body string) answer {
			return s.call(t, "POST", path, body, "Authorization", "Bearer "+key.Data.Secret)
		}

		// Ada makes a key for an account of nobody, and is still behind it.
		var other struct{ Data shapes.CreatedKey }
		if err := json.Unmarshal(ada.send(t, "POST", "/v1/keys", `{"user_id":"new","scopes":["hotspots:verify"]}`).want(t, http.StatusOK).body, &other); err != nil {
			t.Fatal(err)
		}
		hold := place(ada)
		if a := s.call(t, "POST", "/v1/holds/"+hold+"/decisions", extension, "Authorization", "Bearer "+other.Data.Secret); a.StatusCode != http.StatusConflict {
			t.Errorf("Ada extends her own hold with a key for somebody new: %s", a)
		}
		ada.send(t, "POST", "/v1/holds/"+hold+"/decisions", `{"action":"release","reason":"r"}`).want(t, http.StatusOK)

		hold = place(tom)
		for who, a := range map[string]answer{"Tom": extend(tom, hold), "his key": withKey("/v1/holds/"+hold+"/decisions", extension)} {
			if a.StatusCode != http.StatusConflict || !strings.Contains(string(a.body), "second person") {
				t.Errorf("%s extends his own hold: %s", who, a)
			}
		}
		extend(tina, hold).want(t, http.StatusOK)

		// A failed visit: Tom says so by his key, and cannot confirm it, also from no account.
		failed := `{"action":"void","reason":"no radio"}`
		withKey("/v1/holds/"+hold+"/decisions", failed).want(t, http.StatusOK)
		alone := tom
		alone.account = ""
		if a := alone.send(t, "POST", "/v1/holds/"+hold+"/decisions", failed); a.StatusCode != http.StatusConflict {
			t.Errorf("Tom confirms what his key said: %s", a)
		}
		if got := data[heldBack](t, tina.send(t, "POST", "/v1/holds/"+hold+"/decisions", failed), http.StatusOK); got.Status != "voided" {
			t.Errorf("confirmed by a second person, the hold is %s", got.Status)
		}

		// Who is in the account of the operator does not judge, nor after leaving it.
		joined := data[shapes.CreatedInvitation](t, ben.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusOK)
		tina = tina.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(joined.Link)+`"}`)
		tina.account = ""
		refused := func() {
			t.Helper()
			a := tina.send(t, "POST", "/v1/holds", at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":%q}`, spot, s.now().Add(10*24*time.Hour).Format(time.RFC3339)))
			wantFault(t, a, http.StatusForbidden, "forbidden")
		}
		refused()
		ben.send(t, "DELETE", "/v1/users/me/members/"+tina.me.ID, "").want(t, http.StatusNoContent)
		refused()
	})
}

// A visit of a hotspot of one's own proves nothing, whichever account or post one visits it
// with; a colleague of the same staff proves it.
func TestTwoPeople_Visits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		path := "/v1/hotspots/" + data[hotspot](t, ben.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
		post := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/invitations", `{"posts":["verifier"]}`), http.StatusOK)
		asStaff := ben.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(post.Link)+`"}`)
		asStaff.account = ""
		found := `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`
		proven := func() bool {
			t.Helper()
			a := asStaff.send(t, "GET", path, "").want(t, http.StatusOK)
			return strings.Contains(string(a.body), `"proven_until":"`)
		}
		asStaff.send(t, "POST", path+"/verification", found).want(t, http.StatusOK)
		if proven() {
			t.Error("a visit of one's own hotspot proves its place")
		}
		s.advance(24 * time.Hour)
		ada.send(t, "POST", path+"/verification", found).want(t, http.StatusOK)
		if !proven() {
			t.Error("a visit of someone else does not prove its place")
		}
	})
}

// A key that a person made ends when they may do less: with it they could do what they no
// longer may.
func TestPeople_KeysEnd(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		for name, lose := range map[string]func(eve guest){
			"demoted": func(eve guest) {
				ben.send(t, "PATCH", "/v1/users/me/members/"+eve.me.ID, `{"role":"viewer"}`).want(t, http.StatusOK)
			},
			"removed": func(eve guest) {
				ben.send(t, "DELETE", "/v1/users/me/members/"+eve.me.ID, "").want(t, http.StatusNoContent)
			},
			"suspended": func(eve guest) {
				ada.send(t, "PATCH", "/v1/people/"+eve.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
			},
			"erased": func(eve guest) { ada.send(t, "DELETE", "/v1/people/"+eve.me.ID, "").want(t, http.StatusNoContent) },
		} {
			eve := ben.invited(t, "/v1/users/me/invitations", `{"role":"owner"}`, "Eve")
			var key struct{ Data shapes.CreatedKey }
			if err := json.Unmarshal(eve.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:write","rewards:read","keys:manage"]}`).want(t, http.StatusOK).body, &key); err != nil {
				t.Fatal(err)
			}
			use := func() answer {
				return s.call(t, "PATCH", "/v1/users/me/members/"+eve.me.ID, `{"role":"owner"}`, "Authorization", "Bearer "+key.Data.Secret)
			}
			use().want(t, http.StatusOK)
			lose(eve)
			if a := use(); a.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s, Eve makes herself an owner by her key: %s", name, a)
			}
		}
	})
}
