// Package heartbeat computes what the heartbeats of a hotspot add up to: when it was
// last seen, which minutes it served, how much traffic it carried and how fast it is.
// It is pure: it stores nothing on disk, starts no goroutine and reads no clock.
//
// Its one invariant: a set of beats leads to one result, whatever their order and
// however often each arrives. Everything is merged by union or maximum. Only signal
// samples are counted, and a window of sequence numbers separates new beats from
// repeats.
//
//	table := heartbeat.NewTable(heartbeat.NewOutages())
//	live := table.Place(nil, hotspot)
//	fresh := table.Apply(live, &beat)
//	metrics := table.Metrics(live, now)
//
// From the inside out: a Record (record.go) is one hotspot on one UTC day, plus what is
// still needed of earlier days; it is stored on disk. The open days (open_days.go) are
// the newest record and the earlier ones that may still change; each but the first
// carries over what continues from the one before it. A Live (live.go) is the current
// hour, ready for the next beat. The Table (table.go) holds all Lives, and their open
// days in packed form. Only package fleet uses these two. Which minutes are expected is
// in rules.go, why others are not in record.go, and what rewards are based on in
// facts.go. What the numbers of a beat mean, for devices that count in their own way, is
// decided in judge.go. What becomes of the time that a clock was ahead is in
// clock_back.go.
package heartbeat
