package oidc_test

import (
	"bufio"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

const redirect = "http://127.0.0.1:9/sign-in/back"

// startProvider starts an issuer that others wrote (testdata/provider), and returns its address.
func startProvider(t *testing.T) string {
	t.Helper()
	level.Tool(t, "npm", "npm")
	folder := filepath.Join(t.TempDir(), "provider")
	if err := os.CopyFS(folder, os.DirFS("testdata/provider")); err != nil {
		t.Fatal(err)
	}
	harness.RunTool(t, folder, nil, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund")
	cmd := exec.Command("node", "issuer.js", redirect)
	cmd.Dir, cmd.Stderr = folder, t.Output()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends then
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// walk follows a browser through the issuer until it comes back, and returns the query.
func walk(t *testing.T, address string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 10 {
		response, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		to, err := response.Location()
		if err != nil {
			t.Fatalf("%s: %s, %v", address, response.Status, err)
		}
		if address = to.String(); strings.HasPrefix(address, redirect) {
			return to.Query()
		}
	}
	t.Fatal("the browser never came back")
	return nil
}

// An issuer that others wrote, and what goes wrong between it and a browser.
func TestProvider(t *testing.T) {
	address := startProvider(t)
	now := time.Now()
	issuer := func(client, secret string) *oidc.Issuer {
		i, err := oidc.New(oidc.Config{
			Issuer: address, ClientID: client, ClientSecret: secret, RedirectURL: redirect,
			Scopes: []string{"groups"}, GroupsClaim: "groups", Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	// begin goes to the issuer, with an address that was changed.
	begin := func(i *oidc.Issuer, fresh bool, change func(url.Values)) (state []byte, query url.Values) {
		t.Helper()
		to, state, err := i.Begin(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		asked := u.Query()
		if change != nil {
			change(asked)
		}
		u.RawQuery = asked.Encode()
		return state, walk(t, u.String())
	}
	ada := oidc.Identity{Issuer: address, Subject: "ada-01", Name: "Ada Lovelace", Groups: []string{"staff"}}
	basic := issuer("basic", "s3cret/+")
	for name, i := range map[string]*oidc.Issuer{"basic": basic, "public": issuer("public", "")} {
		for _, fresh := range []bool{false, true} {
			state, query := begin(i, fresh, nil)
			if query.Get("iss") != address {
				t.Errorf("the issuer does not name itself: %v", query)
			}
			if got, err := i.Finish(t.Context(), state, query); err != nil || !reflect.DeepEqual(got, ada) {
				t.Errorf("%s, fresh %t: %+v, %v", name, fresh, got, err)
			}
			_, err := i.Finish(t.Context(), state, query)
			want(t, err, beacon.Unauthorized, "start again") // a code is good once
		}
		if err := i.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}

	state, query := begin(basic, false, func(q url.Values) { q.Set("nonce", "another") })
	_, err := basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")

	state, query = begin(basic, false, func(q url.Values) { q.Set("client_id", "public") })
	_, err = basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")

	state, query = begin(basic, false, func(q url.Values) { q.Set("code_challenge", encode(make([]byte, 32))) })
	_, err = basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")

	state, query = begin(basic, false, nil)
	query.Set("iss", "http://127.0.0.1:9")
	_, err = basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")
	query.Del("iss")
	_, err = basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "not valid")

	state, query = begin(basic, false, nil)
	other, _ := begin(basic, false, nil)
	_, err = basic.Finish(t.Context(), other, query)
	want(t, err, beacon.Unauthorized, "in another window")
	if _, err := basic.Finish(t.Context(), state, query); err != nil {
		t.Error(err)
	}

	wrong := issuer("basic", "guess")
	state, query = begin(wrong, false, nil)
	_, err = wrong.Finish(t.Context(), state, query)
	want(t, err, beacon.Conflict, "compare client id")

	if response, err := http.Get(address + "/rotate"); err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	state, query = begin(basic, false, nil)
	if _, err := basic.Finish(t.Context(), state, query); err != nil {
		t.Errorf("with new keys: %v", err)
	}

	state, query = begin(basic, false, nil)
	now = now.Add(2 * time.Minute) // ID tokens last one
	_, err = basic.Finish(t.Context(), state, query)
	want(t, err, beacon.Unauthorized, "have the clocks of both servers compared")
}
