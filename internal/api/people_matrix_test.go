package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Every route, for everyone, about what is their account's and what is another's, does what
// the table of permissions says. What someone may not do changes nothing: no row of any table.
func TestPeople_Matrix(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	for name, open := range map[string]func(testing.TB) (*store.DB, string){"sqlite": onFile, "postgres": onPostgres} {
		if name == "postgres" && level.Now() == level.Test {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, address := open(t)
			m := newMatrix(t, start(t, db, options{limits: ample}))
			m.wantWhole(t)
			before := rowsOf(t, address)
			m.each(t, false)
			m.foreignPages(t)
			if after := rowsOf(t, address); !maps.Equal(before, after) {
				t.Errorf("what was refused changed tables: before %v, after %v", before, after)
			}
			m.each(t, true)
			for route := range m.routes {
				if !m.done[route] && fruitless[route] == "" && !slices.Contains(private, route) {
					t.Errorf("%s: nobody who may do it could", route)
				}
			}
		})
	}
}

// fruitless are the routes that nobody completes here, with why.
var fruitless = map[string]string{
	"GET /v1/events": "it would not end: it is asked for a place in the stream that there is not",
	"GET /v1/users/{id}/rewards/statements/{month}": "no month is settled",
	"POST /v1/rewards/months/{month}/settlement":    "no day is closed",
	"POST /v1/rewards/reopenings":                   "no day is closed",
	"POST /v1/rewards/replays":                      "no day is closed",
	"POST /v1/rewards/clock":                        "nothing waits for it",
	"GET /v1/hotspots/{id}/rewards/explain":         "nothing was earned",
	"POST /v1/devices/enrol":                        "nobody here has a key for it",
	"DELETE /v1/people/me/passkeys/{id}":            "there is none; see TestPasskeys_Story",
	"POST /v1/people/me/codes/confirmation":         "it needs the codes; see TestPeople_Codes",
}

// throughout are permissions of no route, with why.
var throughout = map[beacon.Permission]string{beacon.StaffDetails: "it says what is shown of a hotspot, wherever one is shown"}

// scopeOf is what a route is about.
type scopeOf int

const (
	ofAnyone  scopeOf = iota // nothing of an account: whoever has the permission may
	ofAccount                // what is an account's
	ofSelf                   // the person who is signed in
	ofKey                    // the key
)

// about says what a route is about.
func about(route string) scopeOf {
	_, path, _ := strings.Cut(route, " ")
	switch {
	case strings.HasPrefix(path, "/v1/people/me"):
		return ofSelf
	case path == "/v1/keys/self":
		return ofKey
	case slices.Contains([]string{"GET /v1/hotspots/{id}", "GET /v1/hotspots/{id}/history", "GET /v1/hotspots", "POST /v1/holds"}, route):
		return ofAnyone
	case path == "/v1/hotspots" || path == "/v1/hotspots/batch" || strings.HasPrefix(path, "/v1/hotspots/{id}") || strings.HasPrefix(path, "/v1/users/{id}"),
		strings.HasPrefix(path, "/v1/keys"), path == "/v1/holds/{id}/answer":
		return ofAccount
	}
	return ofAnyone
}

// role is someone who sends requests: a person, with a role in the first account or with
// posts, or a key of it.
type role struct {
	send      func(t testing.TB, method, path, body string) answer
	known     bool // they are signed in, or have a key
	role      beacon.Role
	assigned  bool // to an installer: every hotspot of the first account
	posts     []beacon.Post
	key       bool
	scopes    []beacon.Scope
	stranger  bool // the key is of neither account
	published bool // it is for everyone to see
}

// may reports whether someone may use a route, as the table of permissions has it.
func (r *role) may(route string, g beacon.Grant, own bool) bool {
	is := about(route)
	if is == ofAccount && len(g.Roles) == 0 {
		is = ofAnyone // it is done to what is anyone's
	}
	switch {
	case !r.known:
		return false
	case r.key:
		return r.keyMay(route, is, g, own)
	case is == ofKey:
		return false
	case is == ofSelf:
		return true
	case slices.ContainsFunc(r.posts, func(p beacon.Post) bool { return slices.Contains(g.Posts, p) }):
		return true
	case is == ofAnyone:
		return g.Anyone
	case !own || !slices.Contains(g.Roles, r.role):
		return false
	case r.role == beacon.Installer: // no account's things, but who its members are and the hotspots that are assigned
		return g.Permission == beacon.ReadMembers && strings.HasPrefix(route, "GET") || g.Permission == beacon.LinkDevices && r.assigned
	case route == "DELETE /v1/users/{id}/members/{person}": // who reads who they are may leave; for others it takes more
		return slices.Contains(beacon.ManageMembers.Grant().Roles, r.role)
	}
	return true
}

