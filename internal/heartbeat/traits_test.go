package heartbeat

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// traitsOf returns the traits of the second of two days, on which devices do something
// each minute.
func traitsOf(t *testing.T, do func(minute int) []beacon.Heartbeat) Traits {
	t.Helper()
	first := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var h beacon.Hotspot
	h.Location.VerifiedAt, h.Device.LinkedAt = first, first
	fill := NewBackfill(NewOutages(), h)
	records := map[beacon.Day][]byte{}
	for minute := range 2 * beacon.MinutesADay {
		at := first.Add(time.Duration(minute) * time.Minute)
		for _, b := range do(minute) {
			fill.Beats(&Beat{At: at.UnixMicro(), Heartbeat: b}, 1)
		}
	}
	day := beacon.DayOf(first)
	fill.Fold((day + 2).Time().Add(time.Hour), day+1, func(r *Record) { records[r.Day()] = r.Append(nil) })
	traits, err := RecordTraits(records[day+1], records[day])
	if err != nil {
		t.Fatal(err)
	}
	return traits
}

// Beats are counted by their numbers, and boots overlap only if two devices carry traffic
// at the same time.
func TestTraits(t *testing.T) {
	beat := func(boot, seq int) beacon.Heartbeat {
		return beacon.Heartbeat{Boot: uint64(boot), Seq: uint64(seq), Bytes: uint64(seq) * 1000, Clients: 3}
	}
	for name, test := range map[string]struct {
		do              func(minute int) []beacon.Heartbeat
		beats           int // below 0: not counted
		boots, overlaps int
	}{
		"one device":          {func(m int) []beacon.Heartbeat { return []beacon.Heartbeat{beat(1, m+1)} }, 1440, 1, 0},
		"numbers that skip":   {func(m int) []beacon.Heartbeat { return sometimes(m, 4, beat(1, m+1)) }, 360, 1, 0},
		"one number for four": {func(m int) []beacon.Heartbeat { return sometimes(m, 4, beat(1, m/4+1)) }, 360, 1, 0},
		"reboots every hour":  {func(m int) []beacon.Heartbeat { return []beacon.Heartbeat{beat(1+m/60, m%60+1)} }, -1, 24, 0},
		"a reboot at night":   {func(m int) []beacon.Heartbeat { return []beacon.Heartbeat{beat(1+m/1450, m%1450+1)} }, -1, 2, 0},
		"two devices":         {func(m int) []beacon.Heartbeat { return []beacon.Heartbeat{beat(1, m+1), beat(2, m+1)} }, 1440, 2, 1},
		"taking turns":        {func(m int) []beacon.Heartbeat { return []beacon.Heartbeat{beat(1+m%2, m/2+1)} }, 720, 2, 1},
	} {
		is := traitsOf(t, test.do)
		if is.Boots != test.boots || is.Overlaps != test.overlaps || is.Counted != (test.beats >= 0) {
			t.Errorf("%s: %d boots, %d overlap, counted %v; want %d, %d", name, is.Boots, is.Overlaps, is.Counted, test.boots, test.overlaps)
		}
		if off := is.Beats - test.beats; is.Counted && (off < -test.beats/20 || off > test.beats/20) {
			t.Errorf("%s: %d beats; want about %d", name, is.Beats, test.beats)
		}
		if is.Clients[12] != 3 {
			t.Errorf("%s: %d clients at noon", name, is.Clients[12])
		}
	}
}

func sometimes(minute, every int, b beacon.Heartbeat) []beacon.Heartbeat {
	if minute%every != 0 {
		return nil
	}
	return []beacon.Heartbeat{b}
}
