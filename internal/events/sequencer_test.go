package events_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/events"
	"github.com/beacon-wifi/beacon/internal/lease"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// startSequencer runs a process that wants to sequence. Its end is a clean one.
func startSequencer(t *testing.T, m *memory, name string, now func() time.Time, log *slog.Logger) (stop func()) {
	t.Helper()
	keeper := lease.NewHolder(m, "events", name, silent)
	seq := events.NewSequencer(m, keeper, clock.Of(now), func() {}, log)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { keeper.Run(ctx) })
	running.Go(func() { seq.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// holding makes a sequencer for a lease that is held.
func holding(t *testing.T, m *memory) (*events.Sequencer, lease.Lease) {
	t.Helper()
	l, _, err := m.TakeLease(t.Context(), "events", "me", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return events.NewSequencer(m, nil, clock.Of(atNoon), func() {}, silent), l
}

func mustStep(t *testing.T, s *events.Sequencer, l lease.Lease) {
	t.Helper()
	if err := s.Step(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

// told spells the events.
func (m *memory) told() (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range m.events {
		if e.Seq != int64(i+1) {
			list = append(list, fmt.Sprintf("number %d instead of %d", e.Seq, i+1))
		}
		list = append(list, fmt.Sprintf("%s %s", e.Kind, e.Target))
	}
	return list
}

func TestSequencer_WhatIsAnEvent(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	public := []beacon.ChangeKind{
		beacon.HotspotRegistered, beacon.HotspotVerified, beacon.HotspotLinked, beacon.HotspotUpdated,
		beacon.HotspotUnlinked, beacon.HotspotDeleted,
	}
	private := []beacon.ChangeKind{
		beacon.KeyCreated, beacon.LinkCodeCreated, beacon.LinkRefused, beacon.VerificationRefused, beacon.KeyRevoked,
		beacon.RewardsFinished, beacon.RewardsReopened, beacon.PolicyAdopted, beacon.HoldPlaced, beacon.HoldExtended, beacon.HoldVisitFailed, beacon.HoldAnswered, beacon.HoldReleased, beacon.HoldVoided, beacon.ClockConfirmed, beacon.FlagDismissed,
	}
	var want []string
	for i, kind := range public {
		for _, k := range private {
			m.write("n", k, "hs_1", int64(i), noon)
		}
		m.write("n", kind, "hs_1", int64(i+1), noon.Add(time.Duration(i)*time.Second))
		want = append(want, string(kind)+" hs_1")
	}
	m.write("n", beacon.KeyRevoked, "key_1", 0, noon)
	mustStep(t, s, l)
	if got := m.told(); !slices.Equal(got, want) {
		t.Errorf("the events are %v; want %v", got, want)
	}
	for i, e := range m.events {
		if e.User != "" || !e.At.Equal(noon.Add(time.Duration(i)*time.Second)) {
			t.Errorf("event %+v: want no user, and the time of the change", e)
		}
	}
	if m.places["n"] != int64(len(m.streams["n"])) {
		t.Errorf("the place is %d of %d; what is no event is passed over for good", m.places["n"], len(m.streams["n"]))
	}
}

// What is older than events are kept is passed over for good, in few writes: a
// database that was filled by an import may have a million such changes.
func TestSequencer_OldChanges(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	for range 5000 {
		m.write("n", beacon.HotspotRegistered, "hs_old", 1, noon.Add(-events.Kept-time.Second))
	}
	m.write("n", beacon.HotspotRegistered, "hs_kept", 1, noon.Add(-events.Kept))
	mustStep(t, s, l)
	if got := m.told(); !slices.Equal(got, []string{"hotspot.registered hs_kept"}) {
		t.Errorf("the events are %v", got)
	}
	if m.places["n"] != 5001 || m.called("AppendEvents") > 3 {
		t.Errorf("the place is %d after %d writes", m.places["n"], m.called("AppendEvents"))
	}
}

// What is old goes by what is certain, not by a clock that is a year ahead. Until the time
// is known, nothing is passed over, and nothing is an event.
func TestSequencer_OldByWhatIsCertain(t *testing.T) {
	m := newMemory()
	_, l := holding(t, m)
	certain := time.Time{}
	s := events.NewSequencer(m, nil, clock.Of(func() time.Time { return certain }), func() {}, silent)
	m.write("n", beacon.HotspotRegistered, "hs_old", 1, noon.Add(-events.Kept-time.Second))
	m.write("n", beacon.HotspotRegistered, "hs_1", 1, noon)
	if err := s.Step(t.Context(), l); err == nil || len(m.events) != 0 || m.places["n"] != 0 {
		t.Errorf("while nothing is certain: %v, %d events, place %d", err, len(m.events), m.places["n"])
	}
	certain = noon
	mustStep(t, s, l)
	certain = time.Time{} // where there are events, nothing depends on it
	m.write("other", beacon.HotspotUpdated, "hs_1", 2, noon)
	mustStep(t, s, l)
	if got := m.told(); !slices.Equal(got, []string{"hotspot.registered hs_1", "hotspot.updated hs_1"}) {
		t.Errorf("the events are %v", got)
	}
}

// The sequencer says nothing of the moment in which it does not know the time yet.
func TestSequencer_QuietUntilCertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.write("n", beacon.HotspotRegistered, "hs_1", 1, noon)
		var log bytes.Buffer
		keeper := lease.NewHolder(m, "events", "a", silent)
		known := time.Now().Add(time.Second)
		certain := func() time.Time {
			if time.Now().Before(known) {
				return time.Time{}
			}
			return noon
		}
		s := events.NewSequencer(m, keeper, clock.Of(certain), func() {}, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { keeper.Run(ctx) })
		running.Go(func() { s.Run(ctx) })
		time.Sleep(2 * time.Second)
		cancel()
		running.Wait()
		if got := m.told(); !slices.Equal(got, []string{"hotspot.registered hs_1"}) || log.Len() > 0 {
			t.Errorf("the events are %v, and the log says %s", got, log.String())
		}
	})
}

// A month that is settled is an event of its user, about the month.
func TestSequencer_Settled(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	var want []beacon.Event
	for i, month := range []string{"2026-10", "2026-11"} {
		for j, user := range []string{"usr_b", "usr_a"} {
			at := noon.Add(time.Duration(2*i+j) * time.Second)
			node := fmt.Sprint("n", i)
			m.write(node, beacon.RewardsSettled, user, 0, at)
			m.streams[node][j].Actor = beacon.Actor{User: "usr_staff", Request: "cli", Note: month}
			want = append(want, beacon.Event{Seq: int64(2*i + j + 1), Kind: beacon.RewardsSettled, Target: month, User: beacon.UserID(user), At: at})
		}
	}
	mustStep(t, s, l)
	if !slices.Equal(m.events, want) {
		t.Errorf("the events are %+v; want %+v", m.events, want)
	}
}

// Changes of many streams come in the order in which they happened to each
// hotspot, though the clocks of the machines differ by a minute.
func TestSequencer_Order(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 2))
		m := newMemory()
		s, l := holding(t, m)
		skew := map[string]time.Duration{}
		for node := range 4 {
			skew[fmt.Sprint("n", node)] = time.Duration(random.IntN(60_000)) * time.Millisecond
		}
		version := map[string]int64{}
		now := noon
		const changes = 300 // fewer than are read at once
		for range changes {
			now = now.Add(time.Millisecond)
			node, target := fmt.Sprint("n", random.IntN(4)), fmt.Sprint("hs_", random.IntN(20))
			if random.IntN(5) == 0 {
				m.write(node, beacon.LinkCodeCreated, target, 0, now.Add(skew[node]))
				continue
			}
			version[target]++
			// The version is told by the kind's place in a list that goes round.
			m.write(node, kindOf(version[target]), target, version[target], now.Add(skew[node]))
		}
		mustStep(t, s, l)
		seen := map[string]int64{}
		for _, e := range m.events {
			seen[e.Target]++
			if want := kindOf(seen[e.Target]); e.Kind != want {
				t.Fatalf("seed %d: event %d of %s is %s; want %s", seed, seen[e.Target], e.Target, e.Kind, want)
			}
		}
		if len(m.events) < changes/2 {
			t.Fatalf("seed %d: only %d events", seed, len(m.events))
		}
	}
}

