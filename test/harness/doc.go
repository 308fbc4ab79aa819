// Package harness is what tests of whole servers stand on: it builds the real
// binary, starts it as a child, talks to it over HTTP as people and devices do,
// and hurts it (kills, cut connections, full disks, power cuts). It knows
// nothing of what is tested, and only tests import it. Its one invariant: what
// it started ends with the test.
package harness
