package oidc_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
	"github.com/beacon-wifi/beacon/test/harness"
)

// want checks that an error is for people: of a kind, with words that say what to do.
func want(t *testing.T, err error, kind beacon.Kind, words string) {
	t.Helper()
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok || e.Kind != kind || !strings.Contains(e.Message, words) {
		t.Errorf("got %v; want kind %d and %q", err, kind, words)
	}
	if err != nil && len(err.Error()) > 700 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestSignIn(t *testing.T) {
	l := newLiar(t)
	l.claims["groups"] = []string{"wifi-admins", "everyone"}
	i := l.issuer(func(c *oidc.Config) { c.GroupsClaim = "groups"; c.Scopes = []string{"groups", "openid"} })
	address, state, err := i.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if !strings.HasPrefix(address, l.URL+"/auth?") || q.Get("client_id") != "beacon" || q.Get("response_type") != "code" || q.Get("redirect_uri") != l.config().RedirectURL ||
		q.Get("scope") != "groups openid profile" || q.Get("code_challenge_method") != "S256" || len(q.Get("state")) != 43 || len(q.Get("nonce")) != 43 || q.Has("prompt") {
		t.Errorf("the browser is sent to %s", address)
	}
	l.nonce = q.Get("nonce")
	got, err := i.Finish(t.Context(), state, url.Values{"state": {q.Get("state")}, "code": {"c0de"}})
	want := oidc.Identity{Issuer: l.URL, Subject: "248289761001", Name: "Ada Lovelace", Groups: []string{"wifi-admins", "everyone"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	r := l.tokens[0]
	verifier := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	if id, secret, _ := r.BasicAuth(); id != "beacon" || secret != url.QueryEscape("s3cret/+") || r.Form.Get("code") != "c0de" || encode(verifier[:]) != q.Get("code_challenge") || r.Form.Has("client_secret") {
		t.Errorf("the code was exchanged with %v, %q, %q", r.Form, id, secret)
	}
}

// How a client shows who it is follows from what the issuer says, without trying.
func TestSignIn_ClientSecret(t *testing.T) {
	for _, c := range []struct {
		methods       []string
		secret        string
		basic, inBody bool
	}{
		{nil, "s", true, false},
		{[]string{"client_secret_post", "client_secret_basic"}, "s", true, false},
		{[]string{"client_secret_post"}, "s", false, true},
		{[]string{"client_secret_basic"}, "", false, false},
	} {
		l := newLiar(t)
		l.document["token_endpoint_auth_methods_supported"] = c.methods
		if _, err := l.signIn(l.issuer(func(config *oidc.Config) { config.ClientSecret = c.secret })); err != nil {
			t.Error(err)
		}
		r := l.tokens[0]
		_, _, basic := r.BasicAuth()
		if basic != c.basic || r.Form.Has("client_secret") != c.inBody || r.Form.Has("client_id") == c.basic || len(l.tokens) != 1 {
			t.Errorf("%+v: basic %t, form %v, %d requests", c, basic, r.Form, len(l.tokens))
		}
	}
}

func TestFinish_IDToken(t *testing.T) {
	for _, c := range []struct {
		name  string
		claim string
		value any
		words string // none if it is accepted
	}{
		{"nonce of another sign-in", "nonce", "n", "not valid"},
		{"no nonce", "nonce", "", "not valid"},
		{"for another client", "aud", "other", "not valid"},
		{"for several, and this one", "aud", []string{"beacon", "other"}, "not valid"},
		{"for this one among others", "aud", []string{"beacon"}, ""},
		{"issued to another client", "azp", "other", "not valid"},
		{"issued to this client", "azp", "beacon", ""},
		{"expired", "exp", noon.Add(-time.Second).Unix(), "compared"},
		{"not yet good", "nbf", noon.Add(time.Hour).Unix(), "not valid"},
		{"of another issuer", "iss", "https://id.example.org", "not valid"},
		{"of nobody", "sub", "", "not valid"},
		{"of someone with a long name", "sub", strings.Repeat("s", 256), "not valid"},
		{"with the hash of another access token", "at_hash", "AAAAAAAAAAAAAAAAAAAAAA", "not valid"},
		{"with odd claims", "auth_time", "yesterday", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiar(t)
			l.claims[c.claim] = c.value
			got, err := l.signIn(l.issuer(nil))
			if c.words == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			want(t, err, beacon.Unauthorized, c.words)
			if got.Subject != "" {
				t.Errorf("and yet it is %+v", got)
			}
		})
	}
}

func TestFinish_Keys(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	if _, err := l.signIn(i); err != nil {
		t.Fatal(err)
	}
	old := l.key
	// The library may still be about to forget that it fetched the keys before.
	for _, kid := range []string{"second", "second"} {
		l.rotate(kid)
		harness.Eventually(t, "the new keys are fetched", func() bool {
			_, err := l.signIn(i)
			return err == nil
		})
	}
	published := l.published(l.key)
	l.key = old
	l.serve("/keys", func(w http.ResponseWriter, _ *http.Request) {
		l.write(w, map[string]any{"keys": []any{published}})
	})
	_, err := l.signIn(i)
	want(t, err, beacon.Unauthorized, "not valid")
}

// An unsigned token is none, whatever the issuer says that it supports.
func TestFinish_Unsigned(t *testing.T) {
	for _, alg := range []string{"none", "HS256"} {
		l := newLiar(t)
		l.document["id_token_signing_alg_values_supported"] = []string{alg}
		l.serve("/token", func(w http.ResponseWriter, _ *http.Request) {
			parts := strings.Split(l.idToken(), ".")
			w.Header().Set("Content-Type", "application/json")
			l.write(w, map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": encode([]byte(`{"alg":"`+alg+`"}`)) + "." + parts[1] + "."})
		})
		_, err := l.signIn(l.issuer(nil))
		want(t, err, beacon.Unauthorized, "not valid")
	}
}

func TestFinish_Query(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(url.Values)
		words  string
	}{
		{"state of another sign-in", func(q url.Values) { q.Set("state", "s") }, "in another window"},
		{"no state", func(q url.Values) { q.Del("state") }, "in another window"},
		{"two states", func(q url.Values) { q.Add("state", q.Get("state")) }, "not valid"},
		{"two codes", func(q url.Values) { q.Add("code", "other") }, "not valid"},
		{"a long code", func(q url.Values) { q.Set("code", strings.Repeat("c", 5000)) }, "not valid"},
		{"another issuer", func(q url.Values) { q.Set("iss", "https://id.example.org") }, "not valid"},
		{"an empty issuer", func(q url.Values) { q.Set("iss", "") }, "not valid"},
		{"refused", func(q url.Values) { q.Set("error", "access_denied"); q.Set("error_description", "<b>") }, "did not sign you in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiar(t)
			i := l.issuer(nil)
			state, query := l.begin(i, false)
			c.change(query)
			_, err := i.Finish(t.Context(), state, query)
			want(t, err, beacon.Unauthorized, c.words)
			if len(l.tokens) > 0 {
				t.Error("the code was sent to the issuer")
			}
		})
	}
}

// An issuer that says so sends its name with each response: one without is another's.
func TestFinish_MixUp(t *testing.T) {
	l := newLiar(t)
	l.document["authorization_response_iss_parameter_supported"] = true
	i := l.issuer(nil)
	state, query := l.begin(i, false)
	_, err := i.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")
	query.Set("iss", l.URL)
	if _, err := i.Finish(t.Context(), state, query); err != nil {
		t.Error(err)
	}
}

func TestFinish_State(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	state, query := l.begin(i, false)
	for _, other := range []string{"", "{}", "null", "[]", string(bytes.ReplaceAll(state, []byte(`"state":"`), []byte(`"state":"","was":"`)))} {
		_, err := i.Finish(t.Context(), []byte(other), url.Values{"code": {"c0de"}, "state": {""}})
		want(t, err, beacon.Unauthorized, "start again")
	}
	l.now = l.now.Add(oidc.StateLasts)
	_, err := i.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "took too long")
}

