package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
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
)

// guest is a browser, in which someone may be signed in.
type guest struct {
	*server
	cookie  string
	account string
	me      shapes.Person
}

// send sends a request as a page of the console does.
func (g guest) send(t testing.TB, method, path, body string) answer {
	t.Helper()
	header := ownPage(g.server, "Beacon-Account", g.account)
	if g.cookie != "" {
		header = append(header, "Cookie", g.cookie)
	}
	return g.call(t, method, path, body, header...)
}

// enters passes a door, and returns who is signed in then.
func (g guest) enters(t testing.TB, path, body string) guest {
	t.Helper()
	a := g.send(t, "POST", path, body)
	g.me = data[shapes.SignedIn](t, a, http.StatusOK).Person
	if set := a.Header.Get("Set-Cookie"); set != "" {
		g.cookie, _, _ = strings.Cut(set, ";")
	}
	if len(g.me.Memberships) > 0 {
		g.account = g.me.Memberships[len(g.me.Memberships)-1].Account
	}
	return g
}

// firstAdmin is the first person of a network.
func (s *server) firstAdmin(t testing.TB) guest {
	t.Helper()
	token, err := s.Keys.Invite(t.Context(), beacon.Principal{})
	if err != nil {
		t.Fatal(err)
	}
	return guest{server: s}.enters(t, "/console/first-admin", `{"token":"`+token+`","name":"Ada","account_name":"Ada's place"}`)
}

func tokenOf(link string) string { return link[strings.LastIndex(link, "/")+1:] }

// invited is someone new who accepts an invitation.
func (g guest) invited(t testing.TB, path, body, name string) guest {
	t.Helper()
	made := data[shapes.CreatedInvitation](t, g.send(t, "POST", path, body), http.StatusOK)
	return guest{server: g.server}.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`","name":"`+name+`"}`)
}

