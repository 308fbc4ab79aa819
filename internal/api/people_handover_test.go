package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// joins is a person who accepts an invitation of another, beside what they are already.
func (g guest) joins(t testing.TB, by guest, path, body string) guest {
	t.Helper()
	made := data[shapes.CreatedInvitation](t, by.send(t, "POST", path, body), http.StatusOK)
	return g.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
}

// codes makes recovery codes for someone, the first of which is confirmed.
func (g guest) codes(t testing.TB) []string {
	t.Helper()
	codes := data[shapes.RecoveryCodes](t, g.send(t, "POST", "/v1/people/me/codes", ""), http.StatusOK).Codes
	g.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"`+codes[0]+`"}`).want(t, http.StatusNoContent)
	return codes
}

// wantsSignIn requires that someone is asked to sign in again.
func wantsSignIn(t testing.TB, a answer) {
	t.Helper()
	wantFault(t, a, http.StatusForbidden, "forbidden")
	if a.Header.Get("Beacon-Sign-In") != "fresh" {
		t.Errorf("no word of signing in again: %s", a)
	}
}

// Owners offer hotspots, and managers of the other account may take them over; both have signed
// in just now, and nobody who was recovered does either. A visit by a member of the account that
// takes a hotspot over proves nothing.
func TestPeopleHandOver(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		seller, buyer := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Sal"), ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Bea")
		manager, taker := seller.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Max"), buyer.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "May")
		vera := ada.invited(t, "/v1/invitations", `{"posts":["verifier"]}`, "Vera")
		path := "/v1/hotspots/" + data[hotspot](t, seller.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
		vera.send(t, "POST", path+"/verification", `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`).want(t, http.StatusOK)
		proven := func() bool {
			t.Helper()
			return strings.Contains(string(vera.send(t, "GET", path, "").want(t, http.StatusOK).body), `"proven_until":"`)
		}
		viewer := vera.joins(t, buyer, "/v1/users/me/invitations", `{"role":"viewer"}`)
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+buyer.me.ID+"/link", ""), http.StatusOK)
		codes, takers := seller.codes(t), taker.codes(t)

		form := at(`{"to_user_id":%q}`, buyer.account)
		for _, g := range []guest{manager, buyer, ada, vera} {
			wantFault(t, g.send(t, "POST", path+"/offer", form), http.StatusForbidden, "forbidden")
		}
		key := data[shapes.CreatedKey](t, manager.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:write"]}`), http.StatusOK)
		wantFault(t, s.call(t, "POST", path+"/offer", form, "Authorization", "Bearer "+key.Secret), http.StatusForbidden, "forbidden")
		seller.send(t, "POST", path+"/offer", form).want(t, http.StatusCreated)
		manager.send(t, "DELETE", path+"/offer", "").want(t, http.StatusNoContent)

		s.advance(beacon.FreshFor)
		wantsSignIn(t, seller.send(t, "POST", path+"/offer", form))
		seller.send(t, "POST", "/console/fresh/finish", `{"code":"`+codes[1]+`"}`).want(t, http.StatusOK)
		seller.send(t, "POST", path+"/offer", form).want(t, http.StatusCreated)
		for _, g := range []guest{viewer, taker, buyer} {
			if offers := data[[]listedOffer](t, g.send(t, "GET", offersPath, ""), http.StatusOK); len(offers) != 1 {
				t.Errorf("%s sees the offers %+v", g.me.Name, offers)
			}
		}
		wantFault(t, viewer.send(t, "DELETE", path+"/offer", ""), http.StatusForbidden, "forbidden")
		wantFault(t, ada.send(t, "DELETE", path+"/offer", ""), http.StatusNotFound, "not_found")
		wantFault(t, viewer.send(t, "POST", path+"/offer/acceptance", `{}`), http.StatusForbidden, "forbidden")
		wantFault(t, seller.send(t, "POST", path+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
		wantsSignIn(t, taker.send(t, "POST", path+"/offer/acceptance", `{}`))
		frozen := guest{server: s}.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		if a := frozen.send(t, "POST", path+"/offer/acceptance", `{}`); a.StatusCode != http.StatusForbidden || !strings.Contains(string(a.body), "hand hotspots over") {
			t.Errorf("who was recovered takes a hotspot over: %s", a)
		}
		if !proven() {
			t.Error("the visit of a verifier proves nothing")
		}
		taker.send(t, "POST", "/console/fresh/finish", `{"code":"`+takers[1]+`"}`).want(t, http.StatusOK)
		nina := taker.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Nina")
		nina.send(t, "POST", path+"/offer/acceptance", `{}`).want(t, http.StatusOK)
		if is := data[hotspot](t, nina.send(t, "GET", path, ""), http.StatusOK); is.OperatorID != buyer.account {
			t.Errorf("it is of %s", is.OperatorID)
		}
		s.advance(24 * time.Hour)
		if proven() {
			t.Error("the visit of a member proves the place")
		}
		var by []string
		for _, c := range s.changes(t, beacon.OfferMade, beacon.OfferWithdrawn, beacon.HotspotHandedOver) {
			by = append(by, string(c.Actor.Person))
		}
		wantEqual(t, "who did it", by, []string{seller.me.ID, manager.me.ID, seller.me.ID, nina.me.ID})
	})
}

// A verifier offers a hotspot of an account that has nobody, but not to an account of their own.
func TestPeopleHandOver_Claim(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ghost, heir := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Gus"), ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Hal")
		tom, vera := ada.invited(t, "/v1/invitations", `{"posts":["verifier"]}`, "Tom"), ada.invited(t, "/v1/invitations", `{"posts":["verifier"]}`, "Vera")
		treasurer := ada.invited(t, "/v1/invitations", `{"posts":["treasurer"]}`, "Tina")
		vera = vera.joins(t, ada, "/v1/invitations", `{"account":"new"}`) // for which she acts
		vera.joins(t, heir, "/v1/users/me/invitations", `{"role":"viewer"}`)
		path := "/v1/hotspots/" + data[hotspot](t, ghost.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
		claim := at(`{"to_user_id":%q,"reason":"they live there"}`, heir.account)
		wantFault(t, tom.send(t, "POST", path+"/claim", claim), http.StatusConflict, "conflict")
		ada.send(t, "PATCH", "/v1/people/"+ghost.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		for _, g := range []guest{vera, treasurer, heir} {
			wantFault(t, g.send(t, "POST", path+"/claim", claim), http.StatusForbidden, "forbidden")
		}
		if made := data[offer](t, tom.send(t, "POST", path+"/claim", claim), http.StatusCreated); !made.ByStaff {
			t.Errorf("offered %+v", made)
		}
		s.advance(beacon.FreshFor)
		wantsSignIn(t, tom.send(t, "POST", path+"/claim", claim))
		wantsSignIn(t, heir.send(t, "POST", path+"/offer/acceptance", `{}`))
		heir.send(t, "DELETE", path+"/offer", "").want(t, http.StatusNoContent)
	})
}
