package fleet_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// spell writes a hotspot down so that a test can tell which version it sees.
func spell(h beacon.Hotspot, _ *beacon.Hotspot) string {
	return fmt.Sprintf("%s %s v%d ", h.ID, h.Name, h.Version)
}

// noon is when the tests look.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func newFleet() *fleet.Fleet { return fleet.New(spell) }

// at makes a version of a hotspot; each version stands somewhere else.
func at(id string, version int64) beacon.Hotspot {
	return beacon.Hotspot{
		ID: beacon.HotspotID(id), Name: "Café", Version: version,
		Location: beacon.Location{Point: geo.Point{Lat: float64(version) / 1000, Lng: float64(len(id))}},
	}
}

func deleted(id string, version int64) beacon.Hotspot {
	h := at(id, version)
	h.DeletedAt = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return h
}

// versions are those of all hotspots in a fleet.
func versions(f *fleet.Fleet) map[string]int64 {
	all := map[string]int64{}
	f.All(func(s *fleet.Hotspot) bool {
		all[s.ID()] = s.Version()
		return true
	})
	return all
}

func mustApply(t failer, f *fleet.Fleet, hotspots ...beacon.Hotspot) {
	t.Helper()
	if err := f.Apply(hotspots...); err != nil {
		t.Fatal(err)
	}
}

// Whatever the order in which versions arrive, however often, and in whatever
// portions, the highest of each hotspot stays; and no reader ever sees one
// after a higher one.
func TestApply_AnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet()
		history := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) beacon.Hotspot {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			version := int64(rapid.IntRange(1, 6).Draw(t, "version"))
			if version == 6 { // a deletion is the last there is
				return deleted(id, version)
			}
			return at(id, version)
		}), 1, 40).Draw(t, "history")

		want, seen := map[string]int64{}, map[string]int64{}
		dead := map[string]bool{}
		for rest := history; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "portion")
			if err := f.Apply(rest[:n]...); err != nil {
				t.Fatal(err)
			}
			for _, h := range rest[:n] {
				id := string(h.ID)
				want[id] = max(want[id], h.Version)
				dead[id] = dead[id] || h.Deleted()
			}
			rest = rest[n:]
			now := versions(f)
			for id, version := range want {
				switch {
				case dead[id] && now[id] != 0:
					t.Fatalf("%s is deleted and there, in version %d", id, now[id])
				case !dead[id] && now[id] != version:
					t.Fatalf("%s is there in version %d; want %d", id, now[id], version)
				case now[id] < seen[id] && !dead[id]:
					t.Fatalf("%s went back from version %d to %d", id, seen[id], now[id])
				}
				if !f.Has(beacon.HotspotID(id), version) || f.Has(beacon.HotspotID(id), version+1) {
					t.Fatalf("Has(%s) does not tell that version %d is known", id, version)
				}
			}
			seen = now
		}
		if f.Len() != len(versions(f)) {
			t.Fatalf("Len is %d of %d", f.Len(), len(versions(f)))
		}
	})
}

// Writers race with the versions of one hotspot; readers that watch it never
// see it go back.
func TestApply_Race(t *testing.T) {
	f := newFleet()
	const last = 400
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	looks := make([]int, 2)
	for reader := range looks {
		readers.Go(func() {
			var before int64
			for {
				now := versions(f)["a"]
				if now < before {
					t.Errorf("version %d after %d", now, before)
				}
				before = now
				looks[reader]++
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for writer := range 4 {
		writers.Go(func() {
			for v := int64(1 + writer); v <= last; v += 2 { // each version comes twice
				if err := f.Apply(at("a", v)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if got := versions(f)["a"]; got != last || slices.Min(looks) == 0 {
		t.Errorf("it ended in version %d after %v looks; want %d", got, looks, last)
	}
}

// A copy that was under way when its hotspot was deleted does not bring it back,
// for as long as anything can be under way; and tombstones do not stay for ever.
func TestApply_Tombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		mustApply(t, f, at("a", 1), at("b", 1))
		mustApply(t, f, deleted("a", 3))
		time.Sleep(10 * time.Minute)
		mustApply(t, f, at("a", 2))
		if got := versions(f); got["a"] != 0 || got["b"] != 1 || f.Len() != 1 {
			t.Errorf("after ten minutes an old copy brought it back: %v", got)
		}
		if !f.Has("a", 3) || f.Has("a", 4) {
			t.Error("the fleet does not know in which version it was deleted")
		}
		f.Purge(noon, noon)
		if !f.Has("a", 3) {
			t.Error("the grave is gone after ten minutes")
		}
		time.Sleep(time.Second)
		f.Purge(noon, noon)
		if f.Has("a", 1) {
			t.Error("the grave is still there")
		}
	})
}

// A hotspot that moved is found in its new place only, in its new words.
func TestNearby_AfterAMove(t *testing.T) {
	f := newFleet()
	mustApply(t, f, at("a", 1), at("b", 500))
	mustApply(t, f, at("a", 900))
	query := func(lat float64, status beacon.Status) (found []string) {
		for _, hit := range f.Nearby(fleet.NearbyQuery{Center: geo.Point{Lat: lat, Lng: 1}, RadiusM: 1000, Limit: 10, Status: status}, nil) {
			found = append(found, hit.Item.Encoded()+string(hit.Item.StatusAt(noon)))
		}
		return found
	}
	for _, tc := range []struct {
		lat    float64
		status beacon.Status
		want   []string
	}{
		{0.001, "", nil},
		{0.5, "", []string{"b Café v500 pending"}},
		{0.9, "", []string{"a Café v900 pending"}},
		{0.9, beacon.Pending, []string{"a Café v900 pending"}},
		{0.9, beacon.Online, nil},
	} {
		if got := query(tc.lat, tc.status); !slices.Equal(got, tc.want) {
			t.Errorf("at %v, %q: %q; want %q", tc.lat, tc.status, got, tc.want)
		}
	}
}

// A hotspot that stands nowhere is refused, with all that came with it.
func TestApply_NoPlace(t *testing.T) {
	f := newFleet()
	nowhere := at("b", 1)
	nowhere.Location.Point.Lat = 91
	if err := f.Apply(at("a", 1), nowhere); err == nil || f.Len() != 0 {
		t.Errorf("Apply = %v, with %d hotspots", err, f.Len())
	}
}
