package fleet_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

// serving makes a hotspot that is in service since an hour before noon.
func serving() beacon.Hotspot {
	h := at(id.New(beacon.HotspotPrefix, noon), 1)
	since := noon.Add(-time.Hour)
	h.Location.Point = geo.Point{Lat: 1, Lng: 1}
	h.Location.VerifiedAt, h.Device.LinkedAt = since, since
	return h
}

func beatOf(h beacon.Hotspot, at time.Time, seq uint64) heartbeat.Beat {
	raw, _ := id.Parse(beacon.HotspotPrefix, string(h.ID))
	return heartbeat.Beat{Hotspot: raw, At: at.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: 1, Seq: seq, Bytes: seq * 100}}
}

// factsOf are what the fleet knows that a hotspot did on the day of noon.
func factsOf(f *fleet.Fleet, h beacon.Hotspot) (facts beacon.Facts, there bool) {
	facts, _ = f.Facts(h.ID, beacon.DayOf(noon), nil, noon)
	return facts, slices.Contains(f.Dirty(true), h.ID)
}

// A deleted hotspot is in no response from then on. What its device sent before stays,
// and what is yet to come in from elsewhere is added, until it is purged.
func TestDeleted(t *testing.T) {
	f := newFleet()
	h := serving()
	mustApply(t, f, h)
	f.Replay([]heartbeat.Beat{beatOf(h, noon.Add(-50*time.Minute), 1)})
	gone := h
	gone.Version, gone.DeletedAt = 2, noon.Add(-30*time.Minute)
	mustApply(t, f, gone)
	f.Replay([]heartbeat.Beat{beatOf(h, noon.Add(-40*time.Minute), 2)})
	f.SetAnnounced(h.ID, true)
	if changes := f.StatusChanges(noon.Add(-40*time.Minute), false); len(changes) != 0 {
		t.Errorf("announced: %v", changes)
	}
	if _, found := f.Find(h.ID); found || f.Len() != 0 || len(versions(f)) != 0 {
		t.Error("it can be found")
	}
	if _, ok := f.Metrics(h.ID, noon); ok {
		t.Error("it has metrics")
	}
	if hits := f.Nearby(fleet.NearbyQuery{Center: h.Location.Point, RadiusM: 1000, Limit: 10, Now: noon}, nil); len(hits) != 0 {
		t.Error("it is nearby")
	}
	want := beacon.Facts{Served: 8, Expected: 30, Outside: 11*60 + 31, Bytes: 200}
	if got, _ := factsOf(f, h); got != want {
		t.Errorf("facts %+v; want %+v", got, want)
	}
	if !f.Revive(h.ID) {
		t.Error("a record of it would be dropped")
	}
	f.Purge(gone.DeletedAt, time.Time{})
	if _, there := factsOf(f, h); !there {
		t.Error("it is purged too early")
	}
	f.Purge(gone.DeletedAt.Add(1), time.Time{})
	if got, there := factsOf(f, h); there || got != (beacon.Facts{}) {
		t.Errorf("it is not purged: %+v", got)
	}
	f.Replay([]heartbeat.Beat{beatOf(h, noon, 3)})
	f.Purge(noon, time.Time{})
}

// An older copy does not bring back a deleted hotspot, however long that is ago.
func TestDeleted_StaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		h := serving()
		gone := h
		gone.Version, gone.DeletedAt = 3, noon
		mustApply(t, f, gone)
		time.Sleep(11 * time.Minute)
		mustApply(t, f, at("b", 1))
		h.Version = 2
		mustApply(t, f, h)
		if f.Len() != 1 || !f.Has(h.ID, 3) {
			t.Errorf("%d hotspots", f.Len())
		}
	})
}

// At a start, the heartbeats of recently deleted hotspots still count.
func TestDeleted_Load(t *testing.T) {
	f := newFleet()
	h := serving()
	h.DeletedAt = noon
	mustLoad(t, f, h)
	if got, there := factsOf(f, h); !there || got.Expected != 60 || f.Len() != 0 {
		t.Errorf("it is there: %v, %+v; %d live", there, got, f.Len())
	}
}

// mustLoad loads hotspots from several goroutines at once, as a store does.
func mustLoad(t *testing.T, f *fleet.Fleet, hotspots ...beacon.Hotspot) {
	t.Helper()
	err := f.Load(func(add func(beacon.Hotspot) error) error {
		var all errgroup.Group
		for _, h := range hotspots {
			all.Go(func() error { return add(h) })
		}
		return all.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
}
