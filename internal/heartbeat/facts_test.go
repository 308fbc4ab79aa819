package heartbeat_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// A record of the first version, spelt by hand: a day that is decided up to
// 10:00, of which 06:00 to 07:30 was closed, and 05:00 to 09:00 was served.
func TestRecordFacts_FirstVersion(t *testing.T) {
	day := beacon.MinuteOf(noon).Day()
	data := []byte{1}
	data = binary.AppendUvarint(data, uint64(day))
	data = binary.AppendUvarint(data, 600<<2)
	data = binary.AppendUvarint(append(data, 2), 300)
	data = binary.AppendUvarint(data, 240)
	data = binary.AppendUvarint(append(data, 2), 360)
	data = binary.AppendUvarint(data, 90)
	data = append(data, 0, 0, 0, 0, 0, 0) // no beat
	data = append(data, 0, 0, 0, 0)       // boots, tests, clients, signals
	data = append(data, 1<<5|10)          // enhanced for ten hours
	data = append(data, 0, 0, 0, 29, 0)   // nothing before
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	got, err := heartbeat.RecordFacts(data)
	want := beacon.Facts{Served: 150, Expected: 510, Closed: 90, Tier: beacon.Enhanced}
	if err != nil || got != want {
		t.Fatalf("RecordFacts = %+v, %v; want %+v", got, err, want)
	}
	r, err := heartbeat.DecodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	again := r.Append(nil)
	if got, err = heartbeat.RecordFacts(again); err != nil || got != want || again[0] != 2 {
		t.Errorf("written anew, version %d: %+v, %v", again[0], got, err)
	}
	for _, version := range []byte{0, 3} {
		other := bytes.Clone(data[:len(data)-4])
		other[0] = version
		other = binary.LittleEndian.AppendUint32(other, crc32.Checksum(other, crc32.MakeTable(crc32.Castagnoli)))
		if _, err := heartbeat.RecordFacts(other); err == nil {
			t.Errorf("version %d: no error", version)
		}
	}
}

// A record of the first version that was not expected for a single minute is of a
// hotspot that was never in service.
func TestRecordFacts_FirstVersionNeverActive(t *testing.T) {
	day := beacon.MinuteOf(noon).Day()
	spell := func(closed uint64) []byte {
		data := []byte{1}
		data = binary.AppendUvarint(data, uint64(day))
		data = binary.AppendUvarint(data, 1440<<2)
		data = append(data, 0) // never served
		data = binary.AppendUvarint(append(data, 2), 0)
		data = binary.AppendUvarint(data, closed)
		data = append(data, 0, 0, 0, 0, 0, 0)
		data = append(data, 0, 0, 0, 0)
		data = append(data, 24) // standard for 24 hours
		data = append(data, 0, 0, 0, 29, 0)
		return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	}
	for closed, want := range map[uint64]beacon.Facts{
		1440: {Outside: 1440},
		1439: {Expected: 1, Closed: 1439},
	} {
		if got, err := heartbeat.RecordFacts(spell(closed)); err != nil || got != want || got.None() != (closed == 1440) {
			t.Errorf("closed for %d minutes: %+v, %v; want %+v", closed, got, err, want)
		}
	}
}

