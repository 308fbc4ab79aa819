package replica_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/replica"
)

// follow makes an empty fleet that follows a source, and loads it.
func follow(t testing.TB, s replica.Source, onKey func(beacon.KeyID, beacon.ChangeKind)) (*fleet.Fleet, *replica.Follower) {
	t.Helper()
	f := newFleet()
	fo := replica.NewFollower(f, s, new(clock.Heard), onKey, noBeats{}, slog.New(slog.DiscardHandler))
	if err := fo.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, fo
}

func noKeys(beacon.KeyID, beacon.ChangeKind) {}

func newFleet() *fleet.Fleet {
	return fleet.New(func(h beacon.Hotspot, _ *beacon.Hotspot) string { return string(h.ID) })
}

// at makes a version of a hotspot.
func at(id string, version int64) beacon.Hotspot {
	return beacon.Hotspot{ID: beacon.HotspotID(id), Version: version, Location: beacon.Location{Point: geo.Point{Lat: float64(version) / 1000}}}
}

func deleted(id string, version int64) beacon.Hotspot {
	h := at(id, version)
	h.DeletedAt = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	return h
}

func mustApply(t testing.TB, f *fleet.Fleet, hotspots ...beacon.Hotspot) {
	t.Helper()
	if err := f.Apply(hotspots...); err != nil {
		t.Fatal(err)
	}
}

// versions are those of all hotspots in a fleet.
func versions(f *fleet.Fleet) map[string]int64 {
	all := map[string]int64{}
	f.All(func(h *fleet.Hotspot) bool {
		all[h.ID()] = h.Version()
		return true
	})
	return all
}

func mustStep(t testing.TB, fo *replica.Follower) {
	t.Helper()
	if err := fo.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A start reads deleted hotspots as long as their heartbeats may count.
func TestFollower_LoadDeleted(t *testing.T) {
	s, f, noon := newSource(), newFleet(), time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	recent, old := deleted("recent", 1), deleted("old", 1)
	for _, h := range []*beacon.Hotspot{&recent, &old} {
		h.Location.VerifiedAt, h.Device.LinkedAt = noon.AddDate(0, 0, -1), noon.AddDate(0, 0, -1)
	}
	recent.DeletedAt, old.DeletedAt = noon, noon.Add(-time.Hour)
	s.write("n", recent)
	s.write("n", old)
	fo := replica.NewFollower(f, s, new(clock.Heard), noKeys, noBeats{since: noon.Add(-time.Minute)}, slog.New(slog.DiscardHandler))
	if err := fo.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.Dirty(true); !slices.Equal(got, []beacon.HotspotID{recent.ID}) {
		t.Errorf("the heartbeats of %v count; want %s", got, recent.ID)
	}
}

// Streams grow and rows change between any two calls of a step: nothing is
// missed, and after the last step the fleet is what the store is.
func TestFollower_MissesNothing(t *testing.T) {
	s := newSource()
	random := rand.New(rand.NewPCG(1, 2))
	next := map[string]int64{}
	writes := 0
	s.between = func(string) {
		for range random.IntN(4) {
			id := fmt.Sprintf("hotspot-%d", random.IntN(300))
			if next[id] < 0 {
				continue // gone for good
			}
			next[id]++
			h := at(id, next[id])
			if random.IntN(10) == 0 {
				h = deleted(id, next[id])
				next[id] = -1
			}
			s.write(fmt.Sprintf("node-%d", random.IntN(5)), h)
			writes++
		}
	}
	f, fo := follow(t, s, noKeys)
	for range 300 {
		mustStep(t, fo)
	}
	s.between = nil
	mustStep(t, fo)
	if got, want := versions(f), s.live(); !maps.Equal(got, want) || len(want) < 50 {
		t.Errorf("after %d writes the fleet has %d hotspots, the store %d: %v; want %v", writes, len(got), len(want), got, want)
	}
}

// More changes than fit into one reading are all taken over in one step, and a
// hotspot that changed often is loaded once for each reading.
func TestFollower_LongStream(t *testing.T) {
	s := newSource()
	f, fo := follow(t, s, noKeys)
	for v := range int64(1200) {
		s.write("n", at("a", v+1))
	}
	s.write("n", at("b", 1))
	mustStep(t, fo)
	if got := versions(f); got["a"] != 1200 || got["b"] != 1 {
		t.Errorf("the fleet is at %v", got)
	}
	if s.calls["Changes"] != 3 || s.loaded["a"] != 1 {
		t.Errorf("it read changes %d times and the hotspot %d times; want 3 and 1", s.calls["Changes"], s.loaded["a"])
	}
}

// A stream with a gap, out of order or shorter than its head is a fault: the
// step fails, and the follower does not move past it.
func TestFollower_BrokenStream(t *testing.T) {
	for name, tamper := range map[string]func([]beacon.Change) []beacon.Change{
		"gap":          func(c []beacon.Change) []beacon.Change { return append(c[:1:1], c[2:]...) },
		"first":        func(c []beacon.Change) []beacon.Change { return c[1:] },
		"repeated":     func(c []beacon.Change) []beacon.Change { return append(c[:1:1], c...) },
		"out of order": func(c []beacon.Change) []beacon.Change { slices.Reverse(c); return c },
		"empty":        func([]beacon.Change) []beacon.Change { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource()
			f, fo := follow(t, s, noKeys)
			for i := range 4 {
				s.write("n", at(strings.Repeat("x", i+1), 1))
			}
			s.tamper = tamper
			for range 2 {
				if err := fo.Step(t.Context()); err == nil || f.Len() != 0 {
					t.Fatalf("Step = %v, and the fleet has %d hotspots; want an error and none", err, f.Len())
				}
			}
			s.tamper = nil
			mustStep(t, fo)
			if got := versions(f); !maps.Equal(got, s.live()) || len(got) != 4 {
				t.Errorf("once the stream is whole the fleet has %v; want %v", got, s.live())
			}
		})
	}
}

