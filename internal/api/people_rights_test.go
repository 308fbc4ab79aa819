package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// right is who may use a route: by their role for what is their account's, by their post for
// what is anyone's. It is written out, and shares nothing with the table of permissions.
type right struct{ roles, posts string }

const (
	everyRole = "owner manager installer viewer"
	everyPost = "admin verifier treasurer auditor"
)

// rights are those of every route that asks for a permission, but for what all may do.
var rights = map[string]right{
	"POST /v1/hotspots":                             {"owner manager", ""},
	"POST /v1/hotspots/batch":                       {"owner manager", ""},
	"GET /v1/hotspots":                              {"", "admin verifier"},
	"GET /v1/hotspots/inventory":                    {"", "admin verifier"},
	"GET /v1/overview":                              {"", everyPost},
	"GET /v1/review":                                {"", "verifier"},
	"DELETE /v1/review/{id}/{kind}":                 {"", "verifier"},
	"GET /v1/users/{id}/hotspots":                   {"owner manager viewer", ""},
	"GET /v1/users/{id}/hotspots/deleted":           {"owner manager viewer", ""},
	"GET /v1/users/{id}/rewards":                    {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/history":            {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/days":               {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/statements/{month}": {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/holds":                      {"owner manager viewer", "treasurer auditor"},
	"GET /v1/hotspots/{id}/rewards/explain":         {"owner manager viewer", "treasurer auditor"},
	"PATCH /v1/hotspots/{id}":                       {"owner manager", ""},
	"DELETE /v1/hotspots/{id}":                      {"owner manager", ""},
	"POST /v1/hotspots/{id}/offer":                  {"owner", ""},
	"POST /v1/hotspots/{id}/claim":                  {"", "verifier"},
	"GET /v1/users/{id}/offers":                     {"owner manager viewer", ""},
	"POST /v1/hotspots/{id}/link-code":              {"owner manager installer", ""},
	"DELETE /v1/hotspots/{id}/device":               {"owner manager installer", ""},
	"GET /v1/hotspots/{id}/neighbours":              {"", "verifier"},
	"POST /v1/hotspots/{id}/verification":           {"", "verifier"},
	"DELETE /v1/hotspots/{id}/verification":         {"", "verifier"},
	"POST /v1/hotspots/{id}/checkins":               {"", ""},
	"POST /v1/devices/enrol":                        {"", ""},
	"POST /v1/holds":                                {"", "treasurer"},
	"GET /v1/holds":                                 {"", "verifier treasurer auditor"},
	"GET /v1/users/{id}/quota":                      {"owner manager viewer", "admin"},
	"PUT /v1/users/{id}/quota":                      {"", "admin"},
	"GET /v1/users/{id}/export":                     {"owner", ""},
	"GET /v1/users/{id}/erasure":                    {"owner", ""},
	"PATCH /v1/settings":                            {"", "admin"},
	"GET /v1/operators":                             {"", "admin treasurer auditor"},
	"POST /v1/rewards/replays":                      {"", "admin treasurer auditor"},
	"GET /v1/rewards/months":                        {"", "admin treasurer auditor"},
	"POST /v1/rewards/months/{month}/settlement":    {"", "treasurer"},
	"GET /v1/rewards/clock":                         {"", "admin treasurer auditor"},
	"POST /v1/rewards/clock":                        {"", "treasurer"},
	"POST /v1/rewards/reopenings":                   {"", "treasurer"},
	"POST /v1/rewards/policies":                     {"", "admin"},
	"POST /v1/macs/releases":                        {"", "admin"},
	"GET /v1/audit":                                 {"", "admin auditor"},
	"POST /v1/keys":                                 {"owner manager", "admin"},
	"GET /v1/keys":                                  {"owner manager", "admin"},
	"PATCH /v1/users/{id}":                          {"owner manager", "admin"},
	"GET /v1/users/{id}/members":                    {everyRole, "admin"},
	"GET /v1/users/{id}/invitations":                {"owner manager", "admin"},
	"POST /v1/users/{id}/invitations":               {"owner manager", "admin"},
	"PATCH /v1/users/{id}/members/{person}":         {"owner manager", "admin"},
	"POST /v1/users/{id}/members/{person}/link":     {"owner manager", "admin"},
	"GET /v1/people":                                {"", "admin"},
	"GET /v1/people/{id}":                           {"", "admin"},
	"PATCH /v1/people/{id}":                         {"", "admin"},
	"DELETE /v1/people/{id}":                        {"", "admin"},
	"POST /v1/people/{id}/link":                     {"", "admin"},
	"GET /v1/invitations":                           {"", "admin"},
	"POST /v1/invitations":                          {"", "admin"},
}

// unruled are the routes that are for everyone, or whose rights other tests have, with why.
var unruled = map[string]string{
	"GET /v1/hotspots/nearby": "everyone", "GET /v1/hotspots/{id}": "everyone", "GET /v1/coverage": "everyone", "POST /v1/coverage/simulate": "everyone",
	"GET /v1/coverage/tiles/{z}/{x}/{y}.mvt": "everyone", "GET /v1/keys/self": "keys alone", "GET /v1/hotspots/{id}/history": "everyone", "GET /v1/events": "everyone",
	"GET /v1/settings": "everyone", "POST /v1/rewards/estimate": "everyone", "GET /v1/openapi.yaml": "everyone", "GET /v1/openapi.json": "everyone",
	"POST /v1/devices/link": "no one is signed in", "POST /v1/hotspots/{id}/heartbeats": "devices", "DELETE /v1/keys/{id}": "404 for others, see TestPeople_Escalation",
	"GET /v1/hotspots/{id}/offer": "404 for others, see TestPeopleHandOver", "DELETE /v1/hotspots/{id}/offer": "404 for others, see TestPeopleHandOver",
	"POST /v1/hotspots/{id}/offer/acceptance": "404 for others, see TestPeopleHandOver",
	"POST /v1/hotspots/{id}/restoration": "there is none to restore", "POST /v1/holds/{id}/answer": "there is no hold", "POST /v1/holds/{id}/decisions": "there is no hold",
	"POST /v1/users/{id}/erasure": "it would begin", "DELETE /v1/users/{id}/erasure": "there is none", "DELETE /v1/users/{id}/members/{person}": "anyone may leave",
	"DELETE /v1/users/{id}/invitations/{invitation}": "see TestPeople_Escalation", "DELETE /v1/invitations/{invitation}": "see TestPeople_Escalation",
}

// Every route, with every role and post, for what is one's own and what is not, does what the
// table above has.
func TestPeople_Rights(t *testing.T) {
	level.Repeats(t)
	eachStore(t, func(t *testing.T, s *server) {
		ada := s.firstAdmin(t)
		ben := ada.invited(t, "/v1/invitations", `{"account":"new"}`, "Ben")
		own := data[hotspot](t, ben.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
		foreign := data[hotspot](t, ada.send(t, "POST", "/v1/hotspots", registration(2)), http.StatusCreated).ID
		who := map[string]guest{"owner": ben}
		for _, role := range strings.Fields(everyRole)[1:] {
			body := `{"role":"` + role + `"}`
			if role == "installer" {
				body = `{"role":"installer","hotspots":["` + own + `"]}`
			}
			who[role] = ben.invited(t, "/v1/users/me/invitations", body, role)
		}
		for _, post := range strings.Fields(everyPost) {
			who[post] = ada.invited(t, "/v1/invitations", `{"posts":["`+post+`"]}`, post)
		}
		for _, route := range s.api.Routes() {
			want, ruled := rights[route]
			if !ruled {
				if unruled[route] == "" && !strings.Contains(route, "/v1/people/me") {
					t.Errorf("nobody decided who may %s", route)
				}
				continue
			}
			method, path, _ := strings.Cut(route, " ")
			for name, g := range who {
				byRole, byPost := slices.Contains(strings.Fields(want.roles), name), slices.Contains(strings.Fields(want.posts), name)
				for _, mine := range []bool{true, false} {
					account, h := ben.account, own
					if !mine {
						account, h = ada.account, foreign
					}
					subject := h
					bound := strings.Contains(path, "/users/{id}") || strings.Contains(path, "/hotspots/{id}")
					if strings.Contains(path, "/users/{id}") {
						subject = account
					}
					if !bound && !mine {
						continue
					}
					at := strings.NewReplacer("{id}", subject, "{month}", "2026-10", "{kind}", "too_regular", "{person}", "per_01kb3gzk00e9x8q6s5t4v3w2y1").Replace(path)
					body, may := "", byPost || byRole && mine
					if method != http.MethodGet {
						body = rightsBodies[route]
					}
					if method == http.MethodDelete {
						at += "?reason=x"
					}
					a := g.send(t, method, at, body)
					refused := a.StatusCode == http.StatusForbidden || a.StatusCode == http.StatusUnauthorized
					if refused == may {
						t.Errorf("%s as %s, own: %t: %s; want that they may: %t", route, name, mine, a, may)
					}
					if may && method == http.MethodDelete && a.StatusCode == http.StatusNoContent && path == "/v1/hotspots/{id}" {
						own = data[hotspot](t, ben.send(t, "POST", "/v1/hotspots", registration(1)), http.StatusCreated).ID
						ben.send(t, "PATCH", "/v1/users/me/members/"+who["installer"].me.ID, `{"hotspots":["`+own+`"]}`).want(t, http.StatusOK)
					}
				}
			}
		}
		if len(beacon.Grants()) < 20 || len(rights) < 50 {
			t.Error("the tables are not whole")
		}
	})
}

// rightsBodies are complete where a route looks at its body before it asks whose a thing is.
var rightsBodies = map[string]string{
	"POST /v1/hotspots/{id}/verification":   `{"lat":1,"lng":1,"accuracy_m":5,"method":"gps"}`,
	"POST /v1/hotspots/{id}/offer":          `{}`,
	"POST /v1/hotspots/{id}/claim":          `{"to_user_id":"usr_01kb3gzk00e9x8q6s5t4v3w2y1","reason":"r"}`,
	"PATCH /v1/users/{id}":                  `{"name":"x"}`,
	"POST /v1/users/{id}/invitations":       `{"role":"viewer"}`,
	"PATCH /v1/users/{id}/members/{person}": `{"role":"viewer"}`,
	"PUT /v1/users/{id}/quota":              `{}`,
	"PATCH /v1/hotspots/{id}":               `{"name":"Another"}`,
}

// The guide shows the table of permissions as it is.
func TestPeople_Page(t *testing.T) {
	const path = "../../docs/people.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, g := range beacon.Grants() {
		if len(g.Roles)+len(g.Posts) > 0 {
			fmt.Fprintf(&rows, "| %s | %s | %s |\n", g.May, holders(g.Roles, beacon.Roles(), g.Anyone), holders(g.Posts, beacon.Posts(), g.Anyone))
		}
	}
	table := regexp.MustCompile("(\\| You may … .*\n\\|---\\|---\\|---\\|\n)(?:\\|.*\n)*")
	want := table.ReplaceAllString(string(page), "${1}"+rows.String())
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if d := diff.Diff(want, string(page)); d != "" || len(table.FindAll(page, -1)) != 1 {
		t.Errorf("docs/people.md differs from the table of permissions (-): run make generate\n%s", d)
	}
}

// holders names who has a permission.
func holders[T ~string](some, all []T, anyone bool) string {
	if anyone || len(some) == len(all) {
		return "all"
	}
	var names []string
	for _, one := range some {
		names = append(names, string(one))
	}
	return cmp.Or(strings.Join(names, ", "), "–")
}
