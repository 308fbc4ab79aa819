package heartbeat_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func hotspotSince(active time.Time) (h beacon.Hotspot) {
	h.Location.VerifiedAt, h.Device.LinkedAt = active, active
	return h
}

// at is a beat of a boot at a time.
func at(t time.Time, boot, seq, carried uint64, clients int) *heartbeat.Beat {
	return &heartbeat.Beat{At: t.UnixMicro(), Heartbeat: beacon.Heartbeat{Boot: boot, Seq: seq, Bytes: carried, Clients: clients}}
}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestApply_KnownBeatChangesNothing(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	if table.Knows(l, 1, 5) || !table.Apply(l, at(noon, 1, 5, 100, 3)) || !table.Knows(l, 1, 5) {
		t.Fatal("the first beat is not fresh")
	}
	table.FoldNow(l, nil, noon)
	want := table.Metrics(l, noon)
	if table.Apply(l, at(noon, 1, 5, 100, 3)) || table.Metrics(l, noon) != want || l.Dirty() {
		t.Errorf("a known beat changed something: %+v; want %+v", table.Metrics(l, noon), want)
	}
}

// Two replicas take the same beat at two moments, before either hears of the other.
func TestApply_SameBeatOnTwoReplicas(t *testing.T) {
	beats := []*heartbeat.Beat{at(noon.Add(-time.Second), 1, 5, 100, 3), at(noon.Add(3*time.Second), 1, 5, 100, 3)}
	var records [2][]byte
	for i := range records {
		table := heartbeat.NewTable(heartbeat.NewOutages())
		l := table.Place(nil, hotspotSince(noon.Add(-time.Hour)))
		first := table.Apply(l, beats[i])
		second := table.Apply(l, beats[1-i])
		if !first || second {
			t.Errorf("fresh: %v, then %v", first, second)
		}
		records[i] = table.FoldNow(l, nil, noon.Add(time.Hour))[0].Append(nil)
	}
	if !bytes.Equal(records[0], records[1]) {
		t.Errorf("the order of arrival shows:\n%x\n%x", records[0], records[1])
	}
}

func TestMetrics_Traffic(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon.AddDate(0, 0, -5)))
	table.Apply(l, at(noon.AddDate(0, 0, -4), 1, 1, 1000, 1))
	table.Apply(l, at(noon, 1, 2, 1500, 4))                      // back after days: only what was added counts
	table.Apply(l, at(noon.Add(time.Minute), 2, 1, 70, 6))       // a reboot counts from 0
	table.Apply(l, at(noon.Add(2*time.Minute), 2, 2, 20, 2))     // lower: the maximum stays
	table.Apply(l, at(noon.Add(61*time.Minute), 2, 3, 100, 5))   // the next hour
	table.Apply(l, at(noon.Add(-90*time.Minute), 1, 3, 1200, 1)) // late, of an hour before
	m := table.Metrics(l, noon.Add(62*time.Minute))
	if m.Bytes24h != 600 || m.Connections24h != 1+6+5 || m.Clients != 5 {
		t.Errorf("got %d bytes, %d connections, %d clients; want 600, 12, 5", m.Bytes24h, m.Connections24h, m.Clients)
	}
	// The 24 hours up to 11:00 no longer include the 200 bytes of 10:30 on the day before.
	if m := table.Metrics(l, noon.Add(23*time.Hour-time.Minute)); m.Bytes24h != 400 || m.Connections24h != 11 {
		t.Errorf("later: %d bytes, %d connections; want 400, 11", m.Bytes24h, m.Connections24h)
	}
}

// A device that is linked again goes on with the uptime of its hotspot; the time between
// does not count.
func TestPlace_UptimeGoesOn(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	start := noon.AddDate(0, 0, -3)
	l := table.Place(nil, hotspotSince(start))
	table.Apply(l, at(start, 1, 1, 0, 1))
	table.FoldNow(l, nil, noon.Add(-time.Hour))
	again := noon.Add(-10 * time.Minute)
	h := hotspotSince(again)
	h.PastService = []beacon.Period{{From: start, Until: noon.Add(-time.Hour)}}
	table.Place(l, h)
	for i := range 5 {
		table.Apply(l, at(again.Add(time.Duration(i)*time.Minute), 1, uint64(2+i), 0, 1))
	}
	expected := (12 + 2*24 + 11) * 60
	if m := table.Metrics(l, noon.Add(-time.Minute)); m.Uptime30d != (4+8)*10_000/(expected+10) {
		t.Errorf("uptime %d; want 12 of %d minutes", m.Uptime30d, expected+10)
	}
	records := table.FoldNow(l, nil, noon)
	if r := records[len(records)-1]; r.Expected() != 11*60+8 {
		t.Errorf("today %d minutes were expected; want %d", r.Expected(), 11*60+8)
	}
}

