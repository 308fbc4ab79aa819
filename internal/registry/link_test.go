package registry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

const mac = "02:00:5e:00:00:01"

var bob = beacon.Principal{Key: "key_bob", User: beacon.UserID(id.Format(beacon.UserPrefix, storetest.Now, 2, 2)), Scopes: []beacon.Scope{beacon.HotspotsVerify, beacon.HotspotsWrite}, Request: "req_2"}

// notes are the audit rows of a kind, the oldest first, as "target: note".
func (d *desk) notes(t *testing.T, kind beacon.ChangeKind) []string {
	t.Helper()
	all, err := d.db.Changes.Audit(t.Context(), beacon.Change{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			notes = append(notes, all[i].Target+": "+all[i].Actor.Note)
		}
	}
	return notes
}

func (d *desk) code(t *testing.T, h beacon.HotspotID) string {
	t.Helper()
	made, err := d.NewLinkCode(t.Context(), ada, h)
	if err != nil {
		t.Fatal(err)
	}
	if !made.ExpiresAt.Equal(d.clock.Add(15 * time.Minute)) {
		t.Errorf("a code of %v ends at %v", d.clock, made.ExpiresAt)
	}
	return made.Code
}

func (d *desk) link(t *testing.T, code, mac string) (registry.Linked, error) {
	t.Helper()
	return d.Link(t.Context(), registry.Link{Code: code, MAC: mac, Request: "req_device"})
}

// opens reports whether the fleet lets a device in with the key.
func (d *desk) opens(h beacon.HotspotID, key string) bool {
	presented, ok := access.Parse(key)
	hotspot, found := d.fleet.Find(h)
	return ok && found && presented.IsOf(h) && hotspot.Opens(presented.Hash())
}

func TestLink(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	code := d.code(t, h.ID)
	d.clock = d.clock.Add(14 * time.Minute)
	done, err := d.link(t, strings.ToLower(strings.ReplaceAll(code, "-", " ")), "0200.5E00.0001")
	if err != nil {
		t.Fatal(err)
	}
	if done.Hotspot.ID != h.ID || !done.Hotspot.Device.LinkedAt.Equal(d.clock) || !done.Hotspot.UpdatedAt.Equal(d.clock) || !d.opens(h.ID, done.Key) {
		t.Errorf("linked %+v with %q; its key opens: %t", done.Hotspot, done.Key, d.opens(h.ID, done.Key))
	}
	if _, err := d.link(t, code, mac); !errors.Is(err, registry.ErrLink) {
		t.Errorf("a code that was used is answered with %v", err)
	}

	// Linked again: the old key is dead.
	again, err := d.link(t, d.code(t, h.ID), mac)
	if err != nil || d.opens(h.ID, done.Key) || !d.opens(h.ID, again.Key) {
		t.Errorf("linked again: %v; the old key opens: %t, the new one: %t", err, d.opens(h.ID, done.Key), d.opens(h.ID, again.Key))
	}

	// Unlinked: so is the new one.
	for range 2 {
		if _, err := d.Unlink(t.Context(), ada, h.ID); err != nil {
			t.Fatal(err)
		}
	}
	read, err := d.Get(t.Context(), ada, h.ID)
	if err != nil || !read.Device.LinkedAt.IsZero() || read.Device.KeyHash != [32]byte{} || d.opens(h.ID, again.Key) {
		t.Errorf("unlinked: %+v, %v; the key opens: %t", read.Device, err, d.opens(h.ID, again.Key))
	}
	if n := len(d.notes(t, beacon.HotspotUnlinked)); n != 1 || len(d.notes(t, beacon.HotspotLinked)) != 2 || len(d.notes(t, beacon.LinkCodeCreated)) != 2 {
		t.Errorf("%d audit rows of unlinking; want 1 for what changed something", n)
	}
}

