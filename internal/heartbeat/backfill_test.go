package heartbeat_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// twoWays is a hotspot whose beats go to a table, one by one, and to a backfill,
// by the hour.
type twoWays struct {
	table    *heartbeat.Table
	live     *heartbeat.Live
	backfill *heartbeat.Backfill
}

func newTwoWays(service *heartbeat.Outages, h beacon.Hotspot) *twoWays {
	table := heartbeat.NewTable(service)
	return &twoWays{table: table, live: table.Place(nil, h), backfill: heartbeat.NewBackfill(service, h)}
}

func (w *twoWays) place(h beacon.Hotspot) {
	w.table.Place(w.live, h)
	w.backfill.Place(h)
}

// beats are so many, one a minute, of which b is the last.
func (w *twoWays) beats(b heartbeat.Beat, count int) {
	for i := range count {
		one, left := b, count-1-i
		one.At -= int64(left) * time.Minute.Microseconds()
		one.Seq -= uint64(left)
		if left > 0 {
			one.Test = beacon.SpeedTest{}
		}
		w.table.Apply(w.live, &one)
	}
	w.backfill.Beats(&b, count)
}

// fold compares what the two write.
func (w *twoWays) fold(t *testing.T, now time.Time) (records int) {
	t.Helper()
	want := map[beacon.Day][]byte{}
	for _, r := range w.table.FoldNow(w.live, nil, now) {
		want[r.Day()] = r.Append(nil)
	}
	w.table.Folded(w.live)
	w.backfill.Fold(now, beacon.MinuteOf(now).Day(), func(r *heartbeat.Record) {
		day, text := r.Day(), r.Append(nil)
		if !bytes.Equal(text, want[day]) {
			t.Fatalf("at %s, the record of day %d is\n%x\nand that of the table\n%x", now, day, text, want[day])
		}
		delete(want, day)
		records++
	})
	if len(want) > 0 {
		t.Fatalf("at %s, the table also wrote %v", now, slices.Collect(maps.Keys(want)))
	}
	return records
}

// lead lets a device live through some days, with failures and boots.
func (w *twoWays) lead(t *testing.T, random *rand.Rand, from, to time.Time) (records int) {
	t.Helper()
	boot, seq, carried := random.Uint64(), uint64(0), uint64(0)
	for hour := from.Truncate(time.Hour); hour.Before(to); hour = hour.Add(time.Hour) {
		if hour.Hour() == 0 && hour.After(from) {
			records += w.fold(t, hour.Add(5*time.Minute))
		}
		minute := 0
		for minute < 60 {
			count := 1 + random.IntN(60-minute)
			last := hour.Add(time.Duration(minute+count-1)*time.Minute + time.Duration(random.IntN(60_000))*time.Millisecond)
			minute += count + random.IntN(9)*random.IntN(9)
			if !last.Before(to) || random.IntN(30) == 0 {
				continue
			}
			if random.IntN(40) == 0 {
				boot, seq, carried = random.Uint64(), 0, 0
			}
			seq += uint64(count)
			carried += random.Uint64N(1 << 32)
			b := heartbeat.Beat{At: last.UnixMicro(), Heartbeat: beacon.Heartbeat{
				Boot: boot, Seq: seq, Bytes: carried, Clients: random.IntN(90), Signal: beacon.Signal(random.IntN(5)),
			}}
			if random.IntN(5) == 0 {
				b.Test = beacon.SpeedTest{DownMbps: float32(random.IntN(200)), UpMbps: float32(random.IntN(20)), LatencyMs: float32(5 + random.IntN(70))}
			}
			w.beats(b, count)
		}
	}
	return records + w.fold(t, to)
}

func TestBackfill_AsTheTable(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 1))
		from := time.Date(2026, 10, 20, 7, random.IntN(60), 0, 0, time.UTC)
		h := hotspotSince(from)
		if seed%3 == 0 {
			h.Settings.OperatingHours = &beacon.OperatingHours{Timezone: "America/New_York", Weekly: []beacon.WeeklySpan{
				{Days: []beacon.Weekday{"mon", "tue", "thu", "fri", "sun"}, Open: 9 * 60, Close: 20*60 + 30},
			}}
		}
		service := heartbeat.NewOutages()
		if seed%4 == 0 {
			down := beacon.MinuteOf(from) + 5000
			service.Set([]heartbeat.Span{{From: 0, To: down}, {From: down + 90, To: down + 1<<20}})
		}
		w := newTwoWays(service, h)
		until := from.Add(time.Duration(3+random.IntN(40))*24*time.Hour + time.Duration(random.IntN(1440))*time.Minute)
		if seed == 5 {
			until = until.Truncate(24 * time.Hour).Add(2 * time.Minute) // the day before is not over yet
		}
		days := int(until.Sub(from) / (24 * time.Hour))
		if records := w.lead(t, random, from, until); records < days {
			t.Errorf("seed %d: %d records in %d days", seed, records, days)
		}
		if seed%2 == 0 {
			h.DeletedAt = until.Add(time.Minute)
			w.place(h)
			if w.fold(t, until.Add(48*time.Hour)) < 1 || w.fold(t, until.Add(96*time.Hour)) > 1 {
				t.Errorf("seed %d: the wrong records after it was deleted", seed)
			}
		}
	}
}

// What does not belong into one hour, or cannot be so many beats, is dropped.
func TestBackfill_Dropped(t *testing.T) {
	for name, wrong := range map[string]struct {
		beat  *heartbeat.Beat
		count int
	}{
		"two hours": {at(noon, 1, 9, 1, 1), 2},
		"none":      {at(noon, 1, 9, 1, 1), 0},
		"numbers":   {at(noon.Add(5*time.Minute), 1, 2, 1, 1), 3},
		"time":      {at(time.Unix(-60, 0), 1, 2, 1, 1), 1},
	} {
		var records [2][]byte
		for i := range records {
			c := heartbeat.NewBackfill(heartbeat.NewOutages(), hotspotSince(noon.Add(-time.Hour)))
			if i == 1 {
				c.Beats(wrong.beat, wrong.count)
			}
			c.Fold(noon.Add(time.Hour), beacon.MinuteOf(noon).Day(), func(r *heartbeat.Record) { records[i] = r.Append(nil) })
		}
		if len(records[0]) == 0 || !bytes.Equal(records[0], records[1]) {
			t.Errorf("%s: it counts: %x; want %x", name, records[1], records[0])
		}
	}
}