// The first admin founds a network, invites an operator, who invites others; each sees what
// they are.
func TestPeople_Story(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", ""), http.StatusOK)
		if doors.People || doors.SignUp != "invite" || doors.Mail || doors.Passkeys {
			t.Errorf("the doors are %+v", doors)
		}
		ada := s.firstAdmin(t)
		if len(ada.me.Posts) != 4 || len(ada.me.Memberships) != 1 || ada.me.Memberships[0].Role != "owner" || ada.me.Memberships[0].AccountName != "Ada's place" {
			t.Errorf("the first admin is %+v", ada.me)
		}
		if !strings.HasPrefix(ada.cookie, "beacon-session=bcp_") {
			t.Errorf("the cookie is %s", ada.cookie)
		}
		ben := ada.invited(t, "/v1/invitations", `{"account":"new","account_name":"Ben's bar"}`, "Ben")
		if len(ben.me.Posts) != 0 || ben.me.Memberships[0].Role != "owner" || ben.me.Memberships[0].AccountName != "Ben's bar" || ben.account == ada.account {
			t.Errorf("who founded an account is %+v", ben.me)
		}
		made := data[shapes.CreatedInvitation](t, ben.send(t, "POST", "/v1/users/me/invitations", `{"role":"manager","expires_in_days":3}`), http.StatusOK)
		if !strings.HasPrefix(made.Link, s.URL+"/#/join/") || made.InvitedBy != "Ben" || !made.ExpiresAt.Equal(noon.AddDate(0, 0, 3)) {
			t.Errorf("the invitation is %+v", made)
		}
		shown := data[shapes.InvitationShown](t, guest{server: s}.send(t, "POST", "/console/invitations/read", `{"token":"`+tokenOf(made.Link)+`"}`), http.StatusOK)
		if shown.AccountName != "Ben's bar" || shown.Role != "manager" || shown.InvitedBy != "Ben" {
			t.Errorf("to its bearer it is %+v", shown)
		}
		pending := data[[]shapes.Invitation](t, ben.send(t, "GET", "/v1/users/me/invitations", ""), http.StatusOK)
		if len(pending) != 1 || pending[0].ID != made.ID {
			t.Errorf("pending are %+v", pending)
		}
		s.advance(time.Second)
		// Someone who is signed in joins as they are, and acts for both accounts.
		joined := ada.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
		if joined.cookie != ada.cookie || len(joined.me.Memberships) != 2 || joined.account != ben.account {
			t.Errorf("who joined is %+v", joined.me)
		}
		wantFault(t, guest{server: s}.send(t, "POST", "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`","name":"Eve"}`), http.StatusUnauthorized, "unauthorized")
		eva := ben.invited(t, "/v1/users/me/invitations", `{"role":"installer","hotspots":["hs_01kb3gzk00e9x8q6s5t4v3w2y1"]}`, "Eva")
		members := data[shapes.Members](t, eva.send(t, "GET", "/v1/users/me/members", ""), http.StatusOK)
		if len(members.Items) != 3 || members.Name != "Ben's bar" {
			t.Errorf("the members are %+v", members)
		}
		// An account that is not theirs, in the header.
		eva.account = ada.account
		ada2 := ada
		wantFault(t, eva.send(t, "GET", "/v1/people/me", ""), http.StatusForbidden, "forbidden")
		eva.account = ben.account
		changed := data[shapes.Person](t, eva.send(t, "PATCH", "/v1/people/me", `{"name":"Eva B.","mail":"eva@example.org","language":"es"}`), http.StatusOK)
		if changed.Name != "Eva B." || changed.Mail != "eva@example.org" || changed.Language != "es" {
			t.Errorf("after a change: %+v", changed)
		}
		for _, bad := range []string{`{"name":""}`, `{"mail":"x"}`, `{"mail":"a@b.c, d@e.f"}`, `{"language":"!"}`, `{"posts":["admin"]}`, `{"name":null}`} {
			a := eva.send(t, "PATCH", "/v1/people/me", bad)
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", bad, a)
			}
		}
		list := data[[]shapes.PersonListed](t, ada2.send(t, "GET", "/v1/people?search=eva@", ""), http.StatusOK)
		if len(list) != 1 || list[0].ID != eva.me.ID || list[0].Memberships[0].Role != "installer" {
			t.Errorf("found %+v", list)
		}
		data[shapes.Person](t, ada2.send(t, "GET", "/v1/people/"+eva.me.ID, ""), http.StatusOK)
		wantFault(t, ada.send(t, "GET", "/v1/people/per_01kb3gzk00e9x8q6s5t4v3w2y1", ""), http.StatusNotFound, "not_found")
		for _, name := range []string{"Ada's", "Eva B.", "eva@example"} {
			if strings.Contains(s.log.String(), name) {
				t.Errorf("a log has %s", name)
			}
		}
		audit := ada.send(t, "GET", "/v1/audit?limit=100", "").want(t, http.StatusOK)
		rows := data[shapes.Audit](t, audit, http.StatusOK).Changes
		if !slices.ContainsFunc(rows, func(r shapes.AuditRow) bool {
			return r.Kind == "person.changed" && r.Target == eva.me.ID && r.Person != nil && *r.Person == eva.me.ID && *r.PersonName == "Eva B."
		}) {
			t.Errorf("the audit does not tell who did it: %s", audit.body)
		}
		for _, r := range rows { // a name ends with its person
			r.Person, r.PersonName = nil, nil
			text, err := json.Marshal(r)
			for _, name := range []string{"Ada", "Ben", "Eva", "example.org"} {
				if err != nil || strings.Contains(string(text), name) {
					t.Errorf("the audit has the name %s: %s", name, text)
				}
			}
		}
		wantFault(t, ben.send(t, "GET", "/v1/audit", ""), http.StatusForbidden, "forbidden")
		log := unpack(t, ben.send(t, "GET", "/v1/users/me/export", ""))["changes.jsonl"]
		if !strings.Contains(log, `"person":"`+ben.me.ID+`"`) || strings.Contains(log, "Ben") || strings.Contains(log, "Eva") {
			t.Errorf("the export of an account has not ids alone: %s", log)
		}
		// Suspended: out everywhere, and back in by another link.
		ada.send(t, "PATCH", "/v1/people/"+eva.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		wantFault(t, eva.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		ada.send(t, "PATCH", "/v1/people/"+eva.me.ID, `{"suspended":false}`).want(t, http.StatusOK)
		wantFault(t, eva.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+eva.me.ID+"/link", ""), http.StatusOK)
		back := guest{server: s}.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		if back.me.FrozenUntil == nil || !back.me.FrozenUntil.Equal(s.now().Add(72*time.Hour)) || back.cookie == eva.cookie {
			t.Errorf("after a recovery: %+v", back.me)
		}
		wantFault(t, guest{server: s}.send(t, "POST", "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`), http.StatusUnauthorized, "unauthorized")
		ada.send(t, "DELETE", "/v1/people/"+eva.me.ID, "").want(t, http.StatusNoContent)
		wantFault(t, back.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		wantFault(t, ada.send(t, "GET", "/v1/people/"+eva.me.ID, ""), http.StatusNotFound, "not_found")
		for _, r := range data[shapes.Audit](t, ada.send(t, "GET", "/v1/audit?limit=100", ""), http.StatusOK).Changes {
			if r.Person != nil && (r.PersonName == nil) != (*r.Person == eva.me.ID) {
				t.Errorf("after an erasure: %+v", r)
			}
		}
	})
}

