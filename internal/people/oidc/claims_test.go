package oidc_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
)

func TestIdentity_Claims(t *testing.T) {
	for _, c := range []struct {
		claims map[string]any
		name   string
		groups []string
		fails  bool
	}{
		{map[string]any{"preferred_name": "  Ada\n\u202e\u0000 Lovelace "}, "Ada Lovelace", nil, false},
		{map[string]any{"preferred_name": 7}, "", nil, false},
		{map[string]any{"preferred_name": strings.Repeat("ä", 200)}, strings.Repeat("ä", 100), nil, false},
		{map[string]any{"https://example.org/groups": "one"}, "", []string{"one"}, false},
		{map[string]any{"https://example.org/groups": []string{}}, "", []string{}, false},
		{map[string]any{"https://example.org/groups": nil}, "", []string{}, false},
		{map[string]any{"https://example.org/groups": map[string]any{"a": true}}, "", nil, true},
		{map[string]any{"https://example.org/groups": []any{"a", 1}}, "", nil, true},
	} {
		l := newLiar(t)
		l.claims = c.claims
		got, err := l.signIn(l.issuer(func(config *oidc.Config) {
			config.NameClaim, config.GroupsClaim = "preferred_name", "https://example.org/groups"
		}))
		if c.fails {
			want(t, err, beacon.Conflict, "sends groups in a form")
		} else if err != nil || got.Name != c.name || !reflect.DeepEqual(got.Groups, c.groups) {
			t.Errorf("%v: %+v, %v", c.claims, got, err)
		}
	}
}

// Many issuers put no names and groups into the ID token.
func TestIdentity_UserInfo(t *testing.T) {
	l := newLiar(t)
	l.document["userinfo_endpoint"] = l.URL + "/userinfo"
	l.claims["name"] = "Ada"
	l.userinfo = map[string]any{"sub": "248289761001", "name": "Countess", "groups": []string{"staff"}}
	i := l.issuer(func(c *oidc.Config) { c.GroupsClaim = "groups" })
	if got, err := l.signIn(i); err != nil || got.Name != "Ada" || !reflect.DeepEqual(got.Groups, []string{"staff"}) {
		t.Errorf("%+v, %v", got, err)
	}
	l.userinfo["sub"] = "1"
	_, err := l.signIn(i)
	want(t, err, beacon.Unauthorized, "not valid")
	l.serve("/userinfo", http.NotFound)
	_, err = l.signIn(i)
	want(t, err, beacon.Overloaded, "cannot be reached")
}
