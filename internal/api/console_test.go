package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The first key is created with the token, which is in no log.
func TestConsole_FirstKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		token, err := s.Keys.Invite(t.Context(), beacon.Principal{})
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, s.call(t, "POST", "/console/first-key", `{"token":"wrong"}`), http.StatusUnauthorized, "unauthorized")
		wantFault(t, s.call(t, "POST", "/console/first-key", `{}`), http.StatusBadRequest, "missing_parameter", "token")
		wantFault(t, s.call(t, "POST", "/console/first-key", `{"token":"x","scopes":[]}`), http.StatusBadRequest, "invalid_request", "scopes")
		wantFault(t, s.call(t, "GET", "/console/first-key", ""), http.StatusMethodNotAllowed, "method_not_allowed")
		made := data[map[string]any](t, s.call(t, "POST", "/console/first-key", `{"token":"`+token+`"}`), http.StatusOK)
		if key, _ := made["key"].(string); !strings.HasPrefix(key, "bcn_") {
			t.Fatalf("the answer is %v", made)
		}
		s.call(t, "GET", "/v1/keys", "", "Authorization", "Bearer "+made["key"].(string)).want(t, http.StatusOK)
		wantFault(t, s.call(t, "POST", "/console/first-key", `{"token":"`+token+`"}`), http.StatusUnauthorized, "unauthorized")
	})
}

// A link signs in once. Its token is in no log, and it is not that of a first key.
func TestConsole_Link(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		token := s.Keys.Offer(beacon.Key{User: "usr_01kb3gzk00e9x8q6s5t4v3w2y1", Name: "demo", Scopes: []beacon.Scope{beacon.RewardsRead}})
		wantFault(t, s.call(t, "POST", "/console/sign-in", `{"token":"wrong"}`), http.StatusUnauthorized, "unauthorized")
		wantFault(t, s.call(t, "POST", "/console/sign-in", `{}`), http.StatusBadRequest, "missing_parameter", "token")
		for _, method := range []string{"GET", "HEAD"} { // as what opens links ahead sends
			s.call(t, method, "/console/sign-in?token="+token, "").want(t, http.StatusMethodNotAllowed)
		}
		wantFault(t, s.call(t, "POST", "/console/first-key", `{"token":"`+token+`"}`), http.StatusUnauthorized, "unauthorized")
		made := data[map[string]any](t, s.call(t, "POST", "/console/sign-in", `{"token":"`+token+`"}`), http.StatusOK)
		self := data[map[string]any](t, s.call(t, "GET", "/v1/keys/self", "", "Authorization", "Bearer "+made["key"].(string)), http.StatusOK)
		if self["user_id"] != "usr_01kb3gzk00e9x8q6s5t4v3w2y1" || self["expires_at"] == nil {
			t.Errorf("the key is %v", self)
		}
		wantFault(t, s.call(t, "POST", "/console/sign-in", `{"token":"`+token+`"}`), http.StatusUnauthorized, "unauthorized")
	})
}

// ownPage is the header of a request that a page of the console sends.
func ownPage(s *server, more ...string) []string {
	return append([]string{"Origin", s.URL, "Sec-Fetch-Site", "same-origin"}, more...)
}

