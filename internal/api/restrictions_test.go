package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// create makes a key over HTTP.
func (c client) create(t testing.TB, body string) (made client, shown map[string]any) {
	t.Helper()
	a := c.post(t, "/v1/keys", body).want(t, http.StatusOK)
	var answer struct{ Data map[string]any }
	if err := json.Unmarshal(a.body, &answer); err != nil {
		t.Fatal(err)
	}
	made = client{server: c.server, plain: answer.Data["key"].(string), key: beacon.KeyID(answer.Data["id"].(string)), user: c.user}
	return made, answer.Data
}

// Decision D107: a restricted key works for pages of its origins and from its addresses.
func TestRestrictions(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin := s.anyone(t, "keys:manage", "rewards:read")
		page, shown := admin.create(t, `{"scopes":["rewards:read"],"origins":["HTTPS://App.Example.org:443"]}`)
		if got := fmt.Sprint(shown["origins"], shown["addresses"], shown["publishable"]); got != "[https://app.example.org] [] false" {
			t.Errorf("the key is shown as %v", shown)
		}
		here, _ := admin.create(t, `{"scopes":[],"addresses":["127.0.0.0/8","::1"]}`)
		away, shown := admin.create(t, `{"scopes":[],"addresses":["192.0.2.0/24","2001:db8::7"]}`)
		if got := fmt.Sprint(shown["origins"], shown["addresses"]); got != "[] [192.0.2.0/24 2001:db8::7/128]" {
			t.Errorf("the key is shown as %v", shown)
		}
		both, _ := admin.create(t, `{"scopes":[],"addresses":["127.0.0.1"],"origins":["`+app+`"]}`)
		for _, path := range []string{
			"/v1/keys/self", "/v1/hotspots/nearby?lat=1&lng=1", "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1", "/v1/events", "/v1/coverage/tiles/0/0/0.mvt", "/v1/keys", "/v1/users/me/rewards",
		} {
			for _, header := range [][]string{nil, {"Origin", other}, {"Origin", "null"}, {"Origin", app, "Origin", other}, {"Referer", app + "/"}} {
				wantFault(t, page.get(t, path, header...), http.StatusForbidden, "forbidden")
				wantFault(t, both.get(t, path, header...), http.StatusForbidden, "forbidden")
			}
			// Nobody can claim another address.
			wantFault(t, away.get(t, path, "X-Forwarded-For", "192.0.2.1", "Origin", app), http.StatusForbidden, "forbidden")
		}
		page.get(t, "/v1/users/me/rewards", "Origin", app).want(t, http.StatusOK)
		both.get(t, "/v1/keys/self", "Origin", app).want(t, http.StatusOK)
		here.get(t, "/v1/keys/self").want(t, http.StatusOK)
		here.get(t, "/v1/keys/self", "Origin", other).want(t, http.StatusOK)
		// Another server reads the same from the database.
		replica := client{server: start(t, s.db, options{limits: ample}), plain: away.plain}
		wantFault(t, replica.get(t, "/v1/keys/self"), http.StatusForbidden, "forbidden")
		list := string(admin.get(t, "/v1/keys").want(t, http.StatusOK).body)
		for _, want := range []string{`"origins":["https://app.example.org"]`, `"addresses":["192.0.2.0/24","2001:db8::7/128"]`, `"publishable":false`} {
			if !strings.Contains(list, want) {
				t.Errorf("%s is not in the list %s", want, list)
			}
		}
	})
}

// A restricted key that was stolen cannot be used up from elsewhere.
func TestRestrictions_Limit(t *testing.T) {
	s := onSQLite(t, options{limits: hourly(2, 3)})
	c := s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some([]string{}), Origins: beacon.Some([]string{app})})
	for range 3 {
		wantFault(t, c.get(t, "/v1/keys/self"), http.StatusForbidden, "forbidden")
	}
	wantLimited(t, c.get(t, "/v1/keys/self"), 3)
	wantRate(t, c.get(t, "/v1/keys/self", "Origin", app).want(t, http.StatusOK), 2, 1)
}

func TestRestrictions_Refused(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "keys:manage")
	for _, tc := range []struct{ body, field string }{
		{`{"scopes":[],"origins":["app.example.org"]}`, "origins"},
		{`{"scopes":[],"origins":"https://app.example.org"}`, "origins"},
		{`{"scopes":[],"origins":null}`, "origins"},
		{`{"scopes":[],"origins":[` + strings.TrimSuffix(strings.Repeat(`"https://a.example",`, 21), ",") + `]}`, "origins"},
		{`{"scopes":[],"addresses":["10.0.0.1/8"]}`, "addresses"},
		{`{"scopes":[],"addresses":["everywhere"]}`, "addresses"},
		{`{"scopes":["keys:manage"],"publishable":true}`, "scopes"},
		{`{"scopes":[],"publishable":"yes"}`, "publishable"},
	} {
		wantFault(t, c.post(t, "/v1/keys", tc.body), http.StatusBadRequest, "invalid_request", tc.field)
	}
}