// Recovery codes: ten, in force once one is typed back, each works once, and freezes.
func TestPeople_Codes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		make10 := func() []string {
			codes := data[shapes.RecoveryCodes](t, ada.send(t, "POST", "/v1/people/me/codes", ""), http.StatusOK).Codes
			if len(codes) != 10 || len(codes[0]) != 19 {
				t.Fatalf("the codes are %q", codes)
			}
			return codes
		}
		use := func(code string) answer {
			return guest{server: s}.send(t, "POST", "/console/codes/use", `{"code":"`+code+`"}`)
		}
		first := make10()
		wantFault(t, use(first[0]), http.StatusUnauthorized, "unauthorized") // not in force yet
		wantFault(t, ada.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"0000-0000-0000-0000"}`), http.StatusBadRequest, "invalid_request", "code")
		ada.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"`+strings.ToLower(first[3])+`"}`).want(t, http.StatusNoContent)
		second := make10()
		use(first[1]).want(t, http.StatusOK) // the new ones are not in force
		wantFault(t, use(first[1]), http.StatusUnauthorized, "unauthorized")
		ada.send(t, "POST", "/v1/people/me/codes/confirmation", `{"code":"`+second[0]+`"}`).want(t, http.StatusNoContent)
		wantFault(t, use(first[2]), http.StatusUnauthorized, "unauthorized")
		me := data[shapes.SignedIn](t, use(strings.ReplaceAll(second[5], "-", " ")), http.StatusOK).Person
		if me.Doors.CodesLeft != 9 || me.FrozenUntil == nil {
			t.Errorf("after a recovery: %+v", me)
		}
		// Frozen: nobody gets what they have, by this session or another.
		wantFault(t, ada.send(t, "POST", "/v1/invitations", `{"posts":["admin"]}`), http.StatusForbidden, "forbidden")
		wantFault(t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"owner"}`), http.StatusForbidden, "forbidden")
		wantFault(t, ada.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:write"]}`), http.StatusForbidden, "forbidden")
		wantFault(t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusForbidden, "forbidden")
		s.advance(72 * time.Hour)
		wantFault(t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"owner"}`), http.StatusForbidden, "forbidden") // no longer fresh
		stale := ada.send(t, "POST", "/v1/people/me/codes", "")
		if wantFault(t, stale, http.StatusForbidden, "forbidden"); stale.Header.Get("Beacon-Sign-In") != "fresh" {
			t.Errorf("no word of a fresh sign-in: %s", stale)
		}
		wantFault(t, ada.send(t, "POST", "/console/fresh/finish", `{"code":"`+second[5]+`"}`), http.StatusUnauthorized, "unauthorized")
		data[shapes.Freshness](t, ada.send(t, "POST", "/console/fresh/finish", `{"code":"`+second[6]+`"}`), http.StatusOK)
		ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"owner"}`).want(t, http.StatusOK)
		ada.send(t, "POST", "/v1/keys", `{"scopes":["hotspots:write"]}`).want(t, http.StatusOK)
	})
}