// What this process wrote itself is in the fleet already and is not loaded
// again; a newer version of it by someone else is.
func TestFollower_OwnChanges(t *testing.T) {
	s := newSource()
	f, fo := follow(t, s, noKeys)
	s.write("me", at("a", 1))
	mustApply(t, f, at("a", 1))
	s.write("me", deleted("b", 2))
	mustApply(t, f, deleted("b", 2))
	mustStep(t, fo)
	if len(s.loaded) != 0 {
		t.Errorf("the follower loaded %v; it has them", s.loaded)
	}
	s.write("other", at("a", 2))
	mustStep(t, fo)
	mustStep(t, fo)
	if s.loaded["a"] != 1 || versions(f)["a"] != 2 {
		t.Errorf("a newer version was loaded %d times, and version %d is there", s.loaded["a"], versions(f)["a"])
	}
}

// Wherever a step fails, the next one goes on from where the last good one
// stopped.
func TestFollower_CatchesUp(t *testing.T) {
	for _, method := range []string{"Heads", "Changes", "HotspotsByID"} {
		t.Run(method, func(t *testing.T) {
			s := newSource()
			var told []beacon.KeyID
			f, fo := follow(t, s, func(id beacon.KeyID, _ beacon.ChangeKind) { told = append(told, id) })
			s.fail(method, errAway)
			for i := range 3 {
				s.write("n", at(fmt.Sprint("hotspot-", i), 1))
				s.key("n", beacon.KeyRevoked, fmt.Sprint("key_", i))
				if err := fo.Step(t.Context()); err == nil || f.Len() != 0 {
					t.Fatalf("Step = %v with %d hotspots", err, f.Len())
				}
			}
			s.fail(method, nil)
			mustStep(t, fo)
			if got := versions(f); !maps.Equal(got, s.live()) || len(got) != 3 {
				t.Errorf("the fleet has %v; want %v", got, s.live())
			}
			for i := range 3 {
				if !slices.Contains(told, beacon.KeyID(fmt.Sprint("key_", i))) {
					t.Errorf("key %d was not told of", i)
				}
			}
		})
	}
}