func TestFinish_Fresh(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	address, _, err := i.Begin(t.Context(), true)
	if err != nil || !strings.Contains(address, "prompt=login") || !strings.Contains(address, "max_age=300") {
		t.Errorf("%s, %v", address, err)
	}
	for at, ok := range map[any]bool{noon.Add(-time.Minute).Unix(): true, noon.Add(-time.Hour).Unix(): false, nil: false, "now": false} {
		l.claims["auth_time"] = at
		state, query := l.begin(i, true)
		_, err := i.Finish(t.Context(), state, query)
		if ok && err != nil {
			t.Errorf("%v: %v", at, err)
		}
		if !ok {
			want(t, err, beacon.Unauthorized, "sign out there")
		}
	}
}

func TestExchange_Refused(t *testing.T) {
	for _, c := range []struct {
		code   string
		status int
		kind   beacon.Kind
		words  string
	}{
		{"invalid_grant", 400, beacon.Unauthorized, "start again"},
		{"invalid_client", 401, beacon.Conflict, "compare client id"},
		{"redirect_uri_mismatch", 400, beacon.Conflict, "redirect URL"},
		{"server_error", 503, beacon.Overloaded, "try again in a minute"},
	} {
		l := newLiar(t)
		l.serve("/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			l.write(w, map[string]any{"error": c.code, "error_description": strings.Repeat("x", 5000)})
		})
		_, err := l.signIn(l.issuer(nil))
		want(t, err, c.kind, c.words)
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error has the secret: %v", err)
		}
	}
}