// Whatever is wrong, the answer is one, and the audit knows of it.
func TestLink_Refuses(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	code := d.code(t, h.ID)
	replaced := code
	code = d.code(t, h.ID)
	for i, try := range []struct{ code, mac string }{
		{"", mac},
		{"K7QX", mac},
		{"0000-0000", mac},
		{replaced, mac},
		{code, "02:00:5e:00:00:02"},
		{code, ""},
		{code, "nonsense"},
		{code, "02:00:5e:00:00:0"}, // the fourth try
	} {
		before := len(d.notes(t, beacon.LinkRefused))
		if done, err := d.link(t, try.code, try.mac); err != registry.ErrLink || done.Key != "" {
			t.Errorf("try %d: %+v, %v; want ErrLink", i, done, err)
		}
		notes := d.notes(t, beacon.LinkRefused)
		if len(notes) != before+1 {
			t.Errorf("try %d: %d audit rows; want 1", i, len(notes)-before)
		}
	}
	for _, note := range d.notes(t, beacon.LinkRefused) {
		if _, why, _ := strings.Cut(note, ": "); why == "" || strings.Contains(note, code) || strings.Contains(note, "02:00") {
			t.Errorf("the audit says %q", note)
		}
	}
	if _, err := d.link(t, code, "02:00:5e:00:00:02"); err != registry.ErrLink {
		t.Errorf("the fifth try: %v", err)
	}
	if _, err := d.link(t, code, mac); err != registry.ErrLink {
		t.Errorf("after five wrong devices the code is still good: %v", err)
	}

	code = d.code(t, h.ID)
	d.clock = d.clock.Add(15 * time.Minute)
	if _, err := d.link(t, code, mac); err != registry.ErrLink {
		t.Errorf("after 15 minutes the code is still good: %v", err)
	}
	code = d.code(t, h.ID)
	if _, err := d.Delete(t.Context(), ada, registry.Deletion{Hotspot: h.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.link(t, code, mac); err != registry.ErrLink {
		t.Errorf("the code of a deleted hotspot is answered with %v", err)
	}
	var notes []string
	for _, note := range d.notes(t, beacon.LinkRefused) {
		if note, of := strings.CutPrefix(note, string(h.ID)+": "); of {
			notes = append(notes, note)
		}
	}
	want := []string{
		"the MAC address differs: try 1 of 5", "the MAC address differs: try 2 of 5", "the MAC address differs: try 3 of 5",
		"the MAC address differs: try 4 of 5", "the MAC address differs: try 5 of 5", "the code has expired", "the hotspot is deleted",
	}
	if !slices.Equal(notes, want) {
		t.Errorf("the audit says %q; want %q", notes, want)
	}
}

// The operator alone makes codes and unlinks.
func TestLink_Operator(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	admin := bob
	admin.Scopes = []beacon.Scope{beacon.Admin}
	for _, try := range []struct {
		p    beacon.Principal
		id   beacon.HotspotID
		want beacon.Kind
	}{{bob, h.ID, beacon.Forbidden}, {ada, "hs_nope", beacon.NotFound}, {ada, storetest.Hotspot(7).ID, beacon.NotFound}} {
		if _, err := d.NewLinkCode(t.Context(), try.p, try.id); !isKind(err, try.want) {
			t.Errorf("NewLinkCode(%s, %s): %v", try.p.User, try.id, err)
		}
		if _, err := d.Unlink(t.Context(), try.p, try.id); !isKind(err, try.want) {
			t.Errorf("Unlink(%s, %s): %v", try.p.User, try.id, err)
		}
	}
	if _, err := d.NewLinkCode(t.Context(), admin, h.ID); err != nil {
		t.Errorf("an admin makes no code: %v", err)
	}
}

// A refusal that cannot be written down is no refusal but a failure.
func TestRefusals_AreNoted(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	d.wire(failing{d.store})
	if _, err := d.link(t, "nonsense", mac); !errors.Is(err, errUnknown) {
		t.Errorf("Link: %v", err)
	}
	if _, err := d.Verify(t.Context(), bob, registry.Verification{Hotspot: h.ID, Form: at(41, -74, 5)}); !errors.Is(err, errUnknown) {
		t.Errorf("Verify: %v", err)
	}
}

func at(lat, lng, accuracy float64) beacon.VerificationForm {
	return beacon.VerificationForm{Lat: beacon.Some(lat), Lng: beacon.Some(lng), AccuracyM: beacon.Some(accuracy), Method: beacon.Some("gps")}
}

func TestVerify(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac)) // at 40, -74
	verify := func(p beacon.Principal, id beacon.HotspotID, form beacon.VerificationForm) (registry.View, error) {
		t.Helper()
		d.clock = d.clock.Add(time.Minute)
		return d.Verify(t.Context(), p, registry.Verification{Hotspot: id, Form: form})
	}
	own := ada
	own.Scopes = []beacon.Scope{beacon.HotspotsVerify}
	for _, try := range []struct {
		p    beacon.Principal
		id   beacon.HotspotID
		form beacon.VerificationForm
		want beacon.Kind
	}{
		{bob, "hs_nope", beacon.VerificationForm{}, beacon.MissingParameter}, // 400 before 404
		{bob, "hs_nope", at(40, -74, 5), beacon.NotFound},
		{bob, storetest.Hotspot(7).ID, at(40, -74, 5), beacon.NotFound},
		{bob, h.ID, at(40.0031567, -74, 20), beacon.Conflict},
	} {
		if _, err := verify(try.p, try.id, try.form); !isKind(err, try.want) {
			t.Errorf("%s by %s: %v", try.id, try.p.User, err)
		}
	}
	refused := d.notes(t, beacon.VerificationRefused)
	notes := []string{string(h.ID) + ": gps, 352 m away, accuracy 20 m"}
	if strings.Join(refused, "\n") != strings.Join(notes, "\n") {
		t.Errorf("refused: %q; want %q", refused, notes)
	}
	done, err := verify(bob, h.ID, at(40.0005, -74, 0))
	if err != nil || !done.Location.VerifiedAt.Equal(d.clock) || !done.UpdatedAt.Equal(d.clock) || done.Version != 2 || done.Status != beacon.Pending {
		t.Fatalf("verified: %+v, %v", done, err)
	}
	again, err := verify(bob, h.ID, at(40.0005, -74, 0))
	if err != nil || again.Version != 2 || !again.Location.VerifiedAt.Equal(done.Location.VerifiedAt) {
		t.Errorf("again: %+v, %v; want nothing new", again, err)
	}
	if got := d.notes(t, beacon.HotspotVerified); len(got) != 1 || got[0] != string(h.ID)+": gps, 56 m away, accuracy 0 m" {
		t.Errorf("the audit says %q", got)
	}
	d.clock = d.clock.Add(24 * time.Hour)
	if again, err = verify(own, h.ID, at(40.0005, -74, 0)); err != nil || again.Version != 2 {
		t.Errorf("visited by its operator: %+v, %v; want nothing new", again, err)
	}
	again, err = verify(bob, h.ID, at(40.0004, -74, 30))
	if err != nil || again.Version != 3 || !again.Location.VerifiedAt.Equal(done.Location.VerifiedAt) || !again.UpdatedAt.Equal(d.clock) {
		t.Errorf("visited again: %+v, %v", again, err)
	}
	first := beacon.DayOf(done.Location.VerifiedAt)
	want := beacon.Place{Point: geo.Point{Lat: 40.0005, Lng: -74}, Measured: true, Since: first, Began: first, ProvenAt: d.clock}
	if got := again.PlaceOn(beacon.DayOf(d.clock) + 1); got != want {
		t.Errorf("its place is %+v; want %+v", got, want)
	}
}