// A session is for pages of our own, ends at sign-out, and cannot be chosen by others.
func TestPeople_Sessions(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		foreign := func(method string, header ...string) answer {
			return s.call(t, method, "/v1/people/me", `{"name":"Eve"}`, append(header, "Cookie", ada.cookie)...)
		}
		wantFault(t, foreign("PATCH", "Origin", s.URL), http.StatusForbidden, "forbidden") // without the header
		for _, header := range [][]string{
			{}, {"Origin", "https://evil.example"}, {"Origin", s.URL, "Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}, {"Origin", s.URL, "Sec-Fetch-Site", "same-site"},
		} {
			wantFault(t, foreign("PATCH", append(header, "Beacon-Account", "")...), http.StatusForbidden, "forbidden")
		}
		foreign("PATCH", "Origin", s.URL, "Beacon-Account", "").want(t, http.StatusOK)
		name, text, _ := strings.Cut(ada.cookie, "=")
		for _, bad := range []string{text[:len(text)-1], text + "A", text[:len(text)-1] + "*", strings.ToUpper(text), "bcp_", text[:31] + strings.Repeat("A", 43)} {
			wantFault(t, s.call(t, "GET", "/v1/people/me", "", "Cookie", name+"="+bad), http.StatusUnauthorized, "unauthorized")
		}
		wantFault(t, s.call(t, "GET", "/v1/people/me", "", "Authorization", "Bearer "+text), http.StatusUnauthorized, "unauthorized")
		// Whoever had a cookie before has another one after signing in.
		link := data[shapes.SignInLink](t, ada.invitedLink(t), http.StatusOK)
		s.advance(time.Second)
		planted := guest{server: s, cookie: name + "=bcp_00000000000000000000000000_" + strings.Repeat("A", 43)}
		ben := planted.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		if ben.cookie == planted.cookie {
			t.Error("a session was chosen by someone else")
		}
		wantFault(t, planted.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		sessions := data[[]shapes.Session](t, ben.send(t, "GET", "/v1/people/me/sessions", ""), http.StatusOK)
		if len(sessions) != 2 || !sessions[0].Current || sessions[1].Current || sessions[0].Door != "link" {
			t.Errorf("the sessions are %+v", sessions)
		}
		// Another's session cannot be ended.
		ada.send(t, "DELETE", "/v1/people/me/sessions/"+sessions[0].ID, "").want(t, http.StatusNoContent)
		ben.send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
		ben.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent)
		wantFault(t, ben.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		s.advance(30*24*time.Hour + time.Minute)
		wantFault(t, ada.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
	})
}

// invitedLink makes a link for a new viewer.
func (g guest) invitedLink(t testing.TB) answer {
	t.Helper()
	ben := g.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
	return g.send(t, "POST", "/v1/people/"+ben.me.ID+"/link", "")
}

// A member who was removed on one server has lost what they had on another within its step.
func TestPeople_Replicas(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Ben")
		other := start(t, s.db, options{limits: ample})
		there := ben
		there.server = other
		there.send(t, "GET", "/v1/users/me/invitations", "").want(t, http.StatusOK)
		ada.send(t, "PATCH", "/v1/users/me/members/"+ben.me.ID, `{"role":"viewer"}`).want(t, http.StatusOK)
		if err := other.Follower.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFault(t, there.send(t, "GET", "/v1/users/me/invitations", ""), http.StatusForbidden, "forbidden")
		ben.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent)
		if err := other.Follower.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFault(t, there.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
	})
}

// Of many who use one invitation or link at once, one is let in; of two owners who leave at
// once, one stays.
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
		wantFault(t, ada.send(t, "PATCH", "/v1/people/"+ada.me.ID, `{"posts":[]}`), http.StatusForbidden, "forbidden")
	})
}