// A server starts while its issuer is down, says so, and needs no restart when it is back.
func TestIssuer_Down(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	l.serve("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, strings.Repeat("down ", 1000), http.StatusBadGateway)
	})
	_, _, err := i.Begin(t.Context(), false)
	want(t, err, beacon.Overloaded, "cannot be reached")
	want(t, i.Check(t.Context()), beacon.Overloaded, "cannot be reached")
	l.serve("/.well-known/openid-configuration", nil)
	if err := i.Check(t.Context()); err != nil {
		t.Error(err)
	}
	state, query := l.begin(i, false)
	l.Close()
	_, err = i.Finish(t.Context(), state, query)
	want(t, err, beacon.Overloaded, "cannot be reached")
	want(t, i.Check(t.Context()), beacon.Overloaded, "cannot be reached")
}

func TestIssuer_SaysSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name, field string
		value       any
		kind        beacon.Kind
		words       string
	}{
		{"another name", "issuer", "https://id.example.org", beacon.Conflict, "exactly that"},
		{"an endpoint without TLS", "token_endpoint", "http://192.0.2.7/token", beacon.Conflict, "must not be used"},
		{"no endpoint", "jwks_uri", "", beacon.Conflict, "must not be used"},
		{"an odd endpoint for user info", "userinfo_endpoint", "file:///etc/passwd", beacon.Conflict, "must not be used"},
		{"an odd document", "token_endpoint_auth_methods_supported", 1, beacon.Overloaded, "cannot be reached"},
		{"a long document", "about", strings.Repeat("x", 1<<20), beacon.Overloaded, "cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiar(t)
			i := l.issuer(nil)
			l.document[c.field] = c.value
			_, _, err := i.Begin(t.Context(), false)
			want(t, err, c.kind, c.words)
			want(t, i.Check(t.Context()), c.kind, c.words)
		})
	}
}

func TestIssuer_KeysMissing(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	for _, serve := range []http.HandlerFunc{
		http.NotFound,
		func(w http.ResponseWriter, _ *http.Request) { l.write(w, map[string]any{"keys": []any{}}) },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat(" ", 2<<20)) },
	} {
		l.serve("/keys", serve)
		want(t, i.Check(t.Context()), beacon.Overloaded, "cannot be reached")
		_, err := l.signIn(i)
		want(t, err, beacon.Unauthorized, "keys cannot be fetched")
	}
}

