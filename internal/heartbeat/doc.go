// Package heartbeat is what the heartbeats of a hotspot add up to: when it was last
// heard, which minutes it served, how much it carried, how fast it is. It is
// pure: it keeps nothing on disk, starts nothing and reads no clock.
//
// Its one invariant: a set of beats leads to one result, whatever the order in
// which they come, and however often each does. Everything is joined by union or
// maximum; only samples of the signal are counted, and those by the window of
// numbers that tells a beat from its repetition.
//
// From the inside out: a Record (record.go) is one hotspot on one UTC day, with
// what of the days before is still needed, and goes to disk. A book (book.go) is
// the newest record and those before it that may still change; each but the
// first takes from the one before it what goes on (carry.go). A Live (live.go)
// is the hour at hand, for the next beat; the Table (table.go) has all lives,
// and their books, packed. Which minutes are expected is in rules.go, why others
// are not in reasons.go, and what rewards rest on in facts.go.
package heartbeat
