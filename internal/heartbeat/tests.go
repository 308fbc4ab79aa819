package heartbeat

import (
	"cmp"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// testLife is for how many minutes a speed test counts (decision N14).
const testLife = 48 * 60

// test is a speed test, and when it was reported.
type test struct {
	at  beacon.Minute
	tie uint32
	beacon.SpeedTest
}

func compareTests(a, b test) int {
	return cmp.Or(
		cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie),
		cmp.Compare(a.DownMbps, b.DownMbps), cmp.Compare(a.UpMbps, b.UpMbps), cmp.Compare(a.LatencyMs, b.LatencyMs),
	)
}

// addTest inserts a test in order, unless it is known.
func (r *Record) addTest(t test) {
	if at, known := slices.BinarySearchFunc(r.tests, t, compareTests); !known {
		r.tests = slices.Insert(r.tests, at, t)
		r.pruneTests()
	}
}

// pruneTests drops tests that no result depends on any more. The tier at a moment
// depends on the last six tests before it. So the last six are kept of each hour whose
// tier is not sealed yet, and the last six of all the time before. What is kept of a
// union of tests does not depend on the order in which they arrived.
func (r *Record) pruneTests() {
	group := func(t test) hour { return max(hourOf(t.at), r.undecided()-1) }
	kept := r.tests[:0]
	for i, t := range r.tests {
		later := i + beacon.TierTests
		full := later < len(r.tests) && group(r.tests[later]) == group(t)
		if !full && t.at+testLife >= r.day.Midnight() {
			kept = append(kept, t)
		}
	}
	r.tests = kept
}

// undecided returns the first hour whose tier is not sealed yet.
func (r *Record) undecided() hour { return firstHour(r.day) + hour(r.sealed/60) }

// tier returns the tier at a moment, and how long it holds if no other test arrives.
func (r *Record) tier(at beacon.Minute) (tier beacon.Tier, until beacon.Minute) {
	var tests [beacon.TierTests]beacon.SpeedTest
	n := 0
	until = beacon.LastMinute
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