func (r *role) keyMay(route string, is scopeOf, g beacon.Grant, own bool) bool {
	has := func(s beacon.Scope) bool {
		return slices.Contains(r.scopes, s) || slices.Contains(r.scopes, beacon.Admin)
	}
	switch {
	case is == ofSelf:
		return false
	case r.published:
		return slices.Contains([]string{"GET /v1/hotspots/nearby", "GET /v1/hotspots/{id}", "GET /v1/coverage", edge.TilePattern}, route)
	case !g.Anyone && !has(g.Scope):
		return false
	case route == "POST /v1/hotspots/{id}/offer": // staff offer only what nobody looks after
		return own && !r.stranger
	case is == ofAccount && (!own || r.stranger):
		return has(beacon.Admin)
	case strings.Contains(route, "/members/") && g.Scope == beacon.KeysManage, // among people a key does the work of those whose scopes it has
		g.Permission == beacon.ManageMembers && !strings.HasPrefix(route, "GET"):
		return has(beacon.KeysManage) && has(beacon.HotspotsWrite)
	}
	return true
}

// matrix is a network with two accounts, and everyone who may be someone to them.
type matrix struct {
	*server
	routes map[string]beacon.Permission
	who    map[string]*role
	ada    guest    // who does what must have been done before
	owners [2]guest // of the first account and of the second
	helper guest    // an installer of the first, to whom new hotspots are assigned
	made   int      // how many hotspots there were
	things [2]map[string]string
	done   map[string]bool
}

func newMatrix(t *testing.T, s *server) *matrix {
	t.Helper()
	m := &matrix{server: s, routes: map[string]beacon.Permission{}, who: map[string]*role{}, done: map[string]bool{}}
	for _, some := range [][]edge.Route{s.api.Hotspots.Routes(), s.api.Maps.Routes(), s.api.Payments.Routes(), s.api.Accounts.Routes(), s.api.People.Routes(), s.api.Network.Routes()} {
		for _, rt := range some {
			m.routes[rt.Pattern] = rt.Needs
		}
	}
	m.ada = s.firstAdmin(t)
	for i, name := range []string{"Ben", "Cleo"} {
		m.owners[i] = m.ada.invited(t, "/v1/invitations", `{"account":"new"}`, name)
		m.ada.send(t, "PUT", "/v1/users/"+m.owners[i].account+"/quota", `{"hotspots":5000,"keys":5000}`).want(t, http.StatusOK)
	}
	ben := m.owners[0]
	join := func(name, body string) guest { return ben.invited(t, "/v1/users/me/invitations", body, name) }
	m.helper = join("helper", `{"role":"installer"}`)
	m.person("owner", ben, beacon.Owner)
	m.person("manager", join("manager", `{"role":"manager"}`), beacon.Manager)
	m.person("installer", m.helper, beacon.Installer).assigned = true
	m.person("idle installer", join("idle", `{"role":"installer"}`), beacon.Installer)
	m.person("viewer", join("viewer", `{"role":"viewer"}`), beacon.Viewer)
	for _, posts := range [][]beacon.Post{
		{beacon.AdminPost},
		{beacon.Verifier},
		{beacon.Treasurer},
		{beacon.Auditor},
		{beacon.Verifier, beacon.Treasurer},
		{beacon.AdminPost, beacon.Auditor},
		beacon.Posts(),
	} {
		m.staff(t, posts, "")
	}
	m.staff(t, []beacon.Post{beacon.Auditor}, beacon.Viewer)
	m.staff(t, []beacon.Post{beacon.AdminPost}, beacon.Installer) // who judges holds and visits is of another account: see TestTwoPeople_Holds
	for _, gone := range []string{"owner", "manager"} {
		g := join("gone "+gone, `{"role":"`+gone+`"}`)
		m.ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"posts":["admin","verifier"]}`).want(t, http.StatusOK)
		m.ada.send(t, "PATCH", "/v1/people/"+g.me.ID, `{"suspended":true}`).want(t, http.StatusOK)
		m.person("suspended "+gone, g, "").known = false
	}
	out := join("out", `{"role":"owner"}`)
	out.send(t, "DELETE", "/console/session", "").want(t, http.StatusNoContent)
	m.person("signed out", out, "").known = false
	m.person("nobody", guest{server: s}, "").known = false
	m.keyed(t, "key", ben.account)
	m.keyed(t, "operator's key", ben.account, beacon.HotspotsWrite, beacon.RewardsRead, beacon.KeysManage)
	m.keyed(t, "key for keys", ben.account, beacon.KeysManage)
	m.keyed(t, "verifier's key", access.NewUser, beacon.HotspotsVerify)
	m.keyed(t, "app's key", access.NewUser, beacon.CheckInsWrite)
	m.keyed(t, "admin's key", access.NewUser, beacon.Admin)
	m.keyed(t, "publishable key", ben.account).published = true
	for i := range m.things {
		m.things[i] = map[string]string{}
		for _, kind := range []string{"hotspot", "device", "deleted", "flagged", "key", "member", "invitation", "hold"} {
			m.things[i][kind] = m.fresh(t, kind, i)
		}
		m.things[i]["person"], m.things[i]["staff invitation"] = m.fresh(t, "person", i), m.fresh(t, "staff invitation", i)
	}
	return m
}

func (m *matrix) person(name string, g guest, is beacon.Role) *role {
	m.who[name] = &role{send: g.send, known: true, role: is}
	return m.who[name]
}

func (m *matrix) staff(t *testing.T, posts []beacon.Post, is beacon.Role) {
	t.Helper()
	name := fmt.Sprint(posts, is)
	g := m.ada.invited(t, "/v1/invitations", `{"posts":["`+strings.Join(edge.Texts(posts), `","`)+`"]}`, name)
	if is != "" {
		made := data[shapes.CreatedInvitation](t, m.owners[0].send(t, "POST", "/v1/users/me/invitations", `{"role":"`+string(is)+`"}`), http.StatusOK)
		g = g.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`"}`)
	}
	g.account = "" // or that of their only membership, which is the network
	if is != "" {
		g.account = m.owners[0].account
	}
	m.person(name, g, is).posts = posts
}

