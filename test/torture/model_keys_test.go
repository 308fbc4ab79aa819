//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/test/harness"
	"pgregory.net/rapid"
)

var allScopes = []string{"hotspots:write", "hotspots:verify", "rewards:read", "checkins:write", "keys:manage", "admin"}

var keyFaults = []fault{
	{path: "scopes", value: omitted},
	{path: "scopes", value: "admin"},
	{path: "scopes", value: []any{"everything"}, field: "scopes*"},
	{path: "scopes", value: nil},
	{path: "name", value: strings.Repeat("é", 51)},
	{path: "name", value: 5},
	{path: "user_id", value: "me"},
	{path: "user_id", value: 7},
	{path: "expires_at", value: "2020-01-01T00:00:00Z"},
	{path: "expires_at", value: "tomorrow"},
	{path: "key", value: "x"},
}

func (m *modelMachine) doCreateKey(t *rapid.T) {
	k := m.someKey(t)
	scopes := []string{}
	for _, scope := range allScopes {
		if rapid.IntRange(0, 2).Draw(t, scope) == 0 {
			scopes = append(scopes, scope)
		}
	}
	made := &apiKey{scopes: scopes}
	body := fields{"scopes": scopes}
	if k != nil {
		made.user = k.user
	}
	if rapid.Bool().Draw(t, "named") {
		made.label = "a key"
		body["name"] = made.label
	}
	whose := rapid.SampledFrom([]string{"", "", "{" + m.keys[1].user + "}", "{" + m.keys[2].user + "}", "new"}).Draw(t, "user")
	if whose != "" {
		body["user_id"] = whose
		made.user = strings.Trim(whose, "{}")
	}
	if seldom(t, "expires", 4) {
		made.expires = "2027-01-01T00:00:00.000Z"
		body["expires_at"] = "2027-01-01T01:00:00+01:00"
	}
	var bad *want
	if seldom(t, "bad", 5) {
		bad = spoil(t, body, keyFaults, 1)
	}
	r := request{method: http.MethodPost, path: "/v1/keys", key: k, body: body}
	r.header = m.seldomOnce(t)
	m.createKey(t, r, made, bad)
}

func (m *modelMachine) createKey(t tester, r request, made *apiKey, bad *want) {
	e := m.enter(r.key, "keys:manage")
	lacks := func(scope string) bool { return !r.key.has(scope) }
	switch {
	case e != nil:
	case bad != nil:
		e = bad
	case made.user != r.key.user && !r.key.has("admin"), slices.ContainsFunc(made.scopes, lacks):
		e = &errForbidden
	}
	if e != nil {
		m.step(t, r, e)
		return
	}
	n := m.next()
	made.name, made.secret = fmt.Sprintf("key%d", n), fmt.Sprintf("secret%d", n)
	if made.user == "new" {
		made.user = fmt.Sprintf("usr%d", n)
	}
	data := made.shown()
	data["key"] = named(made.secret)
	m.stepTwice(t, r, &want{status: 200, data: data}, data)
	m.keys = append(m.keys, made)
}

// shown is a key as it is shown after its creation.
func (k *apiKey) shown() fields {
	revoked := rule(func(_ *world, _ span, got any) string {
		if (got != nil) != k.revoked {
			return fmt.Sprintf("%v; revoked: %v", got, k.revoked)
		}
		return ""
	})
	return fields{
		"id": named(k.name), "user_id": named(k.user), "name": k.label, "created_at": named("at" + strings.TrimPrefix(k.name, "key") + ":key"),
		"expires_at": k.expires, "revoked_at": revoked, "last_used_at": anything,
		"origins": []any{}, "addresses": []any{}, "publishable": false,
		"max_enrolments": 0.0, "enrolments": 0.0, "hotspots": []any{}, "may_register": false,
		"scopes": rule(func(_ *world, _ span, got any) string {
			var scopes []string
			for _, scope := range got.([]any) {
				scopes = append(scopes, scope.(string))
			}
			if !slices.Equal(slices.Sorted(slices.Values(scopes)), slices.Sorted(slices.Values(k.scopes))) {
				return fmt.Sprintf("%v; want %v", scopes, k.scopes)
			}
			return ""
		}),
	}
}

func (m *modelMachine) doListKeys(t *rapid.T) {
	k := m.someKey(t)
	whose := rapid.SampledFrom([]string{"", "{" + m.keys[1].user + "}", "{" + m.keys[2].user + "}", "me"}).Draw(t, "user")
	text, page, perPage, bad := pageOf(t, false)
	r := request{method: http.MethodGet, path: "/v1/keys" + text, key: k}
	if whose != "" {
		r.path += "&user_id=" + whose
		if text == "" {
			r.path = "/v1/keys?user_id=" + whose
		}
	}
	user := strings.Trim(whose, "{}")
	e := m.enter(k, "keys:manage")
	switch {
	case e != nil:
	case bad != nil, whose == "me":
		e = refused(400, "invalid_request")
	case whose == "" && !k.has("admin"):
		user = k.user
	case whose != "" && user != k.user && !k.has("admin"):
		e = &errForbidden
	case whose == "":
		t.Skip("everyone's keys, of all runs")
	}
	if e == nil {
		var all []any
		for _, one := range slices.Backward(m.keys) {
			if one.user == user && one.device == nil {
				all = append(all, one.shown())
			}
		}
		e = &want{status: 200, loose: true, data: append([]any{}, cut(all, page, perPage)...), page: &pagination{page, perPage, len(all)}}
		e.apart = true // when a key was last used is noted by the clock
	}
	m.step(t, r, e)
}