func TestPlace_HoursChangeOnlyTheFuture(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	h := hotspotSince(noon.Add(-2 * time.Hour))
	l := table.Place(nil, h)
	table.Apply(l, at(noon, 1, 1, 0, 1))
	h.PastHours = []beacon.PastHours{{Until: noon.Add(30 * time.Second)}}
	h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC"} // never open
	table.Place(l, h)
	if r := table.FoldNow(l, nil, noon.Add(time.Hour))[0]; r.Expected() != 121 || r.Served() != 1 {
		t.Errorf("%d of %d; want 1 of 121", r.Served(), r.Expected())
	}
}

func TestPlace_KeepsNoOldHours(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	var lives []*heartbeat.Live
	for i := range 100 {
		h := hotspotSince(noon)
		h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: i % 2, Close: 900}}}
		lives = append(lives, table.Place(nil, h))
	}
	for i := range 10_000 {
		h := hotspotSince(noon)
		h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"tue"}, Open: i % 1000, Close: 1200}}}
		table.Place(lives[0], h)
	}
	if n := table.Timelines(); n != 3 {
		t.Errorf("%d timelines are remembered; want 3", n)
	}
	for _, l := range lives {
		table.Remove(l)
	}
	if n := table.Timelines(); n != 0 {
		t.Errorf("%d timelines are remembered; want none", n)
	}
}

func TestApply_BootLoop(t *testing.T) {
	level.Repeats(t)
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	for i := range uint64(3000) {
		table.Apply(l, at(noon.Add(time.Duration(i)*time.Second), i+1, 0, 10, 1))
	}
	if m := table.Metrics(l, noon.Add(time.Hour)); m.Bytes24h != 20_480 {
		t.Errorf("%d bytes; want those of the last 2048 boots", m.Bytes24h)
	}
	if size := table.Packed(l); size > 40_000 {
		t.Errorf("a boot loop takes %d bytes", size)
	}
	if !table.Knows(l, 2990, 0) || table.Knows(l, 5000, 0) || table.Knows(l, 900, 0) {
		t.Error("the boots that it remembers are the wrong ones")
	}
}

func TestTable_ClockJumps(t *testing.T) {
	level.Repeats(t)
	r := rand.New(rand.NewPCG(11, 11))
	times := []int64{0, -1, math.MinInt64, math.MaxInt64, 1, noon.UnixMicro(), noon.UnixMicro() + 1e6, noon.AddDate(20, 0, 0).UnixMicro(), noon.AddDate(-40, 0, 0).UnixMicro(), noon.AddDate(0, 0, 1).UnixMicro(), noon.AddDate(3000, 0, 0).UnixMicro()}
	for range 40 {
		table := heartbeat.NewTable(heartbeat.NewOutages())
		l := table.Place(nil, hotspotSince(noon.AddDate(0, 0, -r.IntN(50))))
		for i := range uint64(200) {
			b := at(noon, r.Uint64N(3), i, r.Uint64(), 1)
			b.At = times[r.IntN(len(times))] + r.Int64N(3)*86_400_000_000
			if r.IntN(5) == 0 {
				b.Test.LatencyMs = 1
			}
			table.Apply(l, b)
			if r.IntN(4) > 0 {
				continue
			}
			now := time.UnixMicro(times[r.IntN(len(times))])
			switch r.IntN(5) {
			case 0:
				for _, rec := range table.FoldNow(l, nil, now) {
					if _, err := heartbeat.DecodeRecord(rec.Append(nil)); err != nil {
						t.Fatal(err)
					}
				}
				table.Folded(l)
			case 1:
				table.Refresh(now)
			case 2:
				table.ClockBack(now, 0)
				if l.Seen() > max(now.UnixMicro(), 0) {
					t.Fatalf("seen at %d after the clock was set back to %v", l.Seen(), now)
				}
			case 3:
				table.Latest(l, nil, now)
			case 4:
				table.Metrics(l, now)
			}
		}
		if size := table.Packed(l); size > 10_000 {
			t.Fatalf("clock jumps take %d bytes", size)
		}
	}
}

func TestClockBack_GoesOn(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 100, 1))
	table.Apply(l, at(noon.AddDate(0, 1, 0), 1, 2, 200, 2)) // the clock is a month ahead
	records := table.FoldNow(l, nil, noon.AddDate(0, 1, 0))
	table.ClockBack(noon.Add(2*time.Minute), 0) // while they are written
	table.Folded(l)
	back := noon.Add(time.Minute)
	table.ClockBack(back, 0)
	table.Restore(l, records[0])
	if l.Seen() > back.UnixMicro() {
		t.Errorf("seen at %d, after %d", l.Seen(), back.UnixMicro())
	}
	for i := range 9 {
		table.Apply(l, at(noon.Add(time.Duration(1+i)*time.Minute), 1, uint64(3+i), 300, 1))
	}
	if m := table.Metrics(l, noon.Add(9*time.Minute)); m.Bytes24h != 300 || m.Uptime30d != 10_000 {
		t.Errorf("after the clock was set back: %+v", m)
	}
}

