package heartbeat

import (
	"cmp"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// testLife is for how many minutes a speed test counts (decision N14).
const testLife = 48 * 60

// test is a speed test, and when it was told.
type test struct {
	at  Minute
	tie uint32
	beacon.SpeedTest
}

func compareTests(a, b test) int {
	return cmp.Or(
		cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie),
		cmp.Compare(a.DownMbps, b.DownMbps), cmp.Compare(a.UpMbps, b.UpMbps), cmp.Compare(a.LatencyMs, b.LatencyMs),
	)
}

// addTest keeps the tests in order.
func (r *Record) addTest(t test) {
	if at, known := slices.BinarySearchFunc(r.tests, t, compareTests); !known {
		r.tests = slices.Insert(r.tests, at, t)
		r.pruneTests()
	}
}

// pruneTests forgets what no answer depends on any more. An answer is about
// the tier at some moment, and looks at the last six tests before that. So of
// each hour whose tier is not decided yet the last six are kept, and of all
// that was before, the last six. What is kept of a union of tests does not
// depend on the order in which they came.
func (r *Record) pruneTests() {
	group := func(t test) hour { return max(t.at.hour(), r.undecided()-1) }
	kept := r.tests[:0]
	for i, t := range r.tests {
		later := i + beacon.TierTests
		full := later < len(r.tests) && group(r.tests[later]) == group(t)
		if !full && t.at+testLife >= r.day.First() {
			kept = append(kept, t)
		}
	}
	r.tests = kept
}

// undecided is the first hour whose tier is not decided yet.
func (r *Record) undecided() hour { return r.day.firstHour() + hour(r.sealed/60) }

// tier is what the tests said at a moment, and how long that will hold if no
// other comes.
func (r *Record) tier(at Minute) (tier beacon.Tier, until Minute) {
	var tests [beacon.TierTests]beacon.SpeedTest
	n := 0
	until = lastMinute
	for i := len(r.tests) - 1; i >= 0 && n < len(tests); i-- {
		t := &r.tests[i]
		if t.at > at {
			continue
		}
		if t.at+testLife < at {
			break
		}
		tests[n] = t.SpeedTest
		n++
		until = t.at + testLife
	}
	return beacon.TierOf(tests[:n]), until
}
