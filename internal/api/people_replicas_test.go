package api_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
)

// Whoever is signed out, suspended, removed or erased through one server is refused by two
// others once each has followed the changes, which it does five times a second.
func TestPeople_Replicas(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		servers := []*server{s, start(t, s.db, options{limits: ample}), start(t, s.db, options{limits: ample})}
		const mine, team = "/v1/people/me", "/v1/users/me/invitations"
		for _, way := range []struct {
			name, path string // what is refused then
			status     int
			do         func(g, again guest) answer
		}{
			{"signed out", mine, http.StatusUnauthorized, func(g, _ guest) answer { return g.send(t, "DELETE", "/console/session", "") }},
			{"session ended from another", mine, http.StatusUnauthorized, func(_, again guest) answer { return again.send(t, "DELETE", mine+"/sessions", "") }},
			{"suspended", mine, http.StatusUnauthorized, func(g, _ guest) answer {
				return ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"suspended":true}`)
			}},
			{"erased", mine, http.StatusUnauthorized, func(g, _ guest) answer { return ada.send(t, "DELETE", "/v1/people/"+g.me.ID, "") }},
			{"of a narrower role", team, http.StatusForbidden, func(g, _ guest) answer {
				return ada.send(t, "PATCH", "/v1/users/me/members/"+g.me.ID, `{"role":"viewer"}`)
			}},
			{"removed", team, http.StatusForbidden, func(g, _ guest) answer { return ada.send(t, "DELETE", "/v1/users/me/members/"+g.me.ID, "") }},
		} {
			g := ada.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, way.name)
			link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+g.me.ID+"/link", ""), http.StatusOK)
			s.advance(time.Second)
			again := guest{server: s}.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
			for _, at := range servers {
				g.server = at
				g.send(t, "GET", way.path, "").want(t, http.StatusOK) // it is in memory there
			}
			g.server = s
			if a := way.do(g, again); a.StatusCode >= 300 {
				t.Fatalf("%s: %s", way.name, a)
			}
			for i, at := range servers {
				g.server = at
				if i > 0 {
					if err := at.Follower.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if a := g.send(t, "GET", way.path, ""); a.StatusCode != way.status {
					t.Errorf("%s, on server %d: %s; want %d", way.name, i, a, way.status)
				}
			}
		}
	})
}

// Of many who use one invitation or link at once, one is let in; of two owners who leave at
// once, one stays, and of two admins who take each other's posts.
func TestPeople_Races(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		made := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"owner"}`), http.StatusOK)
		at := func(n int, do func(n int) answer) (done int64) {
			var all sync.WaitGroup
			var count atomic.Int64
			for i := range n {
				all.Go(func() {
					if do(i).StatusCode < 300 {
						count.Add(1)
					}
				})
			}
			all.Wait()
			return count.Load()
		}
		accept := `{"token":"` + tokenOf(made.Link) + `","name":"Ben"}`
		if done := at(8, func(int) answer { return guest{server: s}.send(t, "POST", "/console/invitations/accept", accept) }); done != 1 {
			t.Errorf("%d accepted one invitation", done)
		}
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"owner"}`, "Cleo")
		members := data[shapes.Members](t, ben.send(t, "GET", "/v1/users/me/members", ""), http.StatusOK).Items
		for _, m := range members {
			if m.Person != ada.me.ID && m.Person != ben.me.ID {
				ada.send(t, "DELETE", "/v1/users/me/members/"+m.Person, "").want(t, http.StatusNoContent)
			}
		}
		both := []guest{ada, ben}
		if done := at(2, func(n int) answer { return both[n].send(t, "DELETE", "/v1/users/"+ben.account+"/members/me", "") }); done != 1 {
			t.Errorf("%d of two owners left", done)
		}
		ada.account = "" // which may be theirs no longer
		zoe := ada.invited(t, "/v1/invitations", `{"posts":["admin"]}`, "Zoe")
		admins := []guest{ada, zoe}
		if done := at(2, func(n int) answer { return admins[n].send(t, "PATCH", "/v1/people/"+admins[1-n].me.ID, `{"posts":[]}`) }); done != 1 {
			t.Errorf("%d of two admins took the other's posts", done)
		}
	})
}