// A browser gets a cookie for its key, which does what the key does, until the key is
// revoked.
func TestConsole_Session(t *testing.T) {
	t.Parallel()
	s := onSQLite(t, options{limits: ample, origins: []string{"https://app.example"}})
	c := s.anyone(t, "hotspots:write", "keys:manage")
	begin := s.call(t, "POST", "/console/session", "", ownPage(s, "Authorization", "Bearer "+c.plain)...).want(t, http.StatusOK)
	text := begin.Header.Get("Set-Cookie")
	cookie, attributes, _ := strings.Cut(text, "; ")
	if !strings.HasPrefix(cookie, "beacon-session=bcs.") || attributes != "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict" || strings.Contains(text, c.plain[31:61]) {
		t.Errorf("the cookie is %q", text)
	}
	read := func(header ...string) answer {
		return s.call(t, "GET", "/v1/keys/self", "", append(header, "Cookie", cookie)...)
	}
	write := func(header ...string) answer {
		return s.call(t, "POST", "/v1/keys", `{"scopes":[],"name":"made"}`, append(header, "Cookie", cookie)...)
	}
	read().want(t, http.StatusOK)
	read(ownPage(s)...).want(t, http.StatusOK)
	write(ownPage(s)...).want(t, http.StatusOK)
	write("Origin", s.URL).want(t, http.StatusOK)
	// Pages of others have the cookie too, if their site is the same.
	for name, foreign := range map[string][]string{
		"another origin": {"Origin", "https://evil.example"}, "another port": {"Origin", "http://127.0.0.1:1"}, "no origin": {"Origin", "null"},
		"two origins": {"Origin", s.URL, "Origin", "https://evil.example"}, "the same site": {"Origin", s.URL, "Sec-Fetch-Site", "same-site"},
		"another site": {"Origin", s.URL, "Sec-Fetch-Site", "cross-site"}, "an allowed origin": {"Origin", "https://app.example"}, "not an origin": {"Origin", "%"},
	} {
		for _, a := range []answer{write(foreign...), read(foreign...)} {
			wantFault(t, a, http.StatusForbidden, "forbidden")
			if a.Header.Get("Access-Control-Allow-Credentials") != "" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: the header is %v", name, a.Header)
			}
		}
	}
	wantFault(t, write(), http.StatusForbidden, "forbidden")                         // no Origin
	wantFault(t, write("Sec-Fetch-Site", "none"), http.StatusForbidden, "forbidden") // typed into the address bar
	// A key counts, right or wrong, and not the cookie beside it.
	wantFault(t, read("Authorization", "Bearer "+c.plain[:66]+"!"), http.StatusUnauthorized, "unauthorized")
	s.call(t, "GET", "/v1/keys/self", "", "Cookie", "beacon-session=x", "Authorization", "Bearer "+c.plain).want(t, http.StatusOK)
	for _, bad := range []string{cookie + "x", "beacon-session=", cookie + "; " + cookie, "__Host-beacon-session=x; " + cookie, strings.ToUpper(cookie)} {
		wantFault(t, s.call(t, "GET", "/v1/keys/self", "", "Cookie", bad), http.StatusUnauthorized, "unauthorized")
	}
	// A session makes no session, ends at the browser's wish, and with its key.
	wantFault(t, s.call(t, "POST", "/console/session", "", ownPage(s, "Cookie", cookie)...), http.StatusForbidden, "forbidden")
	end := s.call(t, "DELETE", "/console/session", "", ownPage(s, "Cookie", cookie)...).want(t, http.StatusNoContent)
	if got := end.Header.Get("Set-Cookie"); got != "beacon-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict" {
		t.Errorf("at the end, the cookie is %q", got)
	}
	wantFault(t, s.call(t, "DELETE", "/console/session", ""), http.StatusForbidden, "forbidden")
	self := data[map[string]any](t, read(), http.StatusOK)
	s.call(t, "DELETE", "/v1/keys/"+self["id"].(string), "", "Authorization", "Bearer "+c.plain).want(t, http.StatusNoContent)
	wantFault(t, read(), http.StatusUnauthorized, "unauthorized")
}

// Over HTTPS the cookie is for this host alone; over HTTP from elsewhere there is none.
func TestConsole_SessionElsewhere(t *testing.T) {
	t.Parallel()
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "keys:manage")
	begin := func(origin string) answer {
		return s.call(t, "POST", "/console/session", "", "Origin", origin, "Host", strings.TrimPrefix(strings.TrimPrefix(origin, "https://"), "http://"),
			"Authorization", "Bearer "+c.plain)
	}
	secure := begin("https://wifi.example.org").want(t, http.StatusOK).Header.Get("Set-Cookie")
	cookie, attributes, _ := strings.Cut(secure, "; ")
	if !strings.HasPrefix(cookie, "__Host-beacon-session=bcs.") || attributes != "Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Strict" {
		t.Errorf("the cookie is %q", secure)
	}
	wantFault(t, begin("http://wifi.example.org"), http.StatusForbidden, "forbidden")
	wantFault(t, s.call(t, "POST", "/console/session", "", "Authorization", "Bearer "+c.plain), http.StatusForbidden, "forbidden")
	at := func(cookie string) answer {
		return s.call(t, "GET", "/v1/keys/self", "", "Host", "wifi.example.org", "Cookie", cookie)
	}
	at(cookie).want(t, http.StatusOK)
	s.call(t, "GET", "/v1/keys/self", "", "Cookie", cookie).want(t, http.StatusOK) // HTTPS on this machine
	// A page of the same host over plain HTTP may be anyone's on the way.
	write := func(origin string) answer {
		return s.call(t, "POST", "/v1/keys", `{"scopes":[],"name":"made"}`, "Host", "wifi.example.org", "Origin", origin, "Cookie", cookie)
	}
	write("https://wifi.example.org").want(t, http.StatusOK)
	wantFault(t, write("http://wifi.example.org"), http.StatusForbidden, "forbidden")
	// A neighbouring host can set this one, so it does not count.
	wantFault(t, at(strings.TrimPrefix(cookie, "__Host-")), http.StatusUnauthorized, "unauthorized")
}
