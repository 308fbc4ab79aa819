package storetest

import (
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
