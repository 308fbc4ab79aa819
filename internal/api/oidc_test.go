package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/doors"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
	"github.com/beacon-wifi/beacon/test/harness/visitor"
)

// issuer is the provider of a test.
type issuer struct{ *visitor.Issuer }

func newIssuer(t *testing.T) *issuer { return &issuer{visitor.NewIssuer(t, noon)} }

// options are those of a server whose provider this is.
func (i *issuer) options(t *testing.T, change func(*node.Config)) options {
	return options{limits: ample, named: true, node: func(c *node.Config) {
		if change != nil {
			change(c)
		}
		source, err := oidc.New(oidc.Config{Issuer: i.URL, ClientID: "beacon", ClientSecret: "s", RedirectURL: c.PublicURL + "/oidc", GroupsClaim: "groups", Now: c.Now})
		if err != nil {
			t.Fatal(err)
		}
		posts, err := doors.ParsePosts([]string{"board=admin", "board=auditor", "walkers=verifier"})
		if err != nil {
			t.Fatal(err)
		}
		c.Provider = &doors.Provider{Issuer: source, Name: "Club", Posts: posts}
	}}
}

// visit is a browser that went to the provider and came back.
type visit struct{ cookie, body string }

// visits goes to the provider and signs in there.
func (g guest) visits(t testing.TB, i *issuer, begin string, claims map[string]any) visit {
	t.Helper()
	a := g.send(t, "POST", "/console/oidc/begin", begin)
	address := data[shapes.Departure](t, a, http.StatusOK).URL
	cookie, attributes, _ := strings.Cut(a.Header.Get("Set-Cookie"), "; ")
	if attributes != "Path=/; Max-Age=600; HttpOnly; SameSite=Lax" || !strings.HasPrefix(cookie, "beacon-oidc=") {
		t.Fatalf("begun with %s", attributes)
	}
	body, _ := json.Marshal(map[string]string{"query": i.Visit(t, address, claims)})
	return visit{cookie, string(body)}
}

const oidcFinish = "/console/oidc/finish"

// back comes back from the provider.
func (g guest) back(t testing.TB, v visit) answer {
	t.Helper()
	g.cookie = strings.TrimPrefix(g.cookie+"; "+v.cookie, "; ")
	return g.send(t, "POST", oidcFinish, v.body)
}

func (g guest) arrives(t testing.TB, v visit) guest {
	t.Helper()
	a := g.back(t, v)
	g.me = data[shapes.SignedIn](t, a, http.StatusOK).Person
	if set := a.Header.Get("Set-Cookie"); set != "" {
		g.cookie, _, _ = strings.Cut(set, ";")
	}
	return g
}

func as(subject string, groups ...string) map[string]any {
	return map[string]any{"sub": subject, "name": strings.ToUpper(subject), "groups": groups}
}

