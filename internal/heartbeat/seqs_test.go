package heartbeat

import (
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// naive remembers all numbers, and what lies more than 64 below the highest
// counts as known.
type naive map[uint64]bool

func (n naive) knows(seq uint64) bool {
	var top uint64
	for s := range n {
		top = max(top, s)
	}
	return n[seq] || len(n) > 0 && seq+64 < top
}

func TestSeqs_AgainstASet(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		first := r.Uint64N(200)
		all := naive{first: true}
		parts := [2]seqs{{top: first}, {top: first}}
		for range r.IntN(100) {
			seq := r.Uint64N(300)
			all[seq] = true
			parts[r.IntN(2)].add(seq)
		}
		joined, other := parts[0], parts[1]
		joined.join(parts[1])
		other.join(parts[0])
		if joined != other {
			t.Fatalf("%+v joined in two orders: %+v and %+v", parts, joined, other)
		}
		for seq := range uint64(320) {
			if got, want := joined.knows(seq), all.knows(seq); got != want {
				t.Fatalf("%v knows %d: %v; want %v", joined, seq, got, want)
			}
		}
	}
}

func TestService_AgainstALoop(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 300 {
		var spans []Span
		up := map[beacon.Minute]bool{}
		first := beacon.Minute(1 << 30)
		for range r.IntN(6) {
			from := beacon.Minute(2880 + r.IntN(3000))
			span := Span{from, from + beacon.Minute(r.IntN(600))}
			spans = append(spans, span)
			first = min(first, from)
			for m := span.From; m <= span.To; m++ {
				up[m] = true
			}
		}
		s := NewOutages()
		s.Set(spans)
		for m := beacon.Minute(2800); m < 8000; m++ {
			want := false
			for k := m - 3; k <= m; k++ {
				want = want || len(spans) > 0 && k >= first && !up[k]
			}
			mask, inHour := s.mask(m.Day()), s.inHour(hourOf(m))
			if want != (mask.from(m.OfDay())&1 != 0) || want != (inHour>>(m%60)&1 != 0) {
				t.Fatalf("%v: minute %d: in the day %x, in the hour %x; want %v", spans, m, mask, inHour, want)
			}
		}
	}
}