// Traffic counts in hours in which the hotspot was in service and open, if only
// for a minute of them, and also while the service itself was down.
func TestFacts_BytesOfOpenHours(t *testing.T) {
	service := heartbeat.NewOutages()
	midnight := noon.Truncate(24 * time.Hour)
	minute := beacon.MinuteOf(midnight)
	service.Set([]heartbeat.Span{{From: minute - 10, To: minute + 8*60 - 1}, {From: minute + 10*60, To: minute + 100_000}}) // down 8:00 to 10:00
	table := heartbeat.NewTable(service)
	h := hotspotSince(midnight.Add(5*time.Hour + 59*time.Minute + 30*time.Second))
	h.Settings.OperatingHours = &beacon.OperatingHours{
		Timezone: "UTC", Exceptions: []beacon.HoursException{{Date: midnight.Format(time.DateOnly), Spans: []beacon.ExceptionSpan{{Open: 0, Close: 10 * 60}, {Open: 12*60 + 59, Close: 13 * 60}}}},
	}
	l := table.Place(nil, h)
	for hour := range uint64(24) { // as many bytes as the hour's bit
		table.Apply(l, at(midnight.Add(time.Duration(hour)*time.Hour+time.Minute), 1, hour+1, 1<<(hour+1)-1, 1))
	}
	day := minute.Day()
	var want uint64
	for _, hour := range []int{5, 6, 7, 8, 9, 12} {
		want |= 1 << hour
	}
	for _, tc := range []struct {
		now  time.Duration
		want uint64
	}{
		{4 * time.Hour, 0},
		{5*time.Hour + 58*time.Minute, 0},
		{5*time.Hour + 59*time.Minute, 1 << 5},
		{12*time.Hour + 58*time.Minute, want &^ (1 << 12)},
		{24*time.Hour - time.Second, want},
	} {
		if f, known := table.Facts(l, day, nil, midnight.Add(tc.now)); !known || f.Bytes != tc.want {
			t.Errorf("at %s: %b, %v; want %b", tc.now, f.Bytes, known, tc.want)
		}
	}
	for _, r := range table.FoldNow(l, nil, midnight.Add(24*time.Hour+3*time.Minute)) {
		if r.Day() == day && (r.Facts().Bytes != want || r.Bytes() != 1<<24-1) {
			t.Errorf("folded: %b of %b; want %b", r.Facts().Bytes, r.Bytes(), want)
		}
	}
}

// fold writes everything, and gives the facts of each day.
func fold(table *heartbeat.Table, l *heartbeat.Live, now time.Time) map[beacon.Day]beacon.Facts {
	facts := map[beacon.Day]beacon.Facts{}
	for _, r := range table.FoldNow(l, nil, now) {
		facts[r.Day()] = r.Facts()
	}
	table.Folded(l)
	return facts
}

// Each minute has one reason, and the first of them counts: it was not in
// service, it was closed, it was excused.
func TestFacts_OneReasonForEachMinute(t *testing.T) {
	service := heartbeat.NewOutages()
	midnight := noon.Truncate(24 * time.Hour)
	minute := beacon.MinuteOf(midnight)
	service.Set([]heartbeat.Span{{From: minute - 10, To: minute + 299}, {From: minute + 660, To: minute + 100_000}}) // down 5:00 to 11:00
	table := heartbeat.NewTable(service)
	h := hotspotSince(midnight.Add(8 * time.Hour))
	h.PastService = []beacon.Period{
		{From: midnight.Add(-time.Hour), Until: midnight.Add(time.Hour)},
		{From: midnight.Add(4*time.Hour + 30*time.Second), Until: midnight.Add(6*time.Hour + 30*time.Second)},
	}
	h.Settings.OperatingHours = &beacon.OperatingHours{
		Timezone: "UTC", Exceptions: []beacon.HoursException{{Date: midnight.Format(time.DateOnly), Spans: []beacon.ExceptionSpan{{Open: 0, Close: 10 * 60}, {Open: 12 * 60, Close: 24 * 60}}}},
	}
	l := table.Place(nil, h)
	table.Apply(l, at(midnight.Add(30*time.Minute), 1, 1, 100, 1))
	table.Apply(l, at(midnight.Add(13*time.Hour), 1, 2, 150, 1))
	day := minute.Day()
	want := beacon.Facts{
		Served: 8, Expected: 60 + 60 + 12*60, // 0:00, 4:00, 12:00
		Outside: 3*60 + 119, // 1:00 to 4:00, 6:01 to 8:00
		Closed:  2 * 60,     // 10:00 to 12:00, half of it excused as well
		Excused: 61 + 2*60,  // 5:00 to 6:01, 8:00 to 10:00
		Bytes:   150,
	}
	if got, known := table.Facts(l, day, nil, midnight.Add(24*time.Hour-time.Second)); !known || got != want {
		t.Errorf("open: %+v, %v; want %+v", got, known, want)
	}
	if got := fold(table, l, midnight.Add(24*time.Hour+3*time.Minute))[day]; got != want {
		t.Errorf("folded: %+v; want %+v", got, want)
	}
}

