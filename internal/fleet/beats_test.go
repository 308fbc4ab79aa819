package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// What is announced is what differs from what was announced last, by id.
func TestStatusChanges(t *testing.T) {
	f := newFleet()
	var all []beacon.Hotspot
	for range 5 {
		all = append(all, serving())
	}
	slices.SortFunc(all, func(a, b beacon.Hotspot) int { return strings.Compare(string(a.ID), string(b.ID)) })
	came, went, unlinked, same, pending := all[0], all[1], all[2], all[3], all[4]
	pending.Location.VerifiedAt = time.Time{}
	mustApply(t, f, came, went, unlinked, same, pending)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for h, seen := range map[*beacon.Hotspot]time.Time{&came: ago(4 * time.Minute), &went: ago(5 * time.Minute), &unlinked: ago(time.Minute), &same: noon, &pending: noon} {
		f.Replay([]heartbeat.Beat{beatOf(*h, seen, 1)})
	}
	for _, h := range []beacon.Hotspot{went, unlinked, same} {
		f.SetAnnounced(h.ID, true)
	}
	unlinked.Device.LinkedAt, unlinked.Version = time.Time{}, 2
	mustApply(t, f, unlinked)

	want := []beacon.Transition{
		{Hotspot: came.ID, Online: true, At: ago(4 * time.Minute)},
		{Hotspot: went.ID, At: ago(time.Minute)},
		{Hotspot: unlinked.ID, At: noon},
	}
	if diff := cmp.Diff(want, f.StatusChanges(noon, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:1], f.StatusChanges(noon, true)); diff != "" {
		t.Errorf("online only (-want +got):\n%s", diff)
	}
	for _, tr := range want {
		f.SetAnnounced(tr.Hotspot, tr.Online)
	}
	if changes := f.StatusChanges(noon, false); len(changes) != 0 {
		t.Errorf("announced again: %v", changes)
	}
}

// Records that could not be written are folded again, and those of a final day are
// dropped only once they are written.
func TestFold_Unwritten(t *testing.T) {
	f := newFleet()
	h := serving()
	mustApply(t, f, h)
	f.Replay([]heartbeat.Beat{beatOf(h, noon, 1)})
	ids, tomorrow := f.Dirty(false), noon.AddDate(0, 0, 1)
	for _, written := range []bool{false, true} {
		rows, finish := f.Fold(ids, heartbeat.Moment{Certain: tomorrow, Final: beacon.DayOf(tomorrow), Latest: beacon.MinuteOf(tomorrow)})
		if len(rows) != 2 || len(f.Dirty(false)) != 0 {
			t.Fatalf("%d records; want those of two days", len(rows))
		}
		finish(written)
		if dirty := len(f.Dirty(false)) == 1; dirty == written {
			t.Errorf("written: %v; dirty: %v", written, dirty)
		}
	}
	if rows, _ := f.Fold(ids, heartbeat.Moment{Certain: tomorrow, Final: beacon.DayOf(tomorrow), Latest: beacon.MinuteOf(tomorrow)}); len(rows) != 1 {
		t.Errorf("the final day is still in memory: %d records", len(rows))
	}
}

// If a hotspot was announced as online and its heartbeats are lost, as with a damaged
// record, it is offline from now on, not since 1970.
func TestStatusChanges_BeatsAreLost(t *testing.T) {
	f := newFleet()
	h := serving()
	mustApply(t, f, h)
	f.SetAnnounced(h.ID, true)
	changes := f.StatusChanges(noon, false)
	if len(changes) != 1 || changes[0].Online || !changes[0].At.Equal(noon) {
		t.Errorf("%v; want offline at %v", changes, noon)
	}
}