func TestOIDC_Story(t *testing.T) {
	i := newIssuer(t)
	eachStoreWith(t, i.options(t, nil), func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		stranger := guest{server: s}
		if doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", ""), http.StatusOK); doors.OIDC == nil || doors.OIDC.Name != "Club" {
			t.Errorf("the doors are %+v", doors)
		}
		// Someone unknown is told what to do, and an invitation lets them in.
		wantFault(t, stranger.back(t, stranger.visits(t, i, "", as("ben"))), http.StatusForbidden, "forbidden")
		made := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusOK)
		invited := `{"invitation":"` + tokenOf(made.Link) + `","language":"es"}`
		first, second := stranger.visits(t, i, invited, as("ben")), stranger.visits(t, i, invited, as("eve"))
		ben := stranger.arrives(t, first)
		if ben.me.Name != "BEN" || ben.me.Language != "es" || len(ben.me.Memberships) != 1 || !ben.me.Doors.OIDC || len(ben.me.Posts) != 0 {
			t.Errorf("who was invited is %+v", ben.me)
		}
		wantFault(t, stranger.back(t, second), http.StatusUnauthorized, "unauthorized") // the invitation is used
		wantFault(t, stranger.back(t, first), http.StatusUnauthorized, "unauthorized")  // and so is the visit
		wantFault(t, stranger.send(t, "POST", "/console/oidc/begin", invited), http.StatusUnauthorized, "unauthorized")
		// Groups give and take posts, but for those that were given here.
		ben = stranger.arrives(t, stranger.visits(t, i, "", as("ben", "walkers", "board")))
		if strings.Join(ben.me.Posts, " ") != "admin verifier auditor" || ben.me.FreshUntil != nil {
			t.Errorf("by groups: %+v", ben.me)
		}
		ada.send(t, "PATCH", "/v1/people/"+ben.me.ID, `{"posts":["admin","treasurer"]}`).want(t, http.StatusOK)
		if ben = stranger.arrives(t, stranger.visits(t, i, "", as("ben", "walkers"))); strings.Join(ben.me.Posts, " ") != "verifier treasurer" {
			t.Errorf("by fewer groups: %+v", ben.me)
		}
		// Ada links who she is there, and Ben cannot be that, too.
		link := ada.visits(t, i, `{"purpose":"link"}`, as("ada", "board"))
		wantFault(t, ben.back(t, link), http.StatusUnauthorized, "unauthorized")
		if linked := ada.arrives(t, link); linked.me.ID != ada.me.ID || !linked.me.Doors.OIDC || linked.cookie != ada.cookie {
			t.Errorf("linked: %+v", linked.me)
		}
		wantFault(t, ada.back(t, ada.visits(t, i, `{"purpose":"link"}`, as("ben"))), http.StatusConflict, "conflict")
		wantFault(t, ben.send(t, "POST", "/console/oidc/begin", `{"purpose":"link"}`), http.StatusForbidden, "forbidden") // not fresh
		// The last admin stays one, whatever their groups.
		again := stranger.arrives(t, stranger.visits(t, i, "", as("ada")))
		if again.me.ID != ada.me.ID || strings.Join(again.me.Posts, " ") != "admin treasurer" {
			t.Errorf("the last admin: %+v", again.me)
		}
		// To be fresh, she signs in there once more; nobody else can do so for her.
		fresh := again.visits(t, i, `{"purpose":"fresh"}`, as("ada"))
		wantFault(t, ben.back(t, fresh), http.StatusUnauthorized, "unauthorized")
		wantFault(t, again.back(t, again.visits(t, i, `{"purpose":"fresh"}`, as("ben"))), http.StatusConflict, "conflict")
		if again = again.arrives(t, fresh); again.me.FreshUntil == nil {
			t.Errorf("after a fresh sign-in: %+v", again.me)
		}
	})
}

func TestOIDC_Refused(t *testing.T) {
	i := newIssuer(t)
	eachStoreWith(t, i.options(t, func(c *node.Config) { c.SignUp = people.SignUpOpen }), func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		stranger := guest{server: s}
		cleo := stranger.arrives(t, stranger.visits(t, i, "", as("cleo", "walkers"))) // anyone may
		if len(cleo.me.Memberships) != 1 || cleo.me.Memberships[0].Role != "owner" {
			t.Errorf("who signed up is %+v", cleo.me)
		}
		for _, n := range []int{1, 2} { // known from now on
			if again := stranger.arrives(t, stranger.visits(t, i, "", as("cleo", "walkers"))); again.me.ID != cleo.me.ID {
				t.Errorf("%d: someone else: %+v", n, again.me)
			}
		}
		refused := func(what string, g guest, v visit) {
			t.Helper()
			if a := g.back(t, v); a.StatusCode != http.StatusUnauthorized || len(a.Header["Set-Cookie"]) > 0 {
				t.Errorf("%s: %s", what, a)
			}
		}
		mine, theirs := stranger.visits(t, i, "", as("cleo")), stranger.visits(t, i, "", as("dan"))
		refused("without the cookie", stranger, visit{"", mine.body})
		refused("of another browser", stranger, visit{theirs.cookie, mine.body})
		refused("not of ours", stranger, visit{"beacon-oidc=x", mine.body})
		refused("without anything", stranger, visit{mine.cookie, `{"query":""}`})
		refused("refused there", stranger, visit{mine.cookie, `{"query":"error=access_denied&state=x"}`})
		// At once, a visit lets one in.
		var all sync.WaitGroup
		var mu sync.Mutex
		entered := 0
		for range 4 {
			all.Go(func() {
				if stranger.back(t, mine).StatusCode == http.StatusOK {
					mu.Lock()
					defer mu.Unlock()
					entered++
				}
			})
		}
		if all.Wait(); entered != 1 {
			t.Errorf("one visit let %d in", entered)
		}
		planted := ada
		if arrived := planted.arrives(t, planted.visits(t, i, "", as("cleo"))); arrived.cookie == ada.cookie || arrived.me.ID != cleo.me.ID {
			t.Errorf("a session was kept: %+v", arrived.me)
		}
		late := stranger.visits(t, i, "", as("cleo"))
		s.advance(10 * time.Minute)
		refused("too late", stranger, late)
		dan := stranger.arrives(t, stranger.visits(t, i, "", as("dan")))
		if err := s.db.People.EditPeople(t.Context(), beacon.Actor{}, beacon.PeopleSight{Person: beacon.PersonID(dan.me.ID)}, func(e *beacon.PeopleEdit) error {
			e.Person.SuspendedAt = s.now()
			e.Write.People = []beacon.Person{e.Person.Person}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		refused("suspended", stranger, stranger.visits(t, i, "", as("dan", "board")))
		for _, bad := range []string{`{"purpose":"x"}`, `{"language":"!"}`, `{"more":1}`} {
			if a := stranger.send(t, "POST", "/console/oidc/begin", bad); a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", bad, a)
			}
		}
		wantFault(t, s.call(t, "POST", "/console/oidc/begin", "", "Origin", "https://evil.example"), http.StatusForbidden, "forbidden")
	})
}

