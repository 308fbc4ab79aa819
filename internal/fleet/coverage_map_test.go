package fleet_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var everywhere = geo.Box{North: 90, South: -90, East: 180, West: -180}

func mapped(t testing.TB) *fleet.Fleet {
	t.Helper()
	f := newFleet()
	if err := f.BuildMap(noon); err != nil {
		t.Fatal(err)
	}
	return f
}

// checkSurvey compares what the fleet says of a box with what its hotspots say
// one by one: the status of each at this moment, and the area of a tree that is
// built of them on the spot.
func checkSurvey(t failer, f *fleet.Fleet, box geo.Box, now time.Time) {
	t.Helper()
	fresh := coverage.New[*fleet.Hotspot]()
	want := map[string]string{}
	var discs []coverage.Disc[*fleet.Hotspot]
	f.All(func(s *fleet.Hotspot) bool {
		status := s.StatusAt(now)
		discs = append(discs, coverage.Disc[*fleet.Hotspot]{Item: s, Place: s.Place(), RadiusM: s.RadiusM(), Online: status == beacon.Online})
		if box.Contains(s.Place()) {
			want[s.ID()] = fmt.Sprintf("v%d %s", s.Version(), status)
		}
		return true
	})
	if err := fresh.Apply(discs, nil); err != nil {
		t.Fatal(err)
	}
	got := f.Survey(box, fleet.AnyZoom, now)
	if got.Count != len(want) || len(got.Marks) != len(want) || got.Aggregated {
		t.Fatalf("%d hotspots, %d of them shown; want %d", got.Count, len(got.Marks), len(want))
	}
	for _, m := range got.Marks {
		if shown := fmt.Sprintf("v%d %s", m.Hotspot.Version(), m.Status); shown != want[m.Hotspot.ID()] {
			t.Fatalf("%s is shown as %s; want %s", m.Hotspot.ID(), shown, want[m.Hotspot.ID()])
		}
	}
	if area := fresh.Snapshot().Area(box); got.AreaKm2 != area {
		t.Fatalf("%v km² are covered; want %v", got.AreaKm2, area)
	}
}

// Whatever happens to hotspots, and wherever the clock goes, a survey is at once
// what it would be if it were made from scratch.
func TestSurvey_AnyHistory(t *testing.T) {
	var ids [5]string
	for i := range ids {
		ids[i] = id.New(beacon.HotspotPrefix, noon)
	}
	// In a bubble, where nothing takes any time: a machine that pauses again and again
	// would make a reader too much of the work.
	synctest.Test(t, func(t *testing.T) { checkAnyHistory(t, ids[:]) })
}

func checkAnyHistory(t *testing.T, ids []string) {
	rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) { // without Deadline, which a bubble has not
		f := newFleet()
		now, version, seq := noon, int64(0), uint64(0)
		begun := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			hotspot := beacon.Hotspot{ID: beacon.HotspotID(rapid.SampledFrom(ids).Draw(t, "hotspot"))}
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1: // it is registered, moved, measured, verified or unlinked
				version++
				hotspot.Version = version
				hotspot.Location.Point = geo.Point{Lat: 40.7 + float64(rapid.IntRange(0, 8).Draw(t, "place"))*2e-4, Lng: -74}
				hotspot.Settings.CoverageRadiusM = float64(rapid.IntRange(10, 60).Draw(t, "radius"))
				if rapid.IntRange(0, 3).Draw(t, "in service") > 0 {
					hotspot.Location.VerifiedAt, hotspot.Device.LinkedAt = noon.Add(-time.Hour), noon.Add(-time.Hour)
				}
				mustApply(t, f, hotspot)
			case 2:
				version++
				hotspot.Version, hotspot.DeletedAt = version, now
				mustApply(t, f, hotspot)
			case 3, 4:
				seq++
				f.Replay([]heartbeat.Beat{beatOf(hotspot, now, seq)})
			case 5:
				now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 239, 240, 241, 1000}).Draw(t, "seconds")) * time.Second)
			case 6: // the clock is set back: who notices is the job that looks each second
				now = now.Add(-10 * time.Minute)
				if err := f.Redraw(now); err != nil {
					t.Fatal(err)
				}
			case 7:
				if err := f.BuildMap(now); err != nil {
					t.Fatal(err)
				}
				begun = true
			}
			if begun {
				checkSurvey(t, f, everywhere, now)
				checkSurvey(t, f, geo.Box{North: 40.7005, South: 40.69, East: -73.9999, West: -75}, now)
			}
		}
	})
}

// To the microsecond: online up to and including 240 s after the last beat.
func TestSurvey_FallsSilentByTheClock(t *testing.T) {
	synctest.Test(t, testFallsSilent)
}

func testFallsSilent(t *testing.T) {
	f := mapped(t)
	h := serving()
	mustApply(t, f, h)
	f.Replay([]heartbeat.Beat{beatOf(h, noon, 1)})
	area := f.Survey(everywhere, fleet.AnyZoom, noon).AreaKm2
	if area == 0 {
		t.Fatal("it beat, and nothing is covered")
	}
	for _, tc := range []struct {
		after time.Duration
		want  float64
	}{
		{240 * time.Second, area},
		{240*time.Second + time.Microsecond, 0},
		{240 * time.Second, 0}, // someone whose request was overtaken; the next look may as well come later
	} {
		if got := f.Survey(everywhere, fleet.AnyZoom, noon.Add(tc.after)).AreaKm2; got != tc.want {
			t.Errorf("%v after the beat: %v km²; want %v", tc.after, got, tc.want)
		}
	}
}

