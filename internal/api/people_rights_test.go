package api_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// right is who may use a route: by their role for what is their account's, by their post for
// what is anyone's. It is written out, and shares nothing with the table of permissions.
type right struct{ roles, posts string }

const (
	everyRole = "owner manager installer viewer"
	everyPost = "admin verifier treasurer auditor"
)

// rights are those of every route that asks for a permission, but for what all may do. TestPeople_Matrix
// holds them to the table of permissions.
var rights = map[string]right{
	"POST /v1/hotspots":                              {"owner manager", ""},
	"POST /v1/hotspots/batch":                        {"owner manager", ""},
	"GET /v1/hotspots":                               {"", "admin verifier"},
	"GET /v1/hotspots/inventory":                     {"", "admin verifier"},
	"GET /v1/overview":                               {"", everyPost},
	"GET /v1/review":                                 {"", "verifier"},
	"DELETE /v1/review/{id}/{kind}":                  {"", "verifier"},
	"GET /v1/users/{id}/hotspots":                    {"owner manager viewer", ""},
	"GET /v1/users/{id}/hotspots/deleted":            {"owner manager viewer", ""},
	"GET /v1/users/{id}/rewards":                     {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/history":             {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/days":                {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/rewards/statements/{month}":  {"owner manager viewer", "treasurer auditor"},
	"GET /v1/users/{id}/holds":                       {"owner manager viewer", "treasurer auditor"},
	"GET /v1/hotspots/{id}/rewards/explain":          {"owner manager viewer", "treasurer auditor"},
	"PATCH /v1/hotspots/{id}":                        {"owner manager", ""},
	"DELETE /v1/hotspots/{id}":                       {"owner manager", ""},
	"POST /v1/hotspots/{id}/offer":                   {"owner", ""},
	"POST /v1/hotspots/{id}/claim":                   {"", "verifier"},
	"GET /v1/users/{id}/offers":                      {"owner manager viewer", ""},
	"POST /v1/hotspots/{id}/link-code":               {"owner manager installer", ""},
	"DELETE /v1/hotspots/{id}/device":                {"owner manager installer", ""},
	"GET /v1/hotspots/{id}/neighbours":               {"", "verifier"},
	"POST /v1/hotspots/{id}/verification":            {"", "verifier"},
	"DELETE /v1/hotspots/{id}/verification":          {"", "verifier"},
	"POST /v1/hotspots/{id}/checkins":                {"", ""},
	"POST /v1/devices/enrol":                         {"", ""},
	"POST /v1/holds":                                 {"", "treasurer"},
	"GET /v1/holds":                                  {"", "verifier treasurer auditor"},
	"GET /v1/users/{id}/quota":                       {"owner manager viewer", "admin"},
	"PUT /v1/users/{id}/quota":                       {"", "admin"},
	"GET /v1/users/{id}/export":                      {"owner", ""},
	"GET /v1/users/{id}/erasure":                     {"owner", ""},
	"PATCH /v1/settings":                             {"", "admin"},
	"GET /v1/operators":                              {"", "admin treasurer auditor"},
	"POST /v1/rewards/replays":                       {"", "admin treasurer auditor"},
	"GET /v1/rewards/months":                         {"", "admin treasurer auditor"},
	"POST /v1/rewards/months/{month}/settlement":     {"", "treasurer"},
	"GET /v1/rewards/clock":                          {"", "admin treasurer auditor"},
	"POST /v1/rewards/clock":                         {"", "treasurer"},
	"POST /v1/rewards/reopenings":                    {"", "treasurer"},
	"POST /v1/rewards/policies":                      {"", "admin"},
	"POST /v1/macs/releases":                         {"", "admin"},
	"GET /v1/audit":                                  {"", "admin auditor"},
	"POST /v1/hotspots/{id}/restoration":             {"owner manager", ""},
	"POST /v1/holds/{id}/answer":                     {"owner manager", ""},
	"POST /v1/holds/{id}/decisions":                  {"", "treasurer"},
	"POST /v1/users/{id}/erasure":                    {"owner", ""},
	"DELETE /v1/users/{id}/erasure":                  {"owner", ""},
	"DELETE /v1/users/{id}/members/{person}":         {"owner manager", "admin"},
	"DELETE /v1/users/{id}/invitations/{invitation}": {"owner manager", "admin"},
	"DELETE /v1/invitations/{invitation}":            {"", "admin"},
	"DELETE /v1/keys/{id}":                           {"owner manager", "admin"},
	"POST /v1/keys":                                  {"owner manager", "admin"},
	"GET /v1/keys":                                   {"owner manager", "admin"},
	"PATCH /v1/users/{id}":                           {"owner manager", "admin"},
	"GET /v1/users/{id}/members":                     {everyRole, "admin"},
	"GET /v1/users/{id}/invitations":                 {"owner manager", "admin"},
	"POST /v1/users/{id}/invitations":                {"owner manager", "admin"},
	"PATCH /v1/users/{id}/members/{person}":          {"owner manager", "admin"},
	"POST /v1/users/{id}/members/{person}/link":      {"owner manager", "admin"},
	"GET /v1/people":                                 {"", "admin"},
	"GET /v1/people/{id}":                            {"", "admin"},
	"PATCH /v1/people/{id}":                          {"", "admin"},
	"DELETE /v1/people/{id}":                         {"", "admin"},
	"POST /v1/people/{id}/link":                      {"", "admin"},
	"GET /v1/invitations":                            {"", "admin"},
	"POST /v1/invitations":                           {"", "admin"},
}

// unruled are the routes that are not for some roles and posts, with whom they are for.
var unruled = map[string]string{
	"GET /v1/hotspots/nearby": "everyone", "GET /v1/hotspots/{id}": "everyone", "GET /v1/coverage": "everyone", "POST /v1/coverage/simulate": "everyone",
	"GET /v1/coverage/tiles/{z}/{x}/{tile}": "everyone", "GET /v1/hotspots/{id}/history": "everyone", "GET /v1/events": "everyone",
	"GET /v1/settings": "everyone", "POST /v1/rewards/estimate": "everyone", "GET /v1/keys/self": "keys alone",
	"GET /v1/hotspots/{id}/offer": "both accounts", "DELETE /v1/hotspots/{id}/offer": "both accounts", "POST /v1/hotspots/{id}/offer/acceptance": "who it is offered to",
}

// says reports what is written here of someone who is signed in, and whether anything is.
func (r *role) says(route string, own bool) (may, ruled bool) {
	want, ruled := rights[route]
	may = slices.ContainsFunc(r.posts, func(p beacon.Post) bool { return slices.Contains(strings.Fields(want.posts), string(p)) })
	if own && slices.Contains(strings.Fields(want.roles), string(r.role)) {
		may = may || r.role != beacon.Installer || r.assigned || strings.HasPrefix(route, "GET")
	}
	return may, ruled
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