// Who someone is at the provider can be taken from them, by themselves or by an admin, but not
// the last door of a person, nor that of the last admin.
func TestOIDC_Unlink(t *testing.T) {
	i := newIssuer(t)
	eachStoreWith(t, i.options(t, nil), func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		stranger := guest{server: s}
		unlink := func(g guest, person string) answer {
			t.Helper()
			return g.send(t, "POST", "/console/oidc/unlink", `{"person":"`+person+`"}`)
		}
		wantFault(t, unlink(stranger, "me"), http.StatusForbidden, "forbidden")
		wantFault(t, unlink(ada, "me"), http.StatusNotFound, "not_found")
		ada.arrives(t, ada.visits(t, i, `{"purpose":"link"}`, as("ada")))
		wantFault(t, unlink(ada, "me"), http.StatusConflict, "conflict") // the only door
		key := s.anyone(t, "admin")
		root := func(person string) error {
			_, err := people.Unlink(t.Context(), s.People, beacon.Principal{Key: key.key, User: key.user, Scopes: []beacon.Scope{beacon.Admin}}, beacon.PersonID(person))
			return err
		}
		if err := root(ada.me.ID); beacon.KindOf(err) != beacon.Conflict {
			t.Errorf("the last door of the last admin: %v", err)
		}
		adas := ada.adds(t)
		s.advance(5 * time.Minute)
		wantFault(t, unlink(ada, "me"), http.StatusForbidden, "forbidden") // not fresh
		ada.send(t, "POST", "/console/fresh/finish", adas.sign(t, ada.begin(t, "/console/fresh/begin"))).want(t, http.StatusOK)
		unlink(ada, "me").want(t, http.StatusNoContent)
		wantFault(t, stranger.back(t, stranger.visits(t, i, "", as("ada"))), http.StatusForbidden, "forbidden")
		wantFault(t, unlink(ada, "me"), http.StatusNotFound, "not_found")
		// Someone else, who is signed out.
		made := data[shapes.CreatedInvitation](t, ada.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusOK)
		ben := stranger.arrives(t, stranger.visits(t, i, `{"invitation":"`+tokenOf(made.Link)+`"}`, as("ben")))
		vic := ada.invited(t, "/v1/users/me/invitations", `{"role":"owner"}`, "Vic")
		wantFault(t, unlink(vic, ben.me.ID), http.StatusForbidden, "forbidden")
		wantFault(t, unlink(ada, ada.me.ID), http.StatusForbidden, "forbidden")
		wantFault(t, unlink(ada, "x"), http.StatusNotFound, "not_found")
		unlink(ada, ben.me.ID).want(t, http.StatusNoContent)
		wantFault(t, ben.send(t, "GET", "/v1/people/me", ""), http.StatusUnauthorized, "unauthorized")
		wantFault(t, stranger.back(t, stranger.visits(t, i, "", as("ben"))), http.StatusForbidden, "forbidden")
		wantFault(t, unlink(ada, ben.me.ID), http.StatusNotFound, "not_found")
	})
}