func TestRemove_ForgetsAndIsUsedAgain(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 100, 1))
	table.Remove(l)
	if table.Apply(l, at(noon, 1, 2, 100, 1)) || l.Seen() != 0 || l.Dirty() || l.Shown() != (heartbeat.Shown{}) {
		t.Error("a removed live goes on")
	}
	seen := map[*heartbeat.Live]bool{}
	for range 20_000 {
		l := table.Place(nil, beacon.Hotspot{})
		if l.Seen() != 0 || table.Knows(l, 1, 1) || table.Metrics(l, noon) != (beacon.Metrics{}) {
			t.Fatal("a new live knows something")
		}
		seen[l] = true
		table.Apply(l, at(noon, 1, 1, 100, 1))
		table.Remove(l)
	}
	if len(seen) > 5000 {
		t.Errorf("%d lives were made for one at a time", len(seen))
	}
}

func TestSeries_StepsAddUp(t *testing.T) {
	s := newSteady(1)
	s.beats(0, 1000)
	r := s.table.Latest(s.lives[0], nil, s.at(1000))[0]
	midnight := r.Day().Time()
	for _, step := range []time.Duration{time.Second, time.Minute, 7 * time.Minute, time.Hour, 5 * time.Hour, 48 * time.Hour} {
		from, to := midnight.Add(-time.Hour), midnight.Add(26*time.Hour)
		if step < time.Minute {
			to = midnight.Add(24 * time.Hour)
		}
		var sum heartbeat.Point
		for _, p := range heartbeat.Series([]*heartbeat.Record{r}, from, to, step) {
			sum.Served += p.Served
			sum.Expected += p.Expected
			sum.Bytes += p.Bytes
			sum.Clients = max(sum.Clients, p.Clients)
		}
		if sum.Served != 1001 || sum.Expected != 1001 || sum.Bytes != r.Bytes() || sum.Bytes != 999*16_777_259 || sum.Clients != 9 {
			t.Errorf("steps of %v: %+v", step, sum)
		}
	}
	for i, p := range heartbeat.Series([]*heartbeat.Record{r}, midnight, midnight.Add(20*time.Hour), time.Hour) {
		want := beacon.Standard
		if i >= 6 && i <= 16 { // two tests, of 0:07 and 6:07
			want = beacon.Enhanced
		}
		if p.Tier != want {
			t.Errorf("hour %d: %v; want %v", i, p.Tier, want)
		}
	}
}

// Everything at once, for the race detector; nothing may be lost.
func TestTable_Concurrent(t *testing.T) {
	service := heartbeat.NewOutages()
	s := newSteady(40)
	s.table = heartbeat.NewTable(service)
	for i := range s.lives {
		s.lives[i] = s.table.Place(nil, hotspotSince(s.start))
	}
	done := make(chan bool)
	var others sync.WaitGroup
	other := func(do func(n int)) {
		others.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					do(n)
				}
			}
		})
	}
	other(func(n int) { s.table.Refresh(s.at(n % 100)) })
	other(func(n int) { service.Set([]heartbeat.Span{{From: 0, To: 1 << 30}}) })
	other(func(n int) {
		l := s.lives[n%len(s.lives)]
		if l.Dirty() && l.Seen() > 0 && l.Shown().Uptime >= 0 {
			s.table.FoldNow(l, nil, s.at(50))
			s.table.Folded(l)
		}
		s.table.Metrics(l, s.at(99))
	})
	s.beats(0, 100)
	close(done)
	others.Wait()
	for _, l := range s.lives {
		if m := s.table.Metrics(l, s.at(99)); m.Uptime30d != 10_000 || m.Bytes24h != 99*16_777_259 {
			t.Fatalf("something was lost: %+v", m)
		}
	}
}

func TestShown_CountsFromTheActivation(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon.Add(10*time.Minute)))
	for i := range 14 {
		table.Apply(l, at(noon.Add(time.Duration(i)*time.Minute), 1, uint64(i), 0, 2))
	}
	if got := l.Shown(); got != (heartbeat.Shown{Clients: 2, Uptime: 10_000}) {
		t.Errorf("shown %+v; want 2 clients, and all of the minutes since the activation", got)
	}
	table.Refresh(noon.Add(19 * time.Minute))
	if got := l.Shown(); got.Uptime != 7000 {
		t.Errorf("shown %+v; want 7 of 10 minutes", got)
	}
}

func TestShown_AfterALateBeat(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	l := table.Place(nil, hotspotSince(noon))
	for i := range 10 {
		table.Apply(l, at(noon.Add(time.Duration(i*13)*time.Minute), 1, uint64(i+1), 0, 1))
	}
	table.Apply(l, at(noon.Add(5*time.Minute), 1, 0, 0, 1))
	if got, want := l.Shown().Uptime, table.Metrics(l, noon.Add(9*13*time.Minute)).Uptime30d; got != want || want == 0 {
		t.Errorf("shown %d; want %d", got, want)
	}
}
