package api_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// guards says what each route asks of a key. One that asks nothing says why.
var guards = map[string]struct{ scope, reason string }{
	"GET /v1/hotspots/nearby":                        {reason: "any valid key may find hotspots (decision N6)"},
	"GET /v1/hotspots/{id}":                          {reason: "any valid key may read a hotspot (decision N6)"},
	"GET /v1/coverage":                               {reason: "any valid key may see what is covered (decision N6)"},
	"POST /v1/coverage/simulate":                     {reason: "it asks what GET /v1/coverage does, and changes nothing (decision X8)"},
	"GET /v1/coverage/tiles/{z}/{x}/{y}.mvt":         {reason: "it shows what GET /v1/coverage does (decision X8)"},
	"GET /v1/users/{id}/hotspots":                    {reason: "one's own things need no scope; others' need admin"},
	"GET /v1/users/{id}/hotspots/deleted":            {reason: "one's own things need no scope; others' need admin"},
	"GET /v1/keys/self":                              {reason: "whoever holds a key may see what it is (decision X5)"},
	"POST /v1/hotspots":                              {scope: "hotspots:write"},
	"POST /v1/hotspots/batch":                        {scope: "hotspots:write"},
	"GET /v1/hotspots":                               {scope: "hotspots:verify"},
	"GET /v1/hotspots/inventory":                     {scope: "hotspots:verify"},
	"GET /v1/overview":                               {scope: "hotspots:verify"},
	"GET /v1/review":                                 {scope: "hotspots:verify"},
	"DELETE /v1/review/{id}/{kind}":                  {scope: "hotspots:verify"},
	"GET /v1/users/{id}/rewards":                     {scope: "rewards:read"},
	"GET /v1/users/{id}/rewards/history":             {scope: "rewards:read"},
	"GET /v1/users/{id}/rewards/days":                {scope: "rewards:read"},
	"GET /v1/users/{id}/rewards/statements/{month}":  {scope: "rewards:read"},
	"GET /v1/hotspots/{id}/rewards/explain":          {scope: "rewards:read"},
	"PATCH /v1/hotspots/{id}":                        {scope: "hotspots:write"},
	"DELETE /v1/hotspots/{id}":                       {scope: "hotspots:write"},
	"GET /v1/hotspots/{id}/history":                  {reason: "what any key may read of a hotspot, and how it came about (decisions N6, X4)"},
	"GET /v1/events":                                 {reason: "what happens to hotspots, which any key may read; the rest is for its user alone (decision X7)"},
	"GET /v1/hotspots/{id}/neighbours":               {scope: "hotspots:verify"},
	"POST /v1/hotspots/{id}/verification":            {scope: "hotspots:verify"},
	"DELETE /v1/hotspots/{id}/verification":          {scope: "hotspots:verify"},
	"POST /v1/hotspots/{id}/restoration":             {scope: "hotspots:write"},
	"POST /v1/hotspots/{id}/offer":                   {scope: "keys:manage"},
	"GET /v1/hotspots/{id}/offer":                    {reason: "one's own things need no scope; others' need hotspots:verify"},
	"DELETE /v1/hotspots/{id}/offer":                 {scope: "hotspots:write"},
	"POST /v1/hotspots/{id}/offer/acceptance":        {scope: "hotspots:write"},
	"POST /v1/hotspots/{id}/claim":                   {scope: "hotspots:verify"},
	"GET /v1/users/{id}/offers":                      {reason: "one's own things need no scope; others' need admin"},
	"POST /v1/hotspots/{id}/link-code":               {scope: "hotspots:write"},
	"DELETE /v1/hotspots/{id}/device":                {scope: "hotspots:write"},
	"POST /v1/hotspots/{id}/checkins":                {scope: "checkins:write"},
	"POST /v1/hotspots/{id}/heartbeats":              {scope: "device", reason: "a device has a key of its own, and no scopes (decision X3)"},
	"POST /v1/devices/link":                          {scope: "none", reason: "a device that is not linked yet has no key (decision X2)"},
	"POST /v1/devices/enrol":                         {scope: "devices:enrol"},
	"GET /v1/users/{id}/holds":                       {scope: "rewards:read"},
	"POST /v1/holds":                                 {scope: "hotspots:verify"},
	"GET /v1/holds":                                  {scope: "hotspots:verify"},
	"POST /v1/holds/{id}/decisions":                  {scope: "hotspots:verify"},
	"POST /v1/holds/{id}/answer":                     {scope: "hotspots:write"},
	"GET /v1/users/{id}/export":                      {scope: "keys:manage"},
	"GET /v1/users/{id}/quota":                       {reason: "one's own needs no scope; others' need admin"},
	"POST /v1/users/{id}/erasure":                    {scope: "keys:manage"},
	"GET /v1/users/{id}/erasure":                     {scope: "keys:manage"},
	"DELETE /v1/users/{id}/erasure":                  {scope: "keys:manage"},
	"PUT /v1/users/{id}/quota":                       {scope: "admin"},
	"GET /v1/settings":                               {reason: "operators and apps must know whether homes are hidden (decision D141)"},
	"PATCH /v1/settings":                             {scope: "admin"},
	"POST /v1/rewards/estimate":                      {reason: "it asks what planned hotspots would earn, and changes nothing"},
	"GET /v1/operators":                              {scope: "admin"},
	"POST /v1/rewards/replays":                       {scope: "admin"},
	"GET /v1/rewards/months":                         {scope: "admin"},
	"POST /v1/rewards/months/{month}/settlement":     {scope: "admin"},
	"GET /v1/rewards/clock":                          {scope: "admin"},
	"POST /v1/rewards/clock":                         {scope: "admin"},
	"POST /v1/rewards/reopenings":                    {scope: "admin"},
	"POST /v1/rewards/policies":                      {scope: "admin"},
	"POST /v1/macs/releases":                         {scope: "admin"},
	"GET /v1/audit":                                  {scope: "admin"},
	"POST /v1/keys":                                  {scope: "keys:manage"},
	"GET /v1/keys":                                   {scope: "keys:manage"},
	"DELETE /v1/keys/{id}":                           {scope: "keys:manage"},
	"GET /v1/people/me":                              {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"PATCH /v1/people/me":                            {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"GET /v1/people/me/sessions":                     {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"DELETE /v1/people/me/sessions":                  {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"DELETE /v1/people/me/sessions/{id}":             {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"GET /v1/people/me/passkeys":                     {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"DELETE /v1/people/me/passkeys/{id}":             {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"POST /v1/people/me/codes":                       {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"POST /v1/people/me/codes/confirmation":          {reason: "it is about the person who is signed in; a key has none, and gets 403"},
	"PATCH /v1/users/{id}":                           {scope: "keys:manage"},
	"GET /v1/users/{id}/members":                     {scope: "keys:manage"},
	"PATCH /v1/users/{id}/members/{person}":          {scope: "keys:manage"},
	"DELETE /v1/users/{id}/members/{person}":         {scope: "keys:manage"},
	"POST /v1/users/{id}/members/{person}/link":      {scope: "keys:manage"},
	"GET /v1/users/{id}/invitations":                 {scope: "keys:manage"},
	"POST /v1/users/{id}/invitations":                {scope: "keys:manage"},
	"DELETE /v1/users/{id}/invitations/{invitation}": {scope: "keys:manage"},
	"GET /v1/people":                                 {scope: "admin"},
	"GET /v1/people/{id}":                            {scope: "admin"},
	"PATCH /v1/people/{id}":                          {scope: "admin"},
	"DELETE /v1/people/{id}":                         {scope: "admin"},
	"POST /v1/people/{id}/link":                      {scope: "admin"},
	"GET /v1/invitations":                            {scope: "admin"},
	"POST /v1/invitations":                           {scope: "admin"},
	"DELETE /v1/invitations/{invitation}":            {scope: "admin"},
	"GET /v1/openapi.yaml":                           {scope: "none", reason: "it describes the interface to those without a key (decision N24)"},
	"GET /v1/openapi.json":                           {scope: "none", reason: "it describes the interface to those without a key (decision N24)"},
}

// Every route asks for the scope that the table has for it, and for no other.
func TestRoutes_Guards(t *testing.T) {
	level.Repeats(t)
	if got := api.New(api.Config{}).Routes(); !slices.Equal(got, slices.Sorted(maps.Keys(guards))) {
		t.Fatalf("the routes are %q; say here what each asks of a key", got)
	}
	eachStore(t, func(t *testing.T, s *server) {
		scopes := []string{"hotspots:write", "hotspots:verify", "rewards:read", "checkins:write", "keys:manage", "admin"}
		for route, guard := range guards {
			if strings.Contains(route, " /v1/people/me") { // see TestPeople_Matrix
				continue
			}
			method, path, _ := strings.Cut(route, " ")
			path = strings.Replace(path, "users/{id}", "users/me", 1)
			path = strings.Replace(path, "{id}", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", 1)
			path = strings.NewReplacer("{kind}", "too_regular", "{z}", "14", "{x}", "4823", "{y}", "6160").Replace(path)
			path = strings.Replace(path, "/v1/events", "/v1/events?after=x", 1) // or it would never end
			wantDocumented(t, s, route, guard.scope)
			keyless := s.call(t, method, path, "")
			if guard.scope == "none" {
				if keyless.StatusCode == http.StatusUnauthorized || keyless.StatusCode == http.StatusForbidden {
					t.Errorf("%s; want it without a key", keyless)
				}
				continue
			}
			wantFault(t, keyless, http.StatusUnauthorized, "unauthorized")
			if guard.scope == "" && guard.reason == "" {
				t.Errorf("%s: neither a scope nor a reason", route)
			}
			holders := map[string]client{"": s.anyone(t)}
			for _, scope := range scopes {
				holders[scope] = s.anyone(t, scope)
			}
			for scope, c := range holders {
				a := c.do(t, method, path, "")
				if passes := guard.scope == "" || scope == guard.scope || scope == "admin" && guard.scope != "device"; passes == (a.StatusCode == http.StatusForbidden) {
					t.Errorf("%s with the scope %q: %s; it needs %q", route, scope, a, guard.scope)
				}
			}
		}
	})
}

// wantDocumented holds what the document says of a route's key and scope to what
// the table has.
func wantDocumented(t *testing.T, s *server, route, scope string) {
	t.Helper()
	schemes, description := s.document.Needs(t, route)
	wantSchemes, words := []string{"userKey"}, "Needs the scope `"+scope+"`"
	switch scope {
	case "":
		words = "Needs no scope."
	case "none":
		wantSchemes, words = nil, ""
	case "device":
		wantSchemes, words = []string{"deviceKey"}, "Only the device of the hotspot may send them"
	}
	if !slices.Equal(schemes, wantSchemes) || !strings.Contains(strings.Join(strings.Fields(description), " "), words) {
		t.Errorf("the document says that %s takes %v, and: %s; want %v, and %q", route, schemes, description, wantSchemes, words)
	}
}

// What is served nowhere has the shape of this interface, with a key or without.
func TestRoutes_Unknown(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	for _, path := range []string{
		"/v1", "/v1/", "/v1/nope", "/v1/hotspots/", "/v1/hotspots/nearby/", "/v1//hotspots", "/v1/hotspots//nearby", "/v1/hotspots/../keys", "/v1/./keys",
		"/v1/users", "/v1/users/me/", "/v1/users//hotspots", "/v1/users/me/hotspots/", "/v1/keys/", "/v1/keys/self/", "/v1/openapi.xml",
		"/v1/hotspots/a/b", "/v1/hotspots/a/heartbeats/", "/v1/hotspots//heartbeats", "/v1/devices", "/v1/devices/link/", "/v1/events/", "/v2/hotspots", "/V1/keys", "/v1/Keys", "/v1/keys%2Fself", "/v1/hotspots%2Fnearby", "/v1/metrics", "/v1/coverage/", "/v1/coverage/simulate/", "/v1/coverage/tiles", "/v1/coverage/tiles/", "/v1/coverage/tiles/0/0/", "/v1/coverage/tiles/0//0.mvt", "/v1/coverage/tiles/0/0/0/0.mvt",
		"/v1/users/me/rewards/", "/v1/users//rewards", "/v1/users/me/rewards/statements", "/v1/users/me/rewards/statements/", "/v1/users/me/Rewards", "/v1/hotspots/hs_1/rewards",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			wantFault(t, s.call(t, method, path, ""), http.StatusNotFound, "not_found")
		}
		a := c.get(t, path)
		wantFault(t, a, http.StatusNotFound, "not_found")
		if a.Header.Get("Location") != "" {
			t.Errorf("%s sends elsewhere", a)
		}
	}
}

// Every path with every method that it does not take.
func TestRoutes_MethodNotAllowed(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "admin")
	tested := 0
	for path, allow := range map[string]string{
		"/v1/hotspots": "GET, HEAD, POST", "/v1/hotspots/nearby": "GET, HEAD", "/v1/hotspots/hs_1": "DELETE, GET, HEAD, PATCH",
		"/v1/users/me/hotspots": "GET, HEAD", "/v1/users/me": "PATCH", "/v1/people/me": "GET, HEAD, PATCH", "/v1/people/me/codes": "POST", "/v1/invitations": "GET, HEAD, POST", "/v1/keys": "GET, HEAD, POST", "/v1/keys/self": "GET, HEAD", "/v1/keys/key_1": "DELETE",
		"/v1/openapi.yaml": "GET, HEAD", "/v1/openapi.json": "GET, HEAD", "/v1/events": "GET, HEAD", "/v1/devices/link": "POST", "/v1/devices/enrol": "POST",
		"/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1/heartbeats": "POST", "/v1/hotspots/hs_1/heartbeats": "POST", "/v1/hotspots/hs_1/history": "GET, HEAD",
		"/v1/users/me/rewards": "GET, HEAD", "/v1/users/me/rewards/history": "GET, HEAD", "/v1/users/me/rewards/days": "GET, HEAD", "/v1/users/me/rewards/statements/2026-10": "GET, HEAD",
		"/v1/hotspots/hs_1/rewards/explain": "GET, HEAD", "/v1/coverage": "GET, HEAD", "/v1/coverage/simulate": "POST", "/v1/coverage/tiles/0/0/0.mvt": "GET, HEAD",
		"/v1/hotspots/hs_1/verification": "DELETE, POST", "/v1/hotspots/hs_1/link-code": "POST", "/v1/users/me/quota": "GET, HEAD, PUT", "/v1/hotspots/hs_1/device": "DELETE",
	} {
		taken := strings.Split(allow, ", ")
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"} {
			if slices.Contains(taken, method) {
				continue
			}
			tested++
			for _, a := range []answer{s.call(t, method, path, ""), c.do(t, method, path, "", "Origin", "https://evil.example")} {
				if a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != allow {
					t.Errorf("%s; Allow %q; want %q", a, a.Header.Get("Allow"), allow)
				}
				if method != "HEAD" {
					wantFault(t, a, http.StatusMethodNotAllowed, "method_not_allowed")
				}
			}
		}
	}
	if tested < 60 {
		t.Errorf("%d methods were tried", tested)
	}
}

// An id that no database could even look up is one that does not exist.
func TestRoutes_OddIDs(t *testing.T) {
	bodies := map[string]string{ // complete ones, so that the id is what matters
		"POST /v1/hotspots/{id}/verification": `{"lat":1,"lng":1,"accuracy_m":5,"method":"gps"}`,
		"POST /v1/hotspots/{id}/checkins":     `{"install":"0123456789abcdef0123","works":true}`,
		"POST /v1/holds/{id}/decisions":       `{"action":"release","reason":"it is there"}`,
		"POST /v1/hotspots/{id}/claim":        `{"to_user_id":"usr_01kb3gzk00e9x8q6s5t4v3w2y1","reason":"they live there"}`,
		"POST /v1/holds/{id}/answer":          `{"text":"it is there"}`,
		"PATCH /v1/users/{id}":                `{"name":"x"}`,
		"POST /v1/users/{id}/invitations":     `{"role":"viewer"}`,
	}
	eachStore(t, func(t *testing.T, s *server) {
		c, tried := s.anyone(t, "admin"), 0
		for _, route := range s.api.Routes() {
			method, path, _ := strings.Cut(route, " ")
			if !strings.Contains(path, "{id}") || strings.HasSuffix(path, "/heartbeats") || strings.HasPrefix(path, "/v1/people/me/") { // for which this key is wrong
				continue
			}
			tried++
			want, given := http.StatusNotFound, ""
			if method == http.MethodDelete {
				given = "?reason=why"
			}
			if path == "/v1/users/{id}/hotspots" { // nobody has none
				want = http.StatusOK
			}
			for _, odd := range []string{"%00", "hs_%00", "%ff", "usr_%ed%a0%80"} {
				a := c.do(t, method, strings.NewReplacer("{id}", odd, "{month}", "2026-10", "{kind}", "too_regular").Replace(path)+given,
					cmp.Or(bodies[route], "{}"), "Content-Type", "application/json")
				if a.StatusCode != want {
					t.Errorf("%s: %s; want %d", route, a, want)
				}
			}
		}
		if tried < 15 {
			t.Errorf("%d routes were tried", tried)
		}
	})
}

// HEAD says what GET would, without the body.
func TestRoutes_Head(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read")
		made := c.register(t, 1)
		for n := range 4 {
			c.register(t, 2+n) // so that a list of them is too long to be kept until its end
		}
		for _, path := range []string{
			"/v1/hotspots/nearby?lat=40.7&lng=-74&status=all", "/v1/hotspots/nearby", "/v1/hotspots/" + made.ID, "/v1/hotspots/nope", "/v1/users/me/hotspots", "/v1/users/me/hotspots?q=x",
			"/v1/keys", "/v1/keys/self", "/v1/openapi.yaml", "/v1/users/me/rewards", "/v1/users/me/rewards/history?page=0", "/v1/users/me/rewards/days",
			"/v1/users/me/rewards/statements/2026-10", "/v1/hotspots/" + made.ID + "/rewards/explain",
			"/v1/coverage?north=41&south=40&east=-73&west=-75", "/v1/coverage?zoom=-1", "/v1/coverage/tiles/3/2/3.mvt", "/v1/coverage/tiles/3/8/3.mvt",
		} {
			plain := []string{"Accept-Encoding", "identity"} // Go's client asks for gzip on GET alone
			head, get := c.do(t, "HEAD", path, "", plain...), c.get(t, path, plain...)
			if head.StatusCode != get.StatusCode || len(head.body) != 0 {
				t.Errorf("HEAD: %s; GET: %s", head, get)
			}
			if length := get.Header.Get("Content-Length"); length != strconv.Itoa(len(get.body)) {
				t.Errorf("%s: Content-Length %q of %d bytes", path, length, len(get.body))
			}
			for _, name := range []string{"Content-Type", "ETag", "Content-Length"} {
				if head.Header.Get(name) != get.Header.Get(name) {
					t.Errorf("%s: %s %q on HEAD, %q on GET", path, name, head.Header.Get(name), get.Header.Get(name))
				}
			}
		}
	})
}

// A URL that is too long is refused in the shape of this interface, before its
// key is looked at.
func TestRoutes_LongURL(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	start := "/v1/hotspots/nearby?lat=1&lng=1&x="
	c.get(t, start+strings.Repeat("x", 8192-len(start))).want(t, http.StatusOK)
	wantFault(t, c.get(t, start+strings.Repeat("x", 8193-len(start))), http.StatusBadRequest, "invalid_request")
	wantFault(t, s.call(t, "GET", "/v1/"+strings.Repeat("x", 10_000), ""), http.StatusBadRequest, "invalid_request")
	many := start + "1" + strings.Repeat("&a=1", 2000)
	c.get(t, many).want(t, http.StatusOK)
}

// The id of a request is the server's own, and another one each time.
func TestRequestID(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t)
	seen := map[string]bool{}
	for range 20 {
		a := c.get(t, "/v1/keys/self", "X-Request-Id", "req_01kb3gzk00f8m7n6p5q4r3s2t1")
		seen[a.Header.Get("X-Request-Id")] = true
	}
	if len(seen) != 20 || seen["req_01kb3gzk00f8m7n6p5q4r3s2t1"] {
		t.Errorf("20 requests have the ids %v", seen)
	}
}