// Wrong tries are bounded, and tell nothing.
func TestPeople_WrongTries(t *testing.T) {
	t.Parallel()
	s := onSQLite(t, options{limits: edge.Limits{Failures: ratelimit.Limit{Every: time.Hour, Burst: 20}}})
	tries := map[int]int{}
	var bodies []string
	for n := range 1000 {
		path, body := "/console/codes/use", `{"code":"0123-4567-89AB-CDEF"}`
		switch n % 3 {
		case 1:
			path, body = "/console/links/use", `{"token":"x"}`
		case 2:
			path, body = "/console/invitations/read", `{"token":"x"}`
		}
		a := guest{server: s}.send(t, "POST", path, body)
		tries[a.StatusCode]++
		if a.StatusCode == http.StatusUnauthorized {
			var fault struct{ Error json.RawMessage }
			_ = json.Unmarshal(a.body, &fault)
			bodies = append(bodies, string(fault.Error))
		}
	}
	if tries[http.StatusUnauthorized] != 20 || tries[http.StatusTooManyRequests] != 980 {
		t.Errorf("the tries were answered with %v", tries)
	}
	if slices.Sort(bodies); bodies[0] != bodies[len(bodies)-1] {
		t.Errorf("what is wrong can be told from %q and %q", bodies[0], bodies[len(bodies)-1])
	}
}

