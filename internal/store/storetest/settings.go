package storetest

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Homes are open until staff blur them. The secret is made once, and is the same on all
// nodes: another one would show each home at a second place.
func homePrivacy(t *testing.T, fresh Database) {
	one, two := fresh.open(t), fresh.open(t)
	if blur, err := one.Blur(t.Context()); err != nil || blur != (beacon.Blur{Homes: beacon.HomesOpen}) {
		t.Fatalf("a new network has %+v, %v", blur, err)
	}
	var secret [32]byte
	for i, p := range []beacon.HomePrivacy{beacon.HomesBlurred, beacon.HomesOpen, beacon.HomesBlurred} {
		if err := two.SetHomePrivacy(t.Context(), p, beacon.Actor{User: "usr_1", Request: "req_1"}, Now); err != nil {
			t.Fatal(err)
		}
		blur, err := one.Blur(t.Context())
		if err != nil || blur.Homes != p {
			t.Fatalf("it was set to %s and is %q, %v", p, blur.Homes, err)
		}
		if i == 0 {
			secret = blur.Secret
		}
		if blur.Secret != secret || secret == ([32]byte{}) {
			t.Errorf("the secret is %x, then %x", secret, blur.Secret)
		}
		changes, err := one.Changes(t.Context(), two.Node(), int64(i), 10)
		if err != nil || len(changes) != 1 || changes[0].Kind != beacon.SettingChanged || changes[0].Target != "home_privacy" ||
			changes[0].Actor.Note != string(p) || changes[0].Actor.User != "usr_1" {
			t.Errorf("the changes are %+v, %v", changes, err)
		}
	}
}
