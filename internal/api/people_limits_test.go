package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/test/harness"
)

// at is a browser at an address.
type browserAt struct {
	guest
	address string
}

func (b browserAt) send(t testing.TB, path, body string) answer {
	t.Helper()
	header := append(ownPage(b.server, "Beacon-Account", b.account), "X-Forwarded-For", b.address)
	if b.cookie != "" {
		header = append(header, "Cookie", b.cookie)
	}
	return b.call(t, "POST", path, body, header...)
}

const (
	attacker  = "198.51.100.7"
	elsewhere = "203.0.113.9"
)

// onceAnHour lets a number of requests pass in the time of a test, and no more.
func onceAnHour(burst int) ratelimit.Limit {
	return ratelimit.Limit{Every: time.Hour, Burst: burst}
}

// A thousand wrong tries at each door are refused after some, cost no row, and lock nobody out
// who is elsewhere.
func TestPeople_ThousandTries(t *testing.T) {
	i := newIssuer(t)
	opts := i.options(t, nil)
	opts.proxied, opts.limits = true, edge.DefaultLimits()
	opts.limits.Failures = onceAnHour(20)
	for door, try := range map[string][2]string{
		"link":       {"/console/links/use", `{"token":"x"}`},
		"code":       {"/console/codes/use", `{"code":"0123-4567-89AB-CDEF"}`},
		"invitation": {"/console/invitations/accept", `{"token":"x","name":"Eve"}`},
		"first":      {"/console/first-admin", `{"token":"x","name":"Eve"}`},
		"passkey":    {signInFinish, `{"ceremony":"x","response":{}}`},
		"provider":   {oidcFinish, `{"query":"code=x&state=x"}`},
	} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			s := onSQLite(t, opts)
			ada := s.firstAdmin(t)
			ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
			link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/people/"+ben.me.ID+"/link", ""), http.StatusOK)
			ada.send(t, "GET", "/v1/people/me", "").want(t, http.StatusOK)
			tries := map[int]int{}
			eve := browserAt{guest{server: s}, attacker}
			for range 1000 {
				tries[eve.send(t, try[0], try[1]).StatusCode]++
			}
			if tries[http.StatusUnauthorized] != 20 || tries[http.StatusTooManyRequests] != 980 {
				t.Errorf("the tries were answered with %v", tries)
			}
			// Who is signed in at the same address goes on, and who is elsewhere can sign in.
			s.call(t, "GET", "/v1/people/me", "", append(ownPage(s), "Cookie", ada.cookie, "X-Forwarded-For", attacker)...).want(t, http.StatusOK)
			browserAt{guest{server: s}, elsewhere}.send(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`).want(t, http.StatusOK)
		})
	}
}

// What anyone can begin is kept until it is finished, so that an address begins only some; a
// person who is signed in at the same address is not kept from it.
func TestPeople_BegunIsBounded(t *testing.T) {
	i := newIssuer(t)
	opts := i.options(t, nil)
	opts.proxied, opts.limits = true, edge.DefaultLimits()
	opts.limits.Doors = onceAnHour(5)
	for _, path := range []string{signInBegin, "/console/oidc/begin"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := onSQLite(t, opts)
			ada := s.firstAdmin(t)
			tries := map[int]int{}
			for range 1000 {
				tries[browserAt{guest{server: s}, attacker}.send(t, path, "").StatusCode]++
			}
			if tries[http.StatusOK] != 5 || tries[http.StatusTooManyRequests] != 995 {
				t.Errorf("the tries were answered with %v", tries)
			}
			for range 5 {
				browserAt{ada, attacker}.send(t, "/console/passkeys/begin", "").want(t, http.StatusOK)
			}
			wantFault(t, browserAt{ada, elsewhere}.send(t, "/console/passkeys/begin", ""), http.StatusTooManyRequests, "rate_limit_exceeded")
			browserAt{guest{server: s}, elsewhere}.send(t, path, "").want(t, http.StatusOK)
		})
	}
}

// Who may become an operator: anyone, whom staff invite, or nobody; and an address signs up
// some times a minute.
func TestPeople_SignUp(t *testing.T) {
	const form = `{"name":"Eve","account_name":"Eve's"}`
	for mode, want := range map[people.SignUp]struct {
		shown         string
		signs, invite int
	}{
		"":                  {"invite", http.StatusForbidden, http.StatusOK},
		people.SignUpOpen:   {"open", http.StatusOK, http.StatusOK},
		people.SignUpInvite: {"invite", http.StatusForbidden, http.StatusOK},
		people.SignUpOff:    {"off", http.StatusForbidden, http.StatusForbidden},
	} {
		t.Run(want.shown+"/"+string(mode), func(t *testing.T) {
			t.Parallel()
			limits := edge.DefaultLimits()
			limits.SignUps = onceAnHour(5)
			s := onSQLite(t, options{limits: limits, proxied: true, node: func(c *node.Config) { c.SignUp = mode }})
			ada := s.firstAdmin(t)
			if doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", ""), http.StatusOK); doors.SignUp != want.shown {
				t.Errorf("the doors are %+v", doors)
			}
			tries := map[int]int{}
			for range 100 {
				tries[browserAt{guest{server: s}, attacker}.send(t, "/console/sign-up", form).StatusCode]++
			}
			if tries[want.signs] != 5 || tries[http.StatusTooManyRequests] != 95 {
				t.Errorf("those who signed up were answered with %v", tries)
			}
			a := browserAt{guest{server: s}, elsewhere}.send(t, "/console/sign-up", form)
			if a.StatusCode != want.signs || (len(a.Header["Set-Cookie"]) > 0) != (want.signs == http.StatusOK) {
				t.Errorf("elsewhere: %s", a)
			}
			if want.signs == http.StatusOK {
				eve := data[shapes.SignedIn](t, a, http.StatusOK).Person
				if len(eve.Posts) != 0 || len(eve.Memberships) != 1 || eve.Memberships[0].Role != "owner" || eve.Memberships[0].Account == ada.account {
					t.Errorf("who signed up is %+v", eve)
				}
			}
			if a := ada.send(t, "POST", "/v1/invitations", `{"account":"new"}`); a.StatusCode != want.invite {
				t.Errorf("inviting an operator: %s", a)
			}
			ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`).want(t, http.StatusOK)
			ada.send(t, "POST", "/v1/invitations", `{"posts":["verifier"]}`).want(t, http.StatusOK)
		})
	}
}