// Nobody gets what nobody who had it gave: by any route, with any role.
func TestPeople_Escalation(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		by := map[string]guest{"owner": ben}
		for _, role := range []string{"manager", "installer", "viewer"} {
			by[role] = ben.invited(t, "/v1/users/me/invitations", `{"role":"`+role+`"}`, role)
		}
		treasurer := ada.invited(t, "/v1/invitations", `{"posts":["treasurer","auditor","verifier"]}`, "Theo")
		ranks := []string{"owner", "manager", "installer", "viewer"}
		for i, role := range ranks {
			g := by[role]
			for k, given := range ranks {
				a := g.send(t, "POST", "/v1/users/me/invitations", `{"role":"`+given+`"}`)
				if may := role == "owner" || role == "manager" && k >= 1; may != (a.StatusCode == http.StatusOK) || !may && a.StatusCode != http.StatusForbidden {
					t.Errorf("%s invites %s: %s", role, given, a)
				}
			}
			for _, other := range ranks {
				if other == role {
					other = "me" // nobody changes their own
				} else {
					other = by[other].me.ID
				}
				a := g.send(t, "PATCH", "/v1/users/me/members/"+other, `{"role":"owner"}`)
				if role != "owner" && a.StatusCode != http.StatusForbidden || other == "me" && a.StatusCode != http.StatusForbidden {
					t.Errorf("%s makes %s an owner: %s", role, other, a)
				}
				if role == "owner" && other != "me" { // take it back
					ben.send(t, "PATCH", "/v1/users/me/members/"+other, `{"role":"`+roleOf(by, other)+`"}`).want(t, http.StatusOK)
				}
			}
			if i > 0 {
				wantFault(t, g.send(t, "POST", "/v1/users/me/members/"+ben.me.ID+"/link", ""), http.StatusForbidden, "forbidden")
				wantFault(t, g.send(t, "DELETE", "/v1/users/me/members/"+ben.me.ID, ""), http.StatusForbidden, "forbidden")
			}
			// Not of another account, nor of the network.
			for path, body := range map[string]string{
				"POST /v1/users/" + ada.account + "/invitations":                  `{"role":"viewer"}`,
				"PATCH /v1/users/" + ada.account + "/members/" + ada.me.ID:        `{"role":"viewer"}`,
				"POST /v1/users/" + ada.account + "/members/" + g.me.ID + "/link": ``,
				"PATCH /v1/people/" + g.me.ID:                                     `{"posts":["admin"]}`,
				"POST /v1/invitations":                                            `{"posts":["viewer"]}`,
				"POST /v1/people/" + ada.me.ID + "/link":                          ``,
				"DELETE /v1/people/" + ada.me.ID:                                  ``,
				"PUT /v1/users/me/quota":                                          `{"hotspots":1000}`,
				"POST /v1/keys":                                                   `{"scopes":["admin"]}`,
			} {
				method, path, _ := strings.Cut(path, " ")
				wantFault(t, g.send(t, method, path, body), http.StatusForbidden, "forbidden")
			}
		}
		for _, path := range []string{"/v1/people/" + treasurer.me.ID, "/v1/people/" + ben.me.ID} {
			wantFault(t, treasurer.send(t, "PATCH", path, `{"posts":["admin"]}`), http.StatusForbidden, "forbidden")
		}
		wantFault(t, ada.send(t, "PATCH", "/v1/people/"+ada.me.ID, `{"posts":["admin"]}`), http.StatusForbidden, "forbidden")
		// A link would give an owner the posts of a member.
		made := data[shapes.CreatedInvitation](t, ben.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusOK)
		treasurer.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
		wantFault(t, ben.send(t, "POST", "/v1/users/me/members/"+treasurer.me.ID+"/link", ""), http.StatusForbidden, "forbidden")
		ben.send(t, "POST", "/v1/users/me/members/"+by["viewer"].me.ID+"/link", "").want(t, http.StatusOK)
		// What a manager invited to goes with them.
		manager := by["manager"]
		secret := data[shapes.CreatedInvitation](t, manager.send(t, "POST", "/v1/users/me/invitations", `{"role":"manager"}`), http.StatusOK)
		ben.send(t, "DELETE", "/v1/users/me/members/"+manager.me.ID, "").want(t, http.StatusNoContent)
		wantFault(t, manager.send(t, "POST", "/console/invitations/accept", `{"token":"`+tokenOf(secret.Link)+`"}`), http.StatusForbidden, "forbidden") // the account of the header is no longer theirs
		manager.account = ""
		wantFault(t, manager.send(t, "POST", "/console/invitations/accept", `{"token":"`+tokenOf(secret.Link)+`"}`), http.StatusUnauthorized, "unauthorized")
		// Keys do an owner's work if they may do all of it; see TestPeople_KeysGiveWhatTheyMay.
		for scopes, most := range map[string]string{"hotspots:write,rewards:read,keys:manage": "owner", "hotspots:write,keys:manage": "", "keys:manage": "", "keys:manage,rewards:read": ""} {
			key := s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some(strings.Split(scopes, ","))})
			for _, given := range []string{"owner", "manager"} {
				a := key.post(t, "/v1/users/me/invitations", `{"role":"`+given+`"}`)
				if may := most == "owner" || most == given; may != (a.StatusCode == http.StatusOK) {
					t.Errorf("a key with %s invites %s: %s", scopes, given, a)
				}
			}
		}
	})
}

func roleOf(by map[string]guest, person string) string {
	for role, g := range by {
		if g.me.ID == person {
			return role
		}
	}
	return ""
}