// What is not told by a beat or a change is seen within seconds: a record that
// another server wrote.
func TestRedraw_ChecksAnyway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := mapped(t)
		h := serving()
		mustApply(t, f, h)
		if err := f.Redraw(noon); err != nil {
			t.Fatal(err)
		}
		beat, elsewhere := beatOf(h, noon, 1), heartbeat.NewBackfill(heartbeat.NewOutages(), h)
		elsewhere.Beats(&beat, 1)
		elsewhere.Fold(noon, beacon.DayOf(noon), func(r *heartbeat.Record) {
			record, err := heartbeat.DecodeRecord(r.Append(nil))
			if err != nil || !f.Restore(h.ID, record) {
				t.Fatalf("the record is not restored: %v", err)
			}
		})
		time.Sleep(10 * time.Second)
		if err := f.Redraw(noon); err != nil {
			t.Fatal(err)
		}
		checkSurvey(t, f, everywhere, noon)
	})
}

// A survey shows a change that was made before it began, also while another goroutine
// is drawing. Time stands still meanwhile: a reader does not wait for changes that took
// long to draw.
func TestSurvey_ReadsItsOwnWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := mapped(t)
		var writers sync.WaitGroup
		for writer := range 4 {
			writers.Go(func() {
				place := geo.Point{Lat: 40 + float64(writer)/10, Lng: -74}
				box := geo.Box{North: place.Lat + 0.01, South: place.Lat - 0.01, East: -73.9, West: -74.1}
				h := serving()
				h.Location.Point = place
				for round := range int64(100) {
					h.Version = 3*round + 1
					h.DeletedAt = time.Time{}
					h.ID = beacon.HotspotID(id.New(beacon.HotspotPrefix, noon))
					mustApply(t, f, h)
					if s := f.Survey(box, fleet.AnyZoom, noon); s.Count != 1 || s.AreaKm2 != 0 {
						t.Errorf("registered: %+v", s)
					}
					f.Replay([]heartbeat.Beat{beatOf(h, noon, 1)})
					if s := f.Survey(box, fleet.AnyZoom, noon); s.Count != 1 || s.AreaKm2 == 0 {
						t.Errorf("beat: %+v", s)
					}
					h.Version, h.DeletedAt = h.Version+1, noon
					mustApply(t, f, h)
					if s := f.Survey(box, fleet.AnyZoom, noon); s.Count != 0 || s.AreaKm2 != 0 {
						t.Errorf("deleted: %+v", s)
					}
				}
			})
		}
		writers.Wait()
	})
}

// A reader never waits for a crowd that came at once: it is drawn by the job that
// does so each second.
func TestSurvey_DoesNotWaitForACrowd(t *testing.T) {
	f := mapped(t)
	var crowd []beacon.Hotspot
	var beats []heartbeat.Beat
	for i := range 1500 {
		h := serving()
		h.Location.Point.Lng = float64(i) / 100
		crowd = append(crowd, h)
		beats = append(beats, beatOf(h, noon, 1))
	}
	mustApply(t, f, crowd...)
	f.Replay(beats)
	if s := f.Survey(everywhere, fleet.AnyZoom, noon); s.Count != 0 || f.Online() != 0 {
		t.Errorf("%d were drawn at once, and %d shown as online", s.Count, f.Online())
	}
	if waiting, took := f.Drawing(); waiting < len(crowd) || took != 0 {
		t.Errorf("%d changes are said to wait, and the last drawing to have taken %s; want at least %d, and none", waiting, took, len(crowd))
	}
	if err := f.Redraw(noon); err != nil {
		t.Fatal(err)
	}
	if waiting, took := f.Drawing(); waiting != 0 || took <= 0 || f.Online() != len(crowd) {
		t.Errorf("%d changes are said to wait after a drawing that took %s, and %d hotspots to be online", waiting, took, f.Online())
	}
	s := f.Survey(everywhere, fleet.AnyZoom, noon)
	online := 0
	for _, c := range s.Clusters {
		online += c.Online
	}
	if s.Count != len(crowd) || online != len(crowd) || !s.Aggregated {
		t.Errorf("%d hotspots, %d online; want %d", s.Count, online, len(crowd))
	}
	mustApply(t, f, serving()) // was never heard
	if s := f.Survey(everywhere, fleet.AnyZoom, noon); s.Count != len(crowd)+1 || f.Online() != len(crowd) {
		t.Errorf("%d hotspots, %d online; want %d, and one more", s.Count, f.Online(), len(crowd))
	}
}

// The same when a crowd falls silent at once, by the clock alone.
func TestSurvey_DoesNotWaitForSilence(t *testing.T) {
	f, online := town(t, 2400)
	if online <= 1000 {
		t.Fatalf("only %d are online: a reader would draw them", online)
	}
	lit := func(now time.Time) (count int) {
		for _, c := range f.Survey(everywhere, 0, now).Clusters {
			count += c.Online
		}
		return count
	}
	later := noon.Add(beacon.OfflineAfter + time.Second)
	if got := lit(later); got != online {
		t.Errorf("a reader drew %d", online-got)
	}
	if err := f.Redraw(later); err != nil {
		t.Fatal(err)
	}
	if got := lit(later); got != 0 {
		t.Errorf("%d are shown as online", got)
	}
}
