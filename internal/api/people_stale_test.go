package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// A session that was left open makes nobody who could stay, and ends no account: managers are
// made and unmade like owners, and a wish to be erased is taken back at any time.
func TestPeople_Stale(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		mel, vic := ben.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Mel"), ben.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Vic")
		ben.send(t, "POST", "/v1/hotspots", registration(1)).want(t, http.StatusCreated)
		ben.send(t, "POST", "/v1/users/me/erasure", "").want(t, http.StatusOK)
		s.advance(beacon.FreshFor)
		ben.send(t, "DELETE", "/v1/users/me/erasure", "").want(t, http.StatusNoContent)
		for _, try := range []struct{ route, body string }{
			{"POST /v1/users/me/erasure", ""},
			{"POST /v1/users/me/invitations", `{"role":"manager"}`},
			{"PATCH /v1/users/me/members/" + vic.me.ID, `{"role":"manager"}`},
			{"PATCH /v1/users/me/members/" + mel.me.ID, `{"role":"viewer"}`},
			{"POST /v1/users/me/members/" + mel.me.ID + "/link", ""},
			{"DELETE /v1/users/me/members/" + mel.me.ID, ""},
		} {
			method, path, _ := strings.Cut(try.route, " ")
			wantsSignIn(t, ben.send(t, method, path, try.body))
		}
		mel.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`).want(t, http.StatusOK)
		ben.send(t, "PATCH", "/v1/users/me/members/"+vic.me.ID, `{"role":"installer"}`).want(t, http.StatusOK)
		ben.send(t, "DELETE", "/v1/users/me/members/"+vic.me.ID, "").want(t, http.StatusNoContent)
		mel.send(t, "DELETE", "/v1/users/me/members/me", "").want(t, http.StatusNoContent)
	})
}

// What a key invited to is void once the key is.
func TestPeople_InvitedByKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		scopes := beacon.Some([]string{"hotspots:write", "keys:manage", "rewards:read"})
		key := s.keyOf(t, beacon.UserID(ada.account), access.Creation{Scopes: scopes})
		short := s.keyOf(t, beacon.UserID(ada.account), access.Creation{Scopes: scopes, ExpiresAt: beacon.Some(s.now().Add(time.Hour))})
		admin := s.keyOf(t, beacon.UserID(ada.account), access.Creation{Scopes: beacon.Some([]string{"admin"})})
		accept := func(made shapes.CreatedInvitation) answer {
			return guest{server: s}.send(t, "POST", "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`","name":"Eve"}`)
		}
		for _, by := range []client{key, short, admin} {
			path, body := "/v1/users/me/invitations", `{"role":"owner"}`
			if by == admin {
				path, body = "/v1/invitations", `{"posts":["admin"]}`
			}
			first := data[shapes.CreatedInvitation](t, by.post(t, path, body), http.StatusOK)
			second := data[shapes.CreatedInvitation](t, by.post(t, path, body), http.StatusOK)
			accept(first).want(t, http.StatusOK)
			if by == short {
				s.advance(time.Hour)
			} else {
				by.delete(t, "/v1/keys/"+string(by.key)).want(t, http.StatusNoContent)
			}
			wantFault(t, accept(second), http.StatusUnauthorized, "unauthorized")
		}
	})
}