// Hours that change are kept for the minutes that were before.
func TestChange_PastHours(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	d.clock = d.clock.Add(time.Hour)
	patch := beacon.Patch{Settings: beacon.Some(beacon.SettingsForm{OperatingHours: beacon.Some(beacon.HoursForm{
		Timezone: beacon.Some("UTC"), Weekly: beacon.Some([]beacon.SpanForm{}),
	})})}
	if _, err := d.Change(t.Context(), ada, registry.Change{Hotspot: h.ID, Patch: patch}); err != nil {
		t.Fatal(err)
	}
	read, err := d.Get(t.Context(), ada, h.ID)
	if err != nil || len(read.PastHours) != 1 || read.PastHours[0].Hours != nil || !read.PastHours[0].Until.Equal(d.clock.Truncate(time.Minute)) {
		t.Errorf("past hours %+v, %v; want always open until %v", read.PastHours, err, d.clock)
	}
}

// A server whose fleet is behind can catch up with one hotspot.
func TestDevice(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	code := d.code(t, h.ID)
	other := *d
	other.wire(other.store)
	done, err := d.link(t, code, mac)
	if err != nil || other.opens(h.ID, done.Key) {
		t.Fatalf("linked: %v; known elsewhere: %t", err, other.opens(h.ID, done.Key))
	}
	if err := other.Device(t.Context(), h.ID); err != nil || !other.opens(h.ID, done.Key) {
		t.Errorf("Device: %v; its key opens: %t", err, other.opens(h.ID, done.Key))
	}
	if err := other.Device(t.Context(), "hs_nope"); !isKind(err, beacon.NotFound) {
		t.Errorf("Device of no hotspot: %v", err)
	}
}

// What a hotspot's heartbeats say is in every view of it.
func TestView(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac))
	if _, err := d.Verify(t.Context(), bob, registry.Verification{Hotspot: h.ID, Form: at(40, -74, 5)}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.link(t, d.code(t, h.ID), mac); err != nil {
		t.Fatal(err)
	}
	views := func() []registry.View {
		t.Helper()
		got, err := d.Get(t.Context(), ada, h.ID)
		if err != nil {
			t.Fatal(err)
		}
		list, err := d.Owned(t.Context(), ada, registry.Owned{User: beacon.Me, Page: beacon.Page{Number: 1, Size: 10}})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		again, err := d.Verify(t.Context(), bob, registry.Verification{Hotspot: h.ID, Form: at(40, -74, 5)})
		if err != nil {
			t.Fatal(err)
		}
		return []registry.View{got, list.Items[0], again}
	}
	for _, v := range views() {
		if v.Status != beacon.Offline || !v.Metrics.Seen.IsZero() {
			t.Errorf("without a beat: %s, %+v", v.Status, v.Metrics)
		}
	}
	raw, _ := id.Parse(beacon.HotspotPrefix, string(h.ID))
	d.fleet.Replay([]heartbeat.Beat{{Hotspot: raw, At: d.clock.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: 1, Seq: 1, Clients: 3}}})
	for _, v := range views() {
		if v.Status != beacon.Online || v.Metrics.Clients != 3 || !v.Metrics.Seen.Equal(d.clock) {
			t.Errorf("with a beat: %s, %+v", v.Status, v.Metrics)
		}
	}
	d.clock = d.clock.Add(beacon.OfflineAfter)
	if v := views()[0]; v.Status != beacon.Online {
		t.Errorf("after 240 s: %s", v.Status)
	}
	d.clock = d.clock.Add(time.Millisecond)
	if v := views()[0]; v.Status != beacon.Offline {
		t.Errorf("after more than 240 s: %s", v.Status)
	}
}