func (m *modelMachine) doRevokeKey(t *rapid.T) {
	k := m.someKey(t)
	r := request{method: http.MethodDelete, path: "/v1/keys/key_00000000000000000000000000", key: k}
	var target *apiKey
	made := slices.DeleteFunc(slices.Clone(m.keys[3:]), func(one *apiKey) bool { return one.device != nil })
	if len(made) > 0 && !seldom(t, "known", 5) {
		target = rapid.SampledFrom(made).Draw(t, "target")
		r.path = "/v1/keys/{" + target.name + "}"
	}
	e := m.enter(k, "keys:manage")
	switch {
	case e != nil:
	case target == nil, target.user != k.user && !k.has("admin"):
		e = &errNotFound
	default:
		target.revoked = true
		e = &want{status: 204}
	}
	m.step(t, r, e)
}

func (m *modelMachine) doSelfKey(t *rapid.T) {
	k := m.someKey(t)
	e := m.enter(k, "")
	if e == nil && k == m.keys[0] {
		t.Skip("the key of the test itself was made elsewhere")
	}
	if e == nil {
		e = &want{status: 200, data: k.shown(), apart: true}
	}
	m.step(t, request{method: http.MethodGet, path: "/v1/keys/self", key: k}, e)
}

// odd is requests that are refused wherever they come from.
var odd = []struct {
	request
	want
}{
	{request{method: "PUT", path: "/v1/hotspots"}, want{status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "GET, HEAD, POST"}}},
	{request{method: "GET", path: "/v1/hotspots"}, errUnauthorized},
	{request{method: "DELETE", path: "/v1/coverage"}, want{status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "GET, HEAD"}}},
	{request{method: "PATCH", path: "/v1/keys/key_00000000000000000000000000"}, want{status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "DELETE"}}},
	{request{method: "GET", path: "/v1/nowhere"}, errNotFound},
	{request{method: "GET", path: "/v1/hotspots/nearby/"}, errNotFound},
	{request{method: "POST", path: "/v1//hotspots", body: "{}"}, errNotFound},
	{request{method: "GET", path: "/v1/keys/self", header: map[string]string{"Authorization": "Basic dXNlcjpwYXNz"}}, errUnauthorized},
	{request{method: "GET", path: "/v1/keys/self", header: map[string]string{"Authorization": "Bearer svc_test_abcdef"}}, errUnauthorized},
	{request{method: "GET", path: "/v1/keys/self", header: map[string]string{"Authorization": "Bearer "}}, errUnauthorized},
	{request{method: "GET", path: "/v1/keys/self?access_token={secretadmin}"}, errUnauthorized},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: "{}", header: map[string]string{"Content-Type": "text/plain"}}, want{status: 415, code: "unsupported_media_type"}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: "{}", header: map[string]string{"Content-Encoding": "gzip"}}, want{status: 415, code: "unsupported_media_type"}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: `{"name":"` + strings.Repeat("x", 64<<10) + `"}`}, want{status: 413, code: "payload_too_large"}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: `null`}, want{status: 400, code: "invalid_request"}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: `{}{}`}, want{status: 400, code: "invalid_request"}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: `{}`}, want{status: 400, code: "missing_parameter", fields: []string{"name", "type", "location.lat", "location.lng", "device.ssid", "device.mac_address"}}},
	{request{method: "POST", path: "/v1/hotspots", key: adminKey, body: `{"name":"abc","name":"abd"}`}, want{status: 400, code: "invalid_request"}},
	{request{method: "HEAD", path: "/v1/hotspots/nearby?lat=0&lng=0", key: adminKey}, want{status: 200, whole: func(_ *world, _ span, got any) string { return string(got.([]byte)) }}},
}

func (m *modelMachine) doOdd(t *rapid.T) {
	one := odd[rapid.IntRange(0, len(odd)-1).Draw(t, "odd")]
	m.step(t, one.request, &one.want)
}

func (m *modelMachine) doDocuments(t *rapid.T) {
	text, err := os.ReadFile(filepath.Join(harness.Root(), "internal", "api", "openapi.yaml"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	if rapid.Bool().Draw(t, "yaml") {
		m.step(t, request{method: http.MethodGet, path: "/v1/openapi.yaml"}, &want{status: 200, apart: true, whole: func(_ *world, _ span, got any) string {
			if string(got.([]byte)) != string(text) {
				return "it is not the document"
			}
			return ""
		}})
		return
	}
	m.step(t, request{method: http.MethodGet, path: "/v1/openapi.json"}, &want{status: 200, whole: func(_ *world, _ span, got any) string {
		var document struct {
			OpenAPI string
			Paths   map[string]any
		}
		if err := json.Unmarshal(got.([]byte), &document); err != nil || document.OpenAPI != "3.1.0" || document.Paths["/v1/hotspots/nearby"] == nil {
			return fmt.Sprintf("it is not the document: %v", err)
		}
		return ""
	}})
}