// A restricted key creates no key that is less restricted.
func TestRestrictions_AreInherited(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.keyOf(t, access.NewUser, access.Creation{
		Scopes: beacon.Some([]string{"keys:manage"}), Origins: beacon.Some([]string{app, other}), Addresses: beacon.Some([]string{"127.0.0.0/8"}),
	})
	for body, want := range map[string]string{
		`{"scopes":[]}`: "[https://app.example.org https://other.example.org] [127.0.0.0/8]",
		`{"scopes":[],"origins":["` + app + `"]}`:   "[https://app.example.org] [127.0.0.0/8]",
		`{"scopes":[],"addresses":["127.0.0.1"]}`:   "[https://app.example.org https://other.example.org] [127.0.0.1/32]",
		`{"scopes":[],"origins":[],"addresses":[]}`: "[https://app.example.org https://other.example.org] [127.0.0.0/8]",
	} {
		var made struct {
			Data struct{ Origins, Addresses []string }
		}
		a := c.post(t, "/v1/keys", body, "Origin", app).want(t, http.StatusOK)
		if err := json.Unmarshal(a.body, &made); err != nil || fmt.Sprint(made.Data.Origins, made.Data.Addresses) != want {
			t.Errorf("%s created a key for %v, %v; want %s", body, made.Data, err, want)
		}
	}
	for _, body := range []string{`{"scopes":[],"origins":["https://evil.example"]}`, `{"scopes":[],"addresses":["0.0.0.0/0"]}`, `{"scopes":[],"addresses":["127.0.0.1","192.0.2.1"]}`} {
		wantFault(t, c.post(t, "/v1/keys", body, "Origin", app), http.StatusForbidden, "forbidden")
	}
}

// A publishable key reads what is public, as a stranger does, and nothing else.
func TestPublishable(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "keys:manage")
		hotspot := c.register(t, 1).ID
		public, shown := c.create(t, `{"scopes":[],"publishable":true}`)
		if shown["publishable"] != true {
			t.Errorf("the key is shown as %v", shown)
		}
		for _, path := range []string{"/v1/hotspots/nearby?lat=1&lng=1", "/v1/hotspots/" + hotspot, "/v1/coverage?north=1&south=0&east=1&west=0", "/v1/coverage/tiles/0/0/0.mvt"} {
			public.get(t, path).want(t, http.StatusOK)
		}
		allowed := 0
		for _, route := range s.api.Routes() {
			method, path, _ := strings.Cut(route, " ")
			path = strings.NewReplacer("{id}", hotspot, "{month}", "2026-10", "{z}/{x}/{y}.mvt", "0/0/0.mvt").Replace(path)
			if strings.Contains(path, "/users/") {
				path = strings.Replace(path, hotspot, "me", 1)
			}
			if strings.HasPrefix(path, "/v1/openapi.") || strings.HasSuffix(path, "/heartbeats") || path == "/v1/devices/link" {
				continue // take other keys, or none
			}
			if a := public.do(t, method, path, ""); a.StatusCode != http.StatusForbidden {
				allowed++
			}
		}
		if allowed != 4 {
			t.Errorf("a publishable key may use %d routes; want 4", allowed)
		}
		// It is not its user: what only an operator sees of a hotspot is not shown.
		s.verify(t, "/v1/hotspots/"+hotspot)
		s.anyone(t, "hotspots:verify").post(t, "/v1/hotspots/"+hotspot+"/verification", `{"lat":41,"lng":-74,"accuracy_m":5,"method":"visit"}`).want(t, http.StatusConflict)
		if !strings.Contains(string(c.get(t, "/v1/hotspots/"+hotspot).body), "unverified_reason") {
			t.Error("its operator is not told why it lost its verification")
		}
		if strings.Contains(string(public.get(t, "/v1/hotspots/"+hotspot).body), "unverified_reason") {
			t.Error("a publishable key shows what is for the operator")
		}
	})
}

// The visitors of a page do not use up what the user's own keys may do.
func TestPublishable_Limit(t *testing.T) {
	s := onSQLite(t, options{limits: hourly(2, 100)})
	own := s.anyone(t)
	for range 3 { // three keys are what a user may use to the limit
		public := s.keyOf(t, own.user, access.Creation{Scopes: beacon.Some([]string{}), Publishable: beacon.Some(true)})
		for range 2 {
			public.get(t, "/v1/coverage/tiles/0/0/0.mvt").want(t, http.StatusOK)
		}
	}
	another := s.keyOf(t, own.user, access.Creation{Scopes: beacon.Some([]string{}), Publishable: beacon.Some(true)})
	another.get(t, "/v1/coverage/tiles/0/0/0.mvt").want(t, http.StatusTooManyRequests)
	own.get(t, "/v1/keys/self").want(t, http.StatusOK)
}

// A response with a secret is never compressed, however long it is.
func TestCompression_NoSecrets(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "keys:manage")
	var origins []string
	for i := range 20 {
		origins = append(origins, fmt.Sprintf(`"https://%s%d.example.org"`, strings.Repeat("a", 150), i))
	}
	a := c.post(t, "/v1/keys", `{"scopes":[],"origins":[`+strings.Join(origins, ",")+`]}`, "Accept-Encoding", "gzip, zstd").want(t, http.StatusOK)
	if len(a.body) < 3000 || a.Header.Get("Content-Encoding") != "" || !slices.Contains([]string{"", "Origin"}, a.Header.Get("Vary")) {
		t.Errorf("a response of %d bytes with a key has the header %v", len(a.body), a.Header)
	}
}