func kindOf(version int64) beacon.ChangeKind {
	return []beacon.ChangeKind{
		beacon.HotspotRegistered, beacon.HotspotVerified, beacon.HotspotLinked, beacon.HotspotUpdated, beacon.HotspotUnlinked,
	}[version%5]
}

// Without a skew, a long backlog of many streams comes by time, piece by piece.
func TestSequencer_Backlog(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	random := rand.New(rand.NewPCG(3, 3))
	var want []string
	for i := range 20_000 {
		node := fmt.Sprint("n", min(random.IntN(10), random.IntN(40))) // some write more than others
		target := fmt.Sprint("hs_", i)
		m.write(node, beacon.HotspotRegistered, target, 1, noon.Add(time.Duration(i)*time.Millisecond))
		want = append(want, "hotspot.registered "+target)
	}
	mustStep(t, s, l)
	if got := m.told(); !slices.Equal(got, want) {
		t.Errorf("%d events, not in the order of %d changes", len(got), len(want))
	}
	if n := m.called("AppendEvents"); n < 20 {
		t.Errorf("20,000 changes were taken in %d pieces", n)
	}
}

// However an append fails, nothing is told twice and nothing is left out: not
// even when it is still under way in the database.
func TestSequencer_UnknownOutcomes(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 4))
		m := newMemory()
		s, l := holding(t, m)
		m.doubt = func() verdict { return verdict(random.IntN(4)) }
		version, failures := int64(0), 0
		for range 100 {
			for range random.IntN(5) {
				version++
				m.write(fmt.Sprint("n", random.IntN(3)), kindOf(version), "hs_1", version, noon)
			}
			if s.Step(t.Context(), l) != nil {
				failures++
			}
		}
		m.doubt = nil
		mustStep(t, s, l)
		got := m.told()
		for i, e := range got {
			if want := string(kindOf(int64(i+1))) + " hs_1"; e != want {
				t.Fatalf("seed %d: event %d is %s; want %s", seed, i+1, e, want)
			}
		}
		if len(got) != int(version) || failures < 20 {
			t.Fatalf("seed %d: %d events of %d changes, after %d failures", seed, len(got), version, failures)
		}
	}
}

