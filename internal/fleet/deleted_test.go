package fleet_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

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
func factsOf(f *fleet.Fleet, table *heartbeat.Table, h beacon.Hotspot) (facts beacon.Facts, there bool) {
	there = f.Tend(h.ID, func(live *heartbeat.Live) {
		facts, _ = table.Facts(live, beacon.MinuteOf(noon).Day(), nil, noon)
	})
	return facts, there
}

// A hotspot that is deleted is in no answer from then on; what its device said
// before stays, and what is yet to come in from elsewhere is added, until it is
// buried.
func TestDeparted(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	f := fleet.New(spell, table)
	h := serving()
	mustApply(t, f, h)
	f.Replay([]heartbeat.Beat{beatOf(h, noon.Add(-50*time.Minute), 1)})
	gone := h
	gone.Version, gone.DeletedAt = 2, noon.Add(-30*time.Minute)
	mustApply(t, f, gone)
	if came := f.Replay([]heartbeat.Beat{beatOf(h, noon.Add(-40*time.Minute), 2)}); len(came) != 0 {
		t.Errorf("%v came online", came)
	}

	if _, found := f.Find(h.ID); found || f.Len() != 0 || len(versions(f)) != 0 {
		t.Error("it can be found")
	}
	if _, ok := f.Metrics(h.ID, noon); ok {
		t.Error("it has metrics")
	}
	f.With(h.ID, func(*heartbeat.Live) { t.Error("With finds it") })
	if hits := f.Nearby(fleet.NearbyQuery{Center: h.Location.Point, RadiusM: 1000, Limit: 10, Now: noon}, nil); len(hits) != 0 {
		t.Error("it is nearby")
	}
	want := beacon.Facts{Served: 8, Expected: 30, Outside: 11*60 + 31, Bytes: 200}
	if got, _ := factsOf(f, table, h); got != want {
		t.Errorf("facts %+v; want %+v", got, want)
	}

	if !f.Wake(h.ID, func(*heartbeat.Live) {}) {
		t.Error("a record of it would be dropped")
	}
	listed := 0
	f.Deleted(func(id beacon.HotspotID, live *heartbeat.Live, at time.Time) {
		if listed++; id != h.ID || live == nil || !at.Equal(gone.DeletedAt) {
			t.Errorf("%s departed at %v", id, at)
		}
	})
	f.Purge(h.ID)
	if _, there := factsOf(f, table, h); there || listed != 1 {
		t.Errorf("%d departed; still there after it was buried: %v", listed, there)
	}
	f.Deleted(func(beacon.HotspotID, *heartbeat.Live, time.Time) { t.Error("Departed lists it") })
	f.Replay([]heartbeat.Beat{beatOf(h, noon, 3)})
	f.Purge(h.ID)
}

// An older copy does not bring back who departed, however long that is ago.
func TestDeparted_StaysDeleted(t *testing.T) {
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

// At a start, those that were deleted of late are there to be tended.
func TestDeparted_Load(t *testing.T) {
	s := newSource()
	table := heartbeat.NewTable(heartbeat.NewOutages())
	f := fleet.New(spell, table)
	recent, old := serving(), serving()
	recent.DeletedAt, old.DeletedAt = noon, noon.Add(-time.Hour)
	s.write("n", recent)
	s.write("n", old)
	fo := fleet.NewFollower(f, s, noKeys, noCompanion{since: noon.Add(-time.Minute)}, slog.New(slog.DiscardHandler))
	if err := fo.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, there := factsOf(f, table, recent); !there || got.Expected != 60 || f.Len() != 0 {
		t.Errorf("who was deleted of late is there: %v, %+v; %d live", there, got, f.Len())
	}
	if _, there := factsOf(f, table, old); there {
		t.Error("who was deleted long ago is there")
	}
}
