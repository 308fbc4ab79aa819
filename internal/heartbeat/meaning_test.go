package heartbeat

import "testing"

// What is known: numbers up to 100, of which 99 is missing, and counters up to 1000. Counters
// of the generation before went up to 5000.
func TestMeaning(t *testing.T) {
	known := bootState{seqs: seqs{top: 100, window: ^uint64(1)}, bytes: 1000}
	for _, test := range []struct {
		name       string
		seq, bytes uint64
		another    bool // there was a generation before
		fresh      bool
		want       meaning
	}{
		{"the next", 101, 1100, false, true, goesOn},
		{"the next, with counters that fell", 101, 10, false, true, goesOn},
		{"a number of an earlier run, as expected", 101, 1100, true, false, goesOn},
		{"the same, with much more traffic than ever", 101, 6000, true, false, goesOn},
		{"the same, with traffic that the generation before had", 101, 4000, true, false, mayBeOld},
		{"the same, without a generation before", 101, 4000, false, false, goesOn},
		{"a number of an earlier run, with lower counters", 101, 999, false, false, mayBeOld},
		{"far below, with lower counters", 30, 999, false, false, longAgo},
		{"far below, with counters that went on", 30, 1000, false, false, startsAgain},
		{"known", 98, 1000, false, false, repeated},
		{"the last", 100, 1000, false, false, repeated},
		{"missing", 99, 900, false, false, late},
		{"missing, with higher counters than now", 99, 4000, true, false, beforeFall},
		{"missing, with higher counters and no generation before", 99, 1001, false, false, startsAgain},
		{"known, with higher counters than ever", 98, 5001, true, false, startsAgain},
		{"known, with counters of the generation before", 98, 5000, true, false, repeated},
		{"known, with higher counters and no generation before", 98, 1001, false, false, startsAgain},
	} {
		got := known.meaning(test.seq, test.bytes, test.another, test.fresh, 200, func() uint64 { return 5000 })
		if got != test.want {
			t.Errorf("%s: %d; want %d", test.name, got, test.want)
		}
	}
}
