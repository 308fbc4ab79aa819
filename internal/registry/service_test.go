package registry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// verify confirms where a hotspot stands.
func (d *desk) verify(t *testing.T, h beacon.HotspotID) {
	t.Helper()
	_, err := d.Verify(t.Context(), bob, registry.Verification{Hotspot: h, Form: at(40, -74, 5)})
	if err != nil {
		t.Fatal(err)
	}
}

func (d *desk) pastService(t *testing.T, h beacon.HotspotID) []beacon.Period {
	t.Helper()
	read, err := d.db.Hotspots.Hotspot(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return read.PastService
}

// Whatever ends the service of a hotspot, the database knows from when to when
// it was: what it earned then is paid.
func TestPastService(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac)).ID
	pass := func(minutes float64) time.Time {
		d.clock = d.clock.Add(time.Duration(minutes * float64(time.Minute)))
		return d.clock
	}
	link := func() {
		t.Helper()
		if _, err := d.link(t, d.code(t, h), mac); err != nil {
			t.Fatal(err)
		}
	}
	unlink := func() {
		t.Helper()
		if _, err := d.Unlink(t.Context(), ada, h); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...beacon.Period) {
		t.Helper()
		if diff := cmp.Diff(append([]beacon.Period{}, want...), append([]beacon.Period{}, d.pastService(t, h)...)); diff != "" {
			t.Errorf("past service (-want +got):\n%s", diff)
		}
	}
	link()
	pass(5)
	unlink() // it was never verified
	link()
	pass(5)
	since := d.clock
	d.verify(t, h)
	check()
	until := pass(10.5)
	link() // another device
	first := beacon.Period{From: since, Until: until}
	check(first)
	until = pass(3)
	unlink()
	first.Until = until // it went on without a break
	check(first)
	pass(2)
	unlink()
	check(first)
	since = pass(5)
	link()
	until = pass(5)
	unlink()
	check(first, beacon.Period{From: since, Until: until})
}

// A device can be linked 50 times in two days; to take one off, and to delete
// the hotspot, is never refused.
func TestPastService_TooOften(t *testing.T) {
	d := open(t)
	h := d.mustRegister(t, form("First", mac)).ID
	d.verify(t, h)
	for i := range 50 {
		if _, err := d.link(t, d.code(t, h), mac); err != nil {
			t.Fatalf("link %d: %v", i, err)
		}
		d.clock = d.clock.Add(2 * time.Minute)
		if _, err := d.Unlink(t.Context(), ada, h); err != nil {
			t.Fatalf("unlink %d: %v", i, err)
		}
		d.clock = d.clock.Add(2 * time.Minute)
	}
	_, err := d.link(t, d.code(t, h), mac)
	if !isKind(err, beacon.Conflict) || len(d.pastService(t, h)) != 50 {
		t.Errorf("link 51: %v, %d times in service", err, len(d.pastService(t, h)))
	}
	if _, err := d.Delete(t.Context(), ada, registry.Deletion{Hotspot: h}); err != nil {
		t.Errorf("it cannot be deleted: %v", err)
	}
}