func TestFollower_Keys(t *testing.T) {
	s := newSource()
	s.key("n", beacon.KeyCreated, "key_before") // nobody can have it in memory yet
	var told []beacon.KeyID
	_, fo := follow(t, s, func(id beacon.KeyID, _ beacon.ChangeKind) { told = append(told, id) })
	s.key("n", beacon.KeyCreated, "key_a")
	s.write("n", at("a", 1))
	s.key("m", beacon.KeyRevoked, "key_b")
	mustStep(t, fo)
	mustStep(t, fo)
	slices.Sort(told)
	if want := []beacon.KeyID{"key_a", "key_b"}; !slices.Equal(told, want) {
		t.Errorf("told of %v; want %v", told, want)
	}
	if s.loaded["key_a"] > 0 {
		t.Error("a key was taken for a hotspot")
	}
}

// What is not about a hotspot, or changes none, is passed over: a month of a
// million users must not cost a million look-ups.
func TestFollower_NoHotspots(t *testing.T) {
	s := newSource()
	f, fo := follow(t, s, func(id beacon.KeyID, _ beacon.ChangeKind) { t.Errorf("told of %s", id) })
	for _, kind := range []beacon.ChangeKind{
		beacon.RewardsSettled, beacon.RewardsFinished, beacon.RewardsReopened, beacon.PolicyAdopted, beacon.HoldPlaced, beacon.HoldExtended, beacon.HoldVisitFailed, beacon.HoldAnswered, beacon.HoldReleased, beacon.HoldVoided, beacon.HoldErased, beacon.ErasureAsked, beacon.ErasureWithdrawn, beacon.UserErased, beacon.ClockConfirmed, beacon.FlagDismissed, beacon.LinkCodeCreated, beacon.LinkRefused, beacon.VerificationRefused,
	} {
		s.change("n", beacon.Change{Kind: kind, Target: "target of " + string(kind), Version: 1}, func() {})
	}
	s.write("n", at("a", 1))
	mustStep(t, fo)
	if got := versions(f); !maps.Equal(got, s.live()) || len(s.loaded) != 1 {
		t.Errorf("the fleet has %v after it asked for %v; want %v", got, s.loaded, s.live())
	}
}

// Load reads the places before the hotspots, so that a write in between is met
// twice and not missed; its callback may run from many goroutines.
func TestFollower_Load(t *testing.T) {
	s := newSource()
	for i := range 500 {
		s.write("n", at(fmt.Sprint("hotspot-", i), 1))
	}
	s.write("n", deleted("hotspot-7", 2))
	s.between = func(method string) {
		if method == "EachHotspot" {
			s.write("n", at("late", 1))
		}
	}
	f, fo := follow(t, s, noKeys)
	s.between = nil
	s.write("n", at("later", 1))
	mustStep(t, fo)
	if got := versions(f); !maps.Equal(got, s.live()) || len(got) != 501 {
		t.Errorf("the fleet has %d hotspots; want %d", len(got), len(s.live()))
	}
	if s.loaded["later"] != 1 || len(s.loaded) != 1 {
		t.Errorf("after the load these were read again: %v", s.loaded)
	}
}

// A write that commits after the hotspots were read, and one that was read
// although its change came after the heads.
func TestFollower_LoadBetween(t *testing.T) {
	s := newSource()
	f := newFleet()
	fo := replica.NewFollower(f, &lateSource{source: s}, new(clock.Heard), noKeys, noBeats{}, slog.New(slog.DiscardHandler))
	if err := fo.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustStep(t, fo)
	if got := versions(f); !maps.Equal(got, map[string]int64{"early": 1, "late": 1}) {
		t.Errorf("the fleet has %v", got)
	}
}

// lateSource writes after the heads and after the hotspots were read.
type lateSource struct {
	*source
	once sync.Once
}