// Of a day on which nobody folded and no beat came there is a record, whether the
// service was up or not.
func TestFold_FillsGaps(t *testing.T) {
	service := heartbeat.NewOutages()
	table := heartbeat.NewTable(service)
	l := table.Place(nil, hotspotSince(noon))
	table.Apply(l, at(noon, 1, 1, 100, 1))
	fold(table, l, noon)
	back := noon.AddDate(0, 0, 4)
	day := beacon.MinuteOf(noon).Day()
	first := beacon.MinuteOf(noon)
	service.Set([]heartbeat.Span{{From: first, To: first + 2*1440}, {From: first + 3*1440 + 720, To: first + 100_000}}) // down over the third day after
	table.Apply(l, at(back, 1, 2, 200, 1))
	facts := fold(table, l, back)
	want := map[beacon.Day]beacon.Facts{
		day:     {Served: 4, Expected: 720, Outside: 720, Bytes: 100},
		day + 1: {Expected: 1440},
		day + 2: {Expected: 721, Excused: 719},
		day + 3: {Excused: 1440},
		day + 4: {Expected: 715, Excused: 3}, // up since midnight, decided up to 11:58; what came at noon is not yet
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// One that is in service and never heard has its first day, also when nobody
// folded before that was over.
func TestFold_NeverHeardOverMidnight(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	midnight := noon.Truncate(24 * time.Hour)
	day := beacon.MinuteOf(midnight).Day()
	l := table.Place(nil, hotspotSince(midnight.Add(-2*time.Minute)))
	want := map[beacon.Day]beacon.Facts{day - 1: {Expected: 2, Outside: 1438}, day: {Expected: 3}}
	if diff := cmp.Diff(want, fold(table, l, midnight.Add(5*time.Minute))); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	l = table.Place(nil, hotspotSince(noon))
	if got := fold(table, l, noon.Add(-time.Minute)); len(got) != 0 {
		t.Errorf("before it is in service: %v", got)
	}
}

// A hotspot that is deleted was in service until then; after that day, no other
// begins for it.
func TestPlace_Deleted(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	h := hotspotSince(noon)
	l := table.Place(nil, h)
	table.Apply(l, at(noon, 1, 1, 100, 1))
	l.SetMark(heartbeat.Announced, true)
	h.DeletedAt = noon.Add(10*time.Minute + time.Second)
	table.Place(l, h)
	table.Apply(l, at(noon.Add(9*time.Minute), 1, 2, 300, 1)) // from elsewhere
	tomorrow := noon.AddDate(0, 0, 1)
	table.Refresh(tomorrow)
	want := map[beacon.Day]beacon.Facts{beacon.MinuteOf(noon).Day(): {Served: 6, Expected: 11, Outside: 1429, Bytes: 300}}
	if diff := cmp.Diff(want, fold(table, l, tomorrow)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if differ, _ := table.StatusDiff(heartbeat.Announced, tomorrow.UnixMicro(), false); l.Marked(heartbeat.Announced) || len(differ) != 0 {
		t.Error("it is said to have gone offline")
	}
}

// When it was in service is forgotten with a hotspot.
func TestRemove_ForgetsPastService(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	for range 10_000 { // places are used again
		h := hotspotSince(noon)
		h.PastService = []beacon.Period{{From: noon.Add(-time.Hour), Until: noon.Add(-time.Minute)}}
		table.Remove(table.Place(nil, h))
		l := table.Place(nil, hotspotSince(noon))
		if f, _ := table.Facts(l, beacon.MinuteOf(noon).Day(), nil, noon); f.Expected != 1 || table.Pasts() != 0 {
			t.Fatalf("facts %+v, %d pasts", f, table.Pasts())
		}
		table.Remove(l)
	}
}

// The tier of a day that has just begun is that of now, not that of an hour
// which is over: there is none.
func TestFacts_TierBeforeTheFirstHour(t *testing.T) {
	table := heartbeat.NewTable(heartbeat.NewOutages())
	midnight := noon.Truncate(24 * time.Hour)
	l := table.Place(nil, hotspotSince(midnight.Add(-time.Hour)))
	for i := range uint64(2) {
		beat := at(midnight.Add(time.Duration(i)*time.Minute-30*time.Minute), 1, i+1, 100, 1)
		beat.Test = beacon.SpeedTest{DownMbps: 200, UpMbps: 20, LatencyMs: 10}
		table.Apply(l, beat)
	}
	f, known := table.Facts(l, beacon.MinuteOf(midnight).Day(), nil, midnight.Add(20*time.Minute))
	if !known || f.Tier != beacon.Premium || f.Expected != 21 {
		t.Errorf("facts %+v, known %v; want premium and 21 minutes expected", f, known)
	}
}