func (m *matrix) keyed(t *testing.T, name, account string, scopes ...beacon.Scope) *role {
	t.Helper()
	in := access.Creation{Scopes: beacon.Some(edge.Texts(scopes))}
	var header []string
	if name == "publishable key" {
		const origin = "https://app.example"
		in.Publishable, in.Origins = beacon.Some(true), beacon.Some([]string{origin})
		header = []string{"Origin", origin}
	}
	c := m.keyOf(t, beacon.UserID(account), in)
	m.who[name] = &role{key: true, known: true, scopes: scopes, stranger: account == access.NewUser, send: func(t testing.TB, method, path, body string) answer {
		return c.do(t, method, path, body, header...)
	}}
	return m.who[name]
}

// implicit are the routes that act for the account of whoever sends a request, and no other.
var implicit = []string{"POST /v1/hotspots", "POST /v1/hotspots/batch"}

// hidden are the routes that say of another account's thing that there is none.
var hidden = []string{"DELETE /v1/keys/{id}", "POST /v1/holds/{id}/answer", "POST /v1/hotspots/{id}/restoration"}

// private are the routes of what is between two accounts, and is hidden from all others, and one
// for who has no hotspot nearby: see TestPeopleHandOver.
var private = []string{
	"POST /v1/hotspots/{id}/claim",
	"GET /v1/hotspots/{id}/offer", "DELETE /v1/hotspots/{id}/offer", "POST /v1/hotspots/{id}/offer/acceptance",
}

// each sends the requests of those who may do them, or of those who may not.
func (m *matrix) each(t *testing.T, may bool) {
	t.Helper()
	for _, route := range slices.Sorted(maps.Keys(m.routes)) {
		if slices.Contains(private, route) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(m.who)) {
			for account, own := range []bool{true, false} {
				if !own && (about(route) != ofAccount || slices.Contains(implicit, route)) || m.who[name].may(route, m.routes[route].Grant(), own) != may {
					continue
				}
				if said, ruled := m.who[name].says(route, own); ruled && m.who[name].known && !m.who[name].key && said != may {
					t.Errorf("%s as %s, own account: %t: the table of permissions says that they may: %t", route, name, own, may)
				}
				if may {
					m.allowed(t, route, name, account)
				} else {
					m.refused(t, route, name, account)
				}
			}
		}
	}
}