// An admin can stop an owner who is alone in an account, which keeps them as its owner. Nobody
// can take the last owner away, nor stop the last admin.
func TestPeople_SuspendLast(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		eva := ben.invited(t, "/v1/users/me/invitations", `{"role":"owner"}`, "Eva")
		of := "/v1/users/" + ben.account + "/members/"
		ada.send(t, "PATCH", "/v1/people/"+ben.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		wantFault(t, eva.send(t, "DELETE", of+"me", ""), http.StatusConflict, "conflict") // who is suspended leads nothing
		ada.send(t, "PATCH", "/v1/people/"+eva.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		wantFault(t, eva.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		for _, g := range []guest{ben, eva} {
			wantFault(t, ada.send(t, "DELETE", "/v1/people/"+g.me.ID, ""), http.StatusConflict, "conflict")
		}
		ada.send(t, "PATCH", "/v1/people/"+eva.me.ID, `{"suspended":false}`).want(t, http.StatusOK)
		ada.send(t, "DELETE", "/v1/people/"+ben.me.ID, "").want(t, http.StatusNoContent) // Eva leads it again
		if me := data[shapes.Person](t, ada.send(t, "GET", "/v1/people/"+eva.me.ID, ""), http.StatusOK); me.Memberships[0].Role != "owner" {
			t.Errorf("restored as %+v", me)
		}
		// Of the network's admins the last one stays, whoever asks.
		key := s.anyone(t, "admin")
		wantFault(t, key.do(t, "PATCH", "/v1/people/"+ada.me.ID, `{"suspended":true}`), http.StatusConflict, "conflict")
		ada.invited(t, "/v1/invitations", `{"posts":["admin"]}`, "Max")
		key.do(t, "PATCH", "/v1/people/"+ada.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
	})
}

// Who was a member of an account that is erased loses what they could do there, wherever they
// are signed in.
func TestPeople_AccountErased(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		ben.send(t, "GET", "/v1/users/me/invitations", "").want(t, http.StatusOK)
		if err := s.db.Users.EraseUser(t.Context(), beacon.UserID(ben.account), beacon.Actor{Request: "test"}, s.now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Follower.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFault(t, ben.send(t, "GET", "/v1/users/me/invitations", ""), http.StatusForbidden, "forbidden")
		ben.account = ""
		if me := data[shapes.Person](t, ben.send(t, "GET", "/v1/people/me", ""), http.StatusOK); len(me.Memberships) != 0 {
			t.Errorf("still a member: %+v", me)
		}
		last := s.changes(t)
		if c := last[len(last)-1]; c.Kind != beacon.MemberRemoved || c.Target != ben.me.ID || c.Actor.Request != "test" {
			t.Errorf("the change is %+v", c)
		}
	})
}

// What people decide about people is in the audit, with who did it and by which request.
func TestPeople_Audited(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		var invitation string
		for _, step := range []struct {
			route, body string
			kind        beacon.ChangeKind
		}{
			{"POST /v1/users/me/invitations", `{"role":"viewer"}`, beacon.InvitationCreated},
			{"DELETE /v1/users/me/invitations/{id}", "", beacon.InvitationRevoked},
			{"POST /v1/invitations", `{"posts":["auditor"]}`, beacon.InvitationCreated},
			{"DELETE /v1/invitations/{id}", "", beacon.InvitationRevoked},
			{"PATCH /v1/users/me", `{"name":"Another"}`, beacon.AccountNamed},
			{"PATCH /v1/people/me", `{"name":"Another"}`, beacon.PersonChanged},
			{"DELETE /v1/people/me/sessions", "", beacon.SessionEnded},
			{"PATCH /v1/users/me/members/{person}", `{"role":"manager"}`, beacon.MemberChanged},
			{"POST /v1/users/me/members/{person}/link", "", beacon.PersonChanged},
			{"DELETE /v1/users/me/members/{person}", "", beacon.MemberRemoved},
			{"PATCH /v1/people/{person}", `{"posts":["auditor"]}`, beacon.MemberAdded},
			{"POST /v1/people/{person}/link", "", beacon.PersonChanged},
			{"PATCH /v1/people/{person}", `{"suspended":true}`, beacon.PersonSuspended},
			{"PATCH /v1/people/{person}", `{"suspended":false}`, beacon.PersonRestored},
			{"DELETE /v1/people/{person}", "", beacon.PersonErased},
		} {
			before := len(s.changes(t))
			method, path, _ := strings.Cut(strings.NewReplacer("{person}", ben.me.ID, "{id}", invitation).Replace(step.route), " ")
			a := ada.send(t, method, path, step.body)
			if a.StatusCode >= http.StatusMultipleChoices {
				t.Fatalf("%s: %s", step.route, a)
			}
			left := s.changes(t)[before:]
			if len(left) != 1 || left[0].Kind != step.kind || string(left[0].Actor.Person) != ada.me.ID || left[0].Actor.Request != a.Header.Get("X-Request-Id") {
				t.Errorf("%s left %+v; want one row, %s by Ada", step.route, left, step.kind)
			}
			if step.kind == beacon.InvitationCreated {
				invitation = left[0].Target
			}
		}
	})
}
