package storetest

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Homes are open until staff blur them. The secret is made once, and is the same on all
// nodes: another one would show each home at a second place.
func homePrivacy(t *testing.T, fresh Database) {
	one, two := fresh.open(t), fresh.open(t)
	if blur, err := one.Settings.Blur(t.Context()); err != nil || blur != (beacon.Blur{Homes: beacon.HomesOpen}) {
		t.Fatalf("a new network has %+v, %v", blur, err)
	}
	var secret [32]byte
	for i, p := range []beacon.HomePrivacy{beacon.HomesBlurred, beacon.HomesOpen, beacon.HomesBlurred} {
		if err := two.Settings.SetHomePrivacy(t.Context(), p, beacon.Actor{User: "usr_1", Request: "req_1"}, Now); err != nil {
			t.Fatal(err)
		}
		blur, err := one.Settings.Blur(t.Context())
		if err != nil || blur.Homes != p {
			t.Fatalf("it was set to %s and is %q, %v", p, blur.Homes, err)
		}
		if i == 0 {
			secret = blur.Secret
		}
		if blur.Secret != secret || secret == ([32]byte{}) {
			t.Errorf("the secret is %x, then %x", secret, blur.Secret)
		}
		changes, err := one.Changes.Changes(t.Context(), two.Node(), int64(i), 10)
		if err != nil || len(changes) != 1 || changes[0].Kind != beacon.SettingChanged || changes[0].Target != "home_privacy" ||
			changes[0].Actor.Note != string(p) || changes[0].Actor.User != "usr_1" {
			t.Errorf("the changes are %+v, %v", changes, err)
		}
	}
}

// What maps show at first is set, changed and taken back, each with its trace.
func mapSettings(t *testing.T, fresh Database) {
	one, two := fresh.open(t), fresh.open(t)
	by := beacon.Actor{User: "usr_1", Request: "req_1"}
	want := func(m beacon.MapSettings) {
		t.Helper()
		got, err := one.Settings.MapSettings(t.Context())
		if err != nil || got.Language != m.Language || (got.Start == nil) != (m.Start == nil) || m.Start != nil && *got.Start != *m.Start {
			t.Errorf("the settings are %+v, %v; want %+v", got, err, m)
		}
	}
	want(beacon.MapSettings{})
	berlin := beacon.StartView{Lat: 52.52, Lng: 13.405, Zoom: 11.5}
	if err := two.Settings.SetStartView(t.Context(), &berlin, by, Now); err != nil {
		t.Fatal(err)
	}
	want(beacon.MapSettings{Start: &berlin})
	if err := two.Settings.SetLanguage(t.Context(), "de", by, Now); err != nil {
		t.Fatal(err)
	}
	want(beacon.MapSettings{Start: &berlin, Language: "de"})
	if err := two.Settings.SetStartView(t.Context(), nil, by, Now); err != nil {
		t.Fatal(err)
	}
	want(beacon.MapSettings{Language: "de"})
	changes, err := one.Changes.Changes(t.Context(), two.Node(), 0, 10)
	if err != nil || len(changes) != 3 || changes[0].Target != "start_view" || changes[0].Actor.Note != "52.52,13.405,11.5" || changes[1].Target != "language" || changes[1].Actor.Note != "de" {
		t.Errorf("the changes are %+v, %v", changes, err)
	}
	if blur, err := one.Settings.Blur(t.Context()); err != nil || blur != (beacon.Blur{Homes: beacon.HomesOpen}) {
		t.Errorf("homes are %+v, %v", blur, err)
	}
}

// How the network presents itself is set and taken back in parts, each with its trace; that of
// a logo describes it.
func identity(t *testing.T, fresh Database) {
	one, two := fresh.open(t), fresh.open(t)
	by := beacon.Actor{User: "usr_1", Request: "req_1"}
	logo := beacon.Logo{Type: beacon.SVG, Data: `<svg xmlns="http://www.w3.org/2000/svg"/>`}
	want := beacon.Identity{}
	for _, tc := range []struct {
		patch beacon.IdentityPatch
		want  beacon.Identity
	}{
		{beacon.IdentityPatch{Name: beacon.Some(`</script>"É`), Color: beacon.Some(beacon.Color("#0b62ba"))}, beacon.Identity{Name: `</script>"É`, Color: "#0b62ba"}},
		{
			beacon.IdentityPatch{Name: beacon.Null[string](), Logo: beacon.Some(logo), Description: beacon.Some("Free."), Contact: beacon.Some("a@example.org")},
			beacon.Identity{Description: "Free.", Contact: "a@example.org", Color: "#0b62ba", Logo: logo},
		},
	} {
		if got, err := one.Settings.Identity(t.Context()); err != nil || got != want {
			t.Errorf("the identity is %+v, %v; want %+v", got, err, want)
		}
		if err := two.Settings.SetIdentity(t.Context(), tc.patch, by, Now); err != nil {
			t.Fatal(err)
		}
		want = tc.want
	}
	if got, err := one.Settings.Identity(t.Context()); err != nil || got != want {
		t.Errorf("the identity is %+v, %v; want %+v", got, err, want)
	}
	changes, err := one.Changes.Changes(t.Context(), two.Node(), 0, 10)
	var notes []string
	for _, c := range changes {
		notes = append(notes, c.Target+"="+c.Actor.Note+" by "+string(c.Actor.User))
	}
	if text := strings.Join(notes, "\n"); err != nil || text != `network_name=</script>"É by usr_1
network_color=#0b62ba by usr_1
network_name= by usr_1
network_description=Free. by usr_1
network_contact=a@example.org by usr_1
network_logo=image/svg+xml of 1 kB by usr_1` {
		t.Errorf("the changes are %s, %v", text, err)
	}
}
