package beacon_test

import (
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestPrincipal_Has(t *testing.T) {
	all := beacon.Scopes()
	if len(all) != 7 {
		t.Fatalf("%d scopes; want 7", len(all))
	}
	for _, held := range all {
		p := beacon.Principal{Scopes: []beacon.Scope{held}}
		for _, asked := range all {
			if want := held == asked || held == beacon.Admin; p.Has(asked) != want {
				t.Errorf("a key with %s has %s: %t; want %t", held, asked, p.Has(asked), want)
			}
		}
		if (beacon.Principal{}).Has(held) {
			t.Errorf("a key with no scope has %s", held)
		}
	}
}

func TestPrincipal_MayActFor(t *testing.T) {
	mine := beacon.Principal{User: "usr_a", Scopes: []beacon.Scope{beacon.HotspotsWrite}}
	admin := beacon.Principal{User: "usr_a", Scopes: []beacon.Scope{beacon.Admin}}
	for _, test := range []struct {
		p    beacon.Principal
		user beacon.UserID
		want bool
	}{
		{mine, "usr_a", true},
		{mine, "usr_b", false},
		{mine, "", false},
		{admin, "usr_b", true},
		{beacon.Principal{}, "", false},
		{beacon.Principal{User: "usr_a", Scopes: []beacon.Scope{beacon.DevicesEnrol}}, "usr_a", false},
	} {
		if got := test.p.MayActFor(test.user); got != test.want {
			t.Errorf("%v for %q: %t; want %t", test.p, test.user, got, test.want)
		}
	}
}

func TestPrincipal_Actor(t *testing.T) {
	p := beacon.Principal{Key: "key_1", User: "usr_1", Request: "req_1"}
	if got, want := p.Actor(), (beacon.Actor{Key: "key_1", User: "usr_1", Request: "req_1"}); got != want {
		t.Errorf("got %v; want %v", got, want)
	}
	for _, staff := range []beacon.Scope{beacon.HotspotsVerify, beacon.Admin} {
		if p.Scopes = []beacon.Scope{staff}; p.Limited() {
			t.Errorf("staff with %s are limited by a quota", staff)
		}
	}
}

func TestParseScopes(t *testing.T) {
	got, err := beacon.ParseScopes([]string{"rewards:read", "hotspots:write", "rewards:read"})
	if want := []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := beacon.ParseScopes(nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no names: %v, %v; want an empty list", got, err)
	}
	for _, bad := range []string{"", "Admin", "admin ", "hotspots", "hotspots:*"} {
		if got, err := beacon.ParseScopes([]string{"admin", bad}); err == nil {
			t.Errorf("%q gives %v; want an error", bad, got)
		}
	}
}

func TestKey_InForce(t *testing.T) {
	for _, test := range []struct {
		name             string
		expires, revoked time.Time
		want             bool
	}{
		{"for ever", time.Time{}, time.Time{}, true},
		{"about to expire", noon.Add(1), time.Time{}, true},
		{"expiring now", noon, time.Time{}, false},
		{"revoked", time.Time{}, noon, false},
		{"revoked before it expires", noon.Add(time.Hour), noon.Add(-time.Hour), false},
	} {
		k := beacon.Key{ExpiresAt: test.expires, RevokedAt: test.revoked}
		if got := k.InForce(noon); got != test.want {
			t.Errorf("%s: %t; want %t", test.name, got, test.want)
		}
	}
}
