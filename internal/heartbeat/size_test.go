package heartbeat_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// steady makes the life of a hotspot that is verified, linked, always open, and beats all day.
type steady struct {
	table *heartbeat.Table
	lives []*heartbeat.Live
	start time.Time
}

func newSteady(lives int) *steady {
	s := &steady{table: heartbeat.NewTable(heartbeat.NewOutages()), start: time.Date(2026, 11, 15, 0, 0, 10, 0, time.UTC)}
	var h beacon.Hotspot
	h.Location.VerifiedAt, h.Device.LinkedAt = s.start.AddDate(0, -2, 0), s.start.AddDate(0, -2, 0)
	for range lives {
		s.lives = append(s.lives, s.table.Place(nil, h))
	}
	return s
}

// beat is the n-th of a hotspot, one a minute; every sixth hour it has a test.
func (s *steady) beat(n int) heartbeat.Beat {
	b := heartbeat.Beat{At: s.start.Add(time.Duration(n) * time.Minute).UnixMicro()}
	b.Heartbeat = beacon.Heartbeat{Boot: 0xfeedc0ffee, Seq: uint64(n), Bytes: uint64(n) * 16_777_259, Clients: 3 + n%7, Signal: beacon.Signal(2 + n%3)}
	if n%360 == 7 {
		b.Test = beacon.SpeedTest{DownMbps: 93.27, UpMbps: 12.5, LatencyMs: 23.4}
	}
	return b
}

func (s *steady) beats(from, to int) {
	for n := from; n < to; n++ {
		b := s.beat(n)
		for _, l := range s.lives {
			s.table.Apply(l, &b)
		}
	}
}

func (s *steady) at(n int) time.Time { return s.start.Add(time.Duration(n) * time.Minute) }

func TestLive_Size(t *testing.T) {
	if size := unsafe.Sizeof(heartbeat.Live{}); size > 160 {
		t.Errorf("a Live has %d bytes; want at most 160", size)
	}
}

func TestRecord_Size(t *testing.T) {
	s := newSteady(1)
	var most, usual, packed int
	for n := 0; n < 3*1440; n += 10 {
		s.beats(n, n+10)
		for _, r := range s.table.FoldNow(s.lives[0], nil, s.at(n+10)) {
			most = max(most, len(r.Append(nil)))
		}
		s.table.Folded(s.lives[0])
		packed = max(packed, s.table.Packed(s.lives[0]))
		if n%1440 > 20 && n%1440 < 1420 {
			usual = max(usual, s.table.Packed(s.lives[0]))
		}
	}
	t.Logf("a record has up to %d bytes, packed days %d, and around midnight %d", most, usual, packed)
	if usual > 360 || packed > 480 {
		t.Errorf("packed days have %d bytes, and around midnight %d", usual, packed)
	}
	if most > 352 {
		t.Errorf("a record has %d bytes; want at most 352", most)
	}
}

func TestApply_AllocatesNothing(t *testing.T) {
	s := newSteady(1)
	s.beats(0, 1500)
	n := 1500
	if allocs := testing.AllocsPerRun(50, func() {
		b := s.beat(n)
		n++
		s.table.Judge(s.lives[0], &b)
		s.table.Apply(s.lives[0], &b)
		s.lives[0].Shown()
	}); allocs != 0 {
		t.Errorf("%v allocations a beat", allocs)
	}
}