// foreignPages wants every door shut for pages of other sites, whoever is signed in.
func (m *matrix) foreignPages(t *testing.T) {
	t.Helper()
	doors := slices.Concat(m.api.People.ConsoleRoutes(), m.api.Accounts.ConsoleRoutes())
	for _, door := range doors {
		method, path, _ := strings.Cut(door.Pattern, " ")
		if method == http.MethodGet {
			continue // which never signs in
		}
		a := m.call(t, method, path, `{"token":"x"}`, "Cookie", m.ada.cookie, "Beacon-Account", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
		if a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusUnauthorized || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("from a page of another site: %s, and the cookie %s", a, a.Header.Get("Set-Cookie"))
		}
	}
	if len(doors) < 15 {
		t.Errorf("there are %d doors", len(doors))
	}
}

func (m *matrix) refused(t *testing.T, route, name string, account int) {
	t.Helper()
	r, things := m.who[name], m.things[account]
	things["account"], things["reserved"] = m.owners[account].account, mac(1)
	method, _, _ := strings.Cut(route, " ")
	a := r.send(t, method, path(route, things), m.body(route, things))
	switch {
	case !r.known && a.StatusCode == http.StatusUnauthorized, r.known && a.StatusCode == http.StatusForbidden:
	case r.known && account == 1 && slices.Contains(hidden, route) && a.StatusCode == http.StatusNotFound:
	case r.known && about(route) == ofKey && a.StatusCode == http.StatusForbidden:
	default:
		t.Errorf("%s as %s, own account: %t: %s; want it refused", route, name, account == 0, a)
	}
}

func (m *matrix) allowed(t *testing.T, route, name string, account int) {
	t.Helper()
	method, _, _ := strings.Cut(route, " ")
	things := maps.Clone(m.things[account])
	things["account"] = m.owners[account].account
	if kind := uses(route); kind != "" && method != http.MethodGet {
		things[kind] = m.fresh(t, kind, account)
	}
	erasure := "/v1/users/" + things["account"] + "/erasure"
	if route == "DELETE /v1/users/{id}/erasure" {
		m.owners[account].send(t, "POST", erasure, "").want(t, http.StatusOK)
	}
	a := m.who[name].send(t, method, path(route, things), m.body(route, things))
	if a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden || a.StatusCode >= 500 {
		t.Errorf("%s as %s, own account: %t: %s; want that they may", route, name, account == 0, a)
	}
	if a.StatusCode < 300 {
		m.done[route] = true
	} else if route == "POST /v1/rewards/policies" && m.done[route] && a.StatusCode == http.StatusConflict {
		return // it was adopted by another
	} else if fruitless[route] == "" {
		t.Errorf("%s as %s, own account: %t: %s; want it done", route, name, account == 0, a)
	}
	if route == "POST /v1/users/{id}/erasure" { // or nothing could be made for it any more
		m.owners[account].send(t, "DELETE", erasure, "").want(t, http.StatusNoContent)
	}
}

// wantWhole wants each route to need a permission that is in the table, and each row of the
// table to be used by a route.
func (m *matrix) wantWhole(t *testing.T) {
	t.Helper()
	used, inTable := map[beacon.Permission]bool{}, map[beacon.Permission]bool{}
	for _, g := range beacon.Grants() {
		if inTable[g.Permission] {
			t.Errorf("%q is in the table twice", g.Permission)
		}
		inTable[g.Permission] = true
	}
	for route, needs := range m.routes {
		if _, ruled := rights[route]; ruled == (unruled[route] != "") && about(route) != ofSelf {
			t.Errorf("nobody decided who may %s", route)
		}
		if used[needs] = true; !inTable[needs] {
			t.Errorf("%s needs %q, which is not in the table of permissions", route, needs)
		}
	}
	for needs := range inTable {
		if used[needs] == (throughout[needs] != "") {
			t.Errorf("%q is asked for by a route: %t; want otherwise", needs, used[needs])
		}
	}
	for _, route := range m.api.Routes() { // those that ask for no permission
		if _, guarded := m.routes[strings.Replace(route, "{y}.mvt", "{tile}", 1)]; !guarded && guards[route].scope != "none" && guards[route].scope != "device" {
			t.Errorf("%s asks for no permission", route)
		}
	}
}