func (s *lateSource) EachHotspot(ctx context.Context, deletedSince time.Time, fn func(beacon.Hotspot) error) error {
	s.write("n", at("early", 1))
	err := s.source.EachHotspot(ctx, deletedSince, fn)
	s.once.Do(func() { s.write("n", at("late", 1)) })
	return err
}

func TestFollower_LoadFails(t *testing.T) {
	for _, method := range []string{"Heads", "Blur", "EachHotspot"} {
		s := newSource()
		s.write("n", at("a", 1))
		s.fail(method, errAway)
		var heard clock.Heard
		fo := replica.NewFollower(newFleet(), s, &heard, noKeys, noBeats{}, slog.New(slog.DiscardHandler))
		if err := fo.Load(t.Context()); err == nil || heard.InStep() {
			t.Errorf("%s fails: Load = %v, in step: %v", method, err, heard.InStep())
		}
	}
}

// In step is who saw everything there was at some moment of the last 2 s
// (decision N23): what counts is when a step began, and that it went well.
func TestFollower_InStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		f := newFleet()
		var heard clock.Heard
		fo := replica.NewFollower(f, s, &heard, noKeys, noBeats{}, slog.New(slog.DiscardHandler))
		check := func(when string, want bool) {
			t.Helper()
			if heard.InStep() != want {
				t.Errorf("%s: in step is %v", when, !want)
			}
		}
		check("before the load", false)
		if err := fo.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after the load", true)
		time.Sleep(2 * time.Second)
		check("2 s later", true)
		time.Sleep(time.Millisecond)
		check("a moment after that", false)

		s.delay = 1500 * time.Millisecond
		mustStep(t, fo)
		check("after a slow step", true)
		time.Sleep(501 * time.Millisecond)
		check("2 s after it began", false)

		s.delay = 0
		mustStep(t, fo)
		time.Sleep(1500 * time.Millisecond)
		s.fail("Heads", errAway)
		if err := fo.Step(t.Context()); err == nil {
			t.Fatal("the step did not fail")
		}
		check("after a failed step", true)
		time.Sleep(501 * time.Millisecond)
		check("2 s after the last good one", false)
	})
}

// Run looks a few times a second, says once that the store is away and once that
// it is back, gives up on a store that hangs, and ends with its context.
func TestFollower_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		var log bytes.Buffer
		f := newFleet()
		var heard clock.Heard
		fo := replica.NewFollower(f, s, &heard, noKeys, noBeats{}, slog.New(slog.NewTextHandler(&log, nil)))
		if err := fo.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			fo.Run(ctx)
			close(ended)
		}()
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		says := func(when string, lost, back int) {
			t.Helper()
			if a, b := strings.Count(log.String(), "level=ERROR"), strings.Count(log.String(), "level=INFO"); a != lost || b != back {
				t.Errorf("%s the log has %d errors and %d remarks; want %d and %d: %s", when, a, b, lost, back, log.String())
			}
		}
		s.write("n", at("a", 1))
		pass(200 * time.Millisecond)
		if versions(f)["a"] != 1 || !heard.InStep() {
			t.Error("200 ms after a write the fleet does not have it")
		}
		s.fail("Heads", errAway)
		pass(10 * time.Second)
		says("while the store is away", 1, 0)
		s.fail("Heads", nil)
		pass(time.Second)
		says("when it is back", 1, 1)

		s.mu.Lock()
		s.delay = time.Hour // it hangs
		s.mu.Unlock()
		pass(30 * time.Second)
		says("while it hangs", 2, 1)
		if heard.InStep() {
			t.Error("in step with a store that hangs")
		}
		s.mu.Lock()
		s.delay = 0
		s.mu.Unlock()
		s.write("n", at("b", 1))
		pass(6 * time.Second)
		says("in the end", 2, 2)
		if versions(f)["b"] != 1 {
			t.Error("a write while the store hung was missed")
		}
		stop()
		pass(time.Second)
		select {
		case <-ended:
		default:
			t.Error("Run goes on after its context")
		}
		says("after the end", 2, 2)
	})
}
