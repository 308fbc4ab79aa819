package heartbeat_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func BenchmarkFacts(b *testing.B) {
	s := newSteady(1000)
	s.beats(0, 800)
	for _, l := range s.lives {
		s.table.FoldNow(l, nil, s.at(797))
		s.table.Folded(l)
	}
	day := beacon.MinuteOf(s.start).Day()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if f, known := s.table.Facts(s.lives[i%len(s.lives)], day, nil, s.at(800)); !known || f.Served != 801 {
			b.Fatal(f)
		}
		i++
	}
}