// streams opens a stream of events as a person.
func (g guest) streams(t *testing.T) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", g.cookie)
	response, err := g.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("listening is answered with %s", response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	for range 3 {
		lines.Scan()
	}
	return lines
}

// Who is removed, suspended or signed out is dropped from the stream of events, on another
// server too. The next keep-alive would come in an hour.
func TestPeople_StreamEnds(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		s.advance(time.Second)
		other := start(t, s.db, alive)
		for _, one := range []*server{s, other} {
			one.api.SetPatience(time.Hour, harness.Patience)
		}
		for what, end := range map[string]func(g guest){
			"removed": func(g guest) {
				ada.send(t, "DELETE", "/v1/users/me/members/"+g.me.ID, "").want(t, http.StatusNoContent)
			},
			"removed and a member elsewhere": func(g guest) {
				made := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/invitations", `{"account":"new"}`), http.StatusOK)
				g.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
				ada.send(t, "DELETE", "/v1/users/me/members/"+g.me.ID, "").want(t, http.StatusNoContent)
			},
			"suspended": func(g guest) {
				ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
			},
			"signed out": func(g guest) {
				g.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent)
			},
		} {
			ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Ben")
			there := ben
			there.server = other
			streams := []*bufio.Scanner{ben.streams(t), there.streams(t)}
			end(ben)
			for n, lines := range streams {
				for lines.Scan() {
					if text := lines.Text(); strings.HasPrefix(text, "data:") {
						t.Errorf("%s, on server %d: the stream goes on with %s", what, n, text)
					}
				}
				if lines.Err() != nil {
					t.Errorf("%s, on server %d: the stream did not end: %v", what, n, lines.Err())
				}
			}
		}
	})
}

// All members see that someone made a link for one of them, and that it was used.
func TestPeople_Told(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Ben")
		eva := ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Eva")
		told := func() (linked, frozen *time.Time) {
			t.Helper()
			for _, m := range data[shapes.Members](t, eva.send(t, "GET", "/v1/users/me/members", ""), http.StatusOK).Items {
				if m.Person == ben.me.ID {
					linked, frozen = m.LinkUntil, m.FrozenUntil
				} else if m.LinkUntil != nil || m.FrozenUntil != nil {
					t.Errorf("of another: %+v", m)
				}
			}
			return linked, frozen
		}
		if linked, frozen := told(); linked != nil || frozen != nil {
			t.Errorf("before: %v, %v", linked, frozen)
		}
		link := data[shapes.SignInLink](t, ada.send(t, "POST", "/v1/users/me/members/"+ben.me.ID+"/link", ""), http.StatusOK)
		if linked, frozen := told(); linked == nil || !linked.Equal(link.ExpiresAt) || frozen != nil {
			t.Errorf("with a link: %v, %v", linked, frozen)
		}
		guest{server: s}.enters(t, "/console/links/use", `{"token":"`+tokenOf(link.Link)+`"}`)
		if linked, frozen := told(); linked != nil || frozen == nil || !frozen.Equal(s.now().Add(72*time.Hour)) {
			t.Errorf("once it was used: %v, %v", linked, frozen)
		}
		ada.send(t, "POST", "/v1/users/me/members/"+ben.me.ID+"/link", "").want(t, http.StatusOK)
		s.advance(72 * time.Hour)
		if linked, frozen := told(); linked != nil || frozen != nil {
			t.Errorf("in the end: %v, %v", linked, frozen)
		}
	})
}