// What the issuer sends is read up to a bound, and waited for up to a bound.
func TestIssuer_LongAndSlow(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	l.serve("/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"a","x":"`+strings.Repeat("x", 2<<20)+`"}`)
	})
	_, err := l.signIn(i)
	want(t, err, beacon.Overloaded, "cannot be reached")

	slow := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	l.serve("/token", slow)
	i.SetTimeout(50 * time.Millisecond)
	_, err = l.signIn(i)
	want(t, err, beacon.Overloaded, "cannot be reached")
	l.serve("/.well-known/openid-configuration", slow)
	l.now = l.now.Add(time.Hour)
	_, _, err = i.Begin(t.Context(), false)
	want(t, err, beacon.Overloaded, "cannot be reached")
}

// What the issuer says of itself is good for an hour.
func TestIssuer_AskedOnce(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	asked := 0
	l.serve("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		l.write(w, l.document)
	})
	for _, step := range []struct {
		later time.Duration
		want  int
	}{{0, 1}, {time.Hour - 1, 1}, {1, 2}} {
		l.now = l.now.Add(step.later)
		if _, err := l.signIn(i); err != nil || asked != step.want {
			t.Errorf("after %v it was asked %d times, %v; want %d", step.later, asked, err, step.want)
		}
	}
}

// Someone who leaves is not waited for, and takes nothing from those who stay.
func TestIssuer_SomeoneLeaves(t *testing.T) {
	l := newLiar(t)
	i := l.issuer(nil)
	asked, release := make(chan struct{}, 10), make(chan struct{})
	l.serve("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-release
		w.Header().Set("Content-Type", "application/json")
		l.write(w, l.document)
	})
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := i.Begin(leaving, false)
		left <- err
	}()
	<-asked
	var staying sync.WaitGroup
	for range 3 {
		staying.Go(func() {
			if _, _, err := i.Begin(t.Context(), false); err != nil {
				t.Error(err)
			}
		})
	}
	leave()
	want(t, <-left, beacon.Overloaded, "cannot be reached")
	close(release)
	staying.Wait()
}

// A redirect takes neither a code nor anything else to another place.
func TestIssuer_Redirects(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was sent elsewhere", r.Method, r.URL)
	}))
	t.Cleanup(thief.Close)
	l := newLiar(t)
	i := l.issuer(nil)
	l.serve("/.well-known/openid-configuration", http.RedirectHandler("/moved", http.StatusFound).ServeHTTP)
	l.serve("/moved", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		l.write(w, l.document)
	})
	for _, to := range []string{thief.URL, l.URL + "/elsewhere"} {
		l.serve("/token", http.RedirectHandler(to, http.StatusTemporaryRedirect).ServeHTTP)
		_, err := l.signIn(i)
		want(t, err, beacon.Overloaded, "cannot be reached")
	}
	l.serve("/keys", http.RedirectHandler(thief.URL, http.StatusFound).ServeHTTP)
	want(t, i.Check(t.Context()), beacon.Overloaded, "cannot be reached")
	rounds := 0
	l.serve("/moved", func(w http.ResponseWriter, r *http.Request) {
		rounds++
		http.Redirect(w, r, "/moved", http.StatusFound)
	})
	want(t, i.Check(t.Context()), beacon.Overloaded, "cannot be reached")
	if rounds > 5 {
		t.Errorf("it went round in circles %d times", rounds)
	}
}

func TestNew_Config(t *testing.T) {
	good := oidc.Config{Issuer: "https://id.example.org/realm", ClientID: "beacon", RedirectURL: "http://localhost:8080/back"}
	if _, err := oidc.New(good); err != nil {
		t.Error(err)
	}
	for words, change := range map[string]func(*oidc.Config){
		"issuer must look like":          func(c *oidc.Config) { c.Issuer = "" },
		"without a user":                 func(c *oidc.Config) { c.Issuer = "https://ada:secret@id.example.org" },
		"issuer http://id.example.org/x": func(c *oidc.Config) { c.Issuer = "http://id.example.org/x" },
		"redirect URL must look":         func(c *oidc.Config) { c.RedirectURL = "/back" },
		"client id":                      func(c *oidc.Config) { c.ClientID = "" },
	} {
		c := good
		change(&c)
		if _, err := oidc.New(c); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v; want %q", err, words)
		}
	}
}