// A stream that is not whole is not passed over.
func TestSequencer_BrokenStream(t *testing.T) {
	for name, tamper := range map[string]func(*memory){
		"gap":     func(m *memory) { m.streams["n"][1].Seq = 3 },
		"first":   func(m *memory) { m.streams["n"][0].Seq = 2 },
		"missing": func(m *memory) { m.fail["Changes"] = errAway },
		"short":   func(m *memory) { m.hidden = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			s, l := holding(t, m)
			for i := range 3 {
				m.write("n", beacon.HotspotUpdated, "hs_1", int64(i+1), noon)
			}
			tamper(m)
			if err := s.Step(t.Context(), l); err == nil || len(m.events) != 0 || m.places["n"] != 0 {
				t.Errorf("Step = %v, and there are %d events", err, len(m.events))
			}
		})
	}
}

// A sequencer that was replaced writes nothing, whatever it believes.
func TestSequencer_Replaced(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	m.write("n", beacon.HotspotRegistered, "hs_1", 1, noon)
	mustStep(t, s, l)
	m.holder = lease.Lease{Holder: "other", Token: l.Token + 1}
	m.write("n", beacon.HotspotUpdated, "hs_1", 2, noon)
	if err := s.Step(t.Context(), l); err == nil || len(m.events) != 1 {
		t.Errorf("Step = %v, with %d events", err, len(m.events))
	}
}

// Whoever gets the lease again looks what another did meanwhile.
func TestSequencer_Returns(t *testing.T) {
	m := newMemory()
	s, l := holding(t, m)
	m.write("n", beacon.HotspotRegistered, "hs_1", 1, noon)
	mustStep(t, s, l)
	m.write("n", beacon.HotspotUpdated, "hs_1", 2, noon)
	m.holder.Token = 2
	mustStep(t, events.NewSequencer(m, nil, clock.Of(atNoon), func() {}, silent), lease.Lease{Token: 2})
	m.write("n", beacon.HotspotDeleted, "hs_1", 3, noon)
	m.holder.Token = 3
	mustStep(t, s, lease.Lease{Token: 3})
	if got := m.told(); !slices.Equal(got, []string{"hotspot.registered hs_1", "hotspot.updated hs_1", "hotspot.deleted hs_1"}) {
		t.Errorf("the events are %v", got)
	}
}

// The hub is woken when there are events, and only then.
func TestSequencer_Wakes(t *testing.T) {
	m := newMemory()
	_, l := holding(t, m)
	woken := 0
	s := events.NewSequencer(m, nil, clock.Of(atNoon), func() { woken++ }, silent)
	mustStep(t, s, l)
	m.write("n", beacon.KeyCreated, "key_1", 0, noon)
	mustStep(t, s, l)
	if woken != 0 {
		t.Errorf("woken %d times for nothing", woken)
	}
	m.write("n", beacon.HotspotRegistered, "hs_1", 1, noon)
	mustStep(t, s, l)
	if woken != 1 {
		t.Errorf("woken %d times for an event", woken)
	}
}

// Events are there within a fifth of a second; whoever has the lease goes on
// where another stopped, and says once when the database is away.
func TestSequencer_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var log bytes.Buffer
		stop := startSequencer(t, m, "a", time.Now, slog.New(slog.NewTextHandler(&log, nil)))
		synctest.Wait()
		startSequencer(t, m, "b", time.Now, silent)
		version := int64(0)
		happens := func(when string, within time.Duration) {
			t.Helper()
			version++
			m.write("n", beacon.HotspotUpdated, fmt.Sprint("hs_", version), 1, time.Now())
			time.Sleep(within)
			synctest.Wait()
			if got := m.told(); len(got) != int(version) || got[version-1] != fmt.Sprint("hotspot.updated hs_", version) {
				t.Errorf("%s: the events are %v after %d changes", when, got, version)
			}
		}
		time.Sleep(time.Second)
		happens("at first", 200*time.Millisecond)
		m.set(func() { m.fail["Heads"] = errAway })
		time.Sleep(2 * time.Second)
		m.set(func() { m.fail["Heads"] = nil })
		happens("after an absence", 400*time.Millisecond)
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("the log has %d lines: %s", n, log.String())
		}
		stop()
		happens("after the holder left", lease.TTL/3+200*time.Millisecond)
		m.set(func() { m.fail["TakeLease"] = errAway })
		time.Sleep(2 * lease.TTL)
		m.set(func() { m.fail["TakeLease"] = nil })
		happens("after the lease was lost", lease.TTL)
	})
}

// How long the sequencing stands still is told by who has to do it, and by nobody
// else.
func TestSequencer_Age(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		keeper := lease.NewHolder(m, "events", "a", silent)
		s := events.NewSequencer(m, keeper, clock.Of(time.Now), func() {}, silent)
		want := func(when string, least, most time.Duration) {
			t.Helper()
			synctest.Wait()
			if age := s.Age(); age < least || age > most {
				t.Errorf("%s: %s; want %s to %s", when, age, least, most)
			}
		}
		want("before it runs", 0, 0)
		var running sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		running.Go(func() { keeper.Run(ctx) })
		running.Go(func() { s.Run(ctx) })
		time.Sleep(10 * time.Second)
		want("while it works", 0, 200*time.Millisecond)
		m.set(func() { m.fail["Heads"] = errAway })
		time.Sleep(20 * time.Second)
		want("while it cannot", 20*time.Second, 20200*time.Millisecond)
		m.set(func() { m.fail["Heads"] = nil })
		time.Sleep(time.Second)
		want("when it can again", 0, 200*time.Millisecond)
		m.set(func() { m.fail["TakeLease"], m.fail["Heads"] = errAway, errAway })
		time.Sleep(2 * lease.TTL)
		want("when the lease is lost", 0, 0)
		cancel()
		running.Wait()
	})
}

// Old events are deleted when someone takes the lease, and every hour of real
// time; how old they are, the clock of the data tells.
func TestSequencer_Prunes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		began := time.Now()
		now := func() time.Time { return began.Add(100 * time.Since(began)) }
		startSequencer(t, m, "a", now, silent)
		for range 100 { // 4 h 10 min, 416 h of the data
			m.write("n", beacon.HotspotUpdated, "hs_1", 1, now())
			time.Sleep(150 * time.Second)
		}
		synctest.Wait()
		if n := m.called("PruneEvents"); n != 5 {
			t.Errorf("in a bit more than four hours old events were deleted %d times", n)
		}
		// The last time was at 400 h of the data, when events since 232 h were young.
		if m.pruned < 55 || m.pruned > 57 || len(m.events) != 100 {
			t.Errorf("of %d events %d were deleted", len(m.events), m.pruned)
		}
	})
}

// A clock that is a year ahead deletes no events that are young by the other witnesses, and
// none are deleted while nothing is certain.
func TestSequencer_PrunesByWhatIsCertain(t *testing.T) {
	for _, certain := range []time.Time{noon.Add(time.Hour), {}} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.events = []beacon.Event{{Seq: 1, Kind: beacon.HotspotOnline, At: noon}}
			keeper := lease.NewHolder(m, "events", "a", silent)
			seq := events.NewSequencer(m, keeper, clock.Of(func() time.Time { return certain }), func() {}, silent)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { keeper.Run(ctx) })
			running.Go(func() { seq.Run(ctx) })
			time.Sleep(3 * time.Hour) // by the clock of synctest
			cancel()
			running.Wait()
			if m.pruned != 0 || m.called("PruneEvents") > 0 == certain.IsZero() {
				t.Errorf("%d events were deleted, in %d calls, when %s is certain", m.pruned, m.called("PruneEvents"), certain)
			}
		})
	}
}
