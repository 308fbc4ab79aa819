package heartbeat

import (
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// begin fills in the sums of the days before a hotspot's first record: no beat arrived.
func (r *Record) begin(c *rules) {
	for i := range r.past {
		if int(r.day) > i {
			r.past[i] = c.empty(r.day-1-beacon.Day(i), 0)
		}
	}
}

// carry takes over what continues from the newest record before this one. It can be
// repeated whenever that record has changed.
func (r *Record) carry(c *rules, prev *Record) {
	gap := int(min(r.day-prev.day, pastDays+1)) // 1: prev is of the day before
	over := prev.served.from(beacon.MinutesADay) & carryBits
	r.fresh = false
	r.before = before{}
	if gap == 1 {
		r.served.add(0, over)
		for h := range r.before.bytes {
			r.before.bytes[h] = prev.carried(h)
		}
		r.before.hours, r.before.signals = prev.hours, prev.signals
	}
	r.early = true // otherwise prev would not be in memory
	r.carryPast(c, prev, gap, over)
	r.carryBoots(prev)
	r.last.join(prev.last)
	for _, t := range prev.tests {
		r.addTest(t)
	}
}

func (r *Record) carryPast(c *rules, prev *Record, gap int, over uint64) {
	for i := range r.past {
		switch {
		case i < gap-2: // a day without beats
			r.past[i] = c.empty(r.day-1-beacon.Day(i), 0)
		case i == gap-2: // another, except for what the evening before it served
			r.past[i] = c.empty(r.day-1-beacon.Day(i), over)
		case i == gap-1:
			r.past[i] = prev.sum(c, beacon.MinutesADay)
		default:
			r.past[i] = prev.past[i-gap]
		}
	}
}

// carryBoots takes over the boots with the newest beats.
func (r *Record) carryBoots(prev *Record) {
	// Of the boots taken over earlier, keep only those with beats of this day.
	r.boots = slices.DeleteFunc(r.boots, func(b boot) bool { return b.newest < r.day.Midnight() })
	if len(prev.boots) <= keptBoots {
		for i := range prev.boots {
			r.carryBoot(&prev.boots[i])
		}
		return
	}
	order := make([]*boot, len(prev.boots))
	for i := range prev.boots {
		order[i] = &prev.boots[i]
	}
	slices.SortFunc(order, func(a, b *boot) int {
		if older(a, b) {
			return 1
		}
		return -1
	})
	for i, b := range order {
		// A boot that continues today counts from where it was, however many came
		// after.
		if i < keptBoots || r.find(b.id) != nil {
			r.carryBoot(b)
		}
	}
}

func (r *Record) carryBoot(prev *boot) {
	if b := r.boot(prev.id, prev.newest, prev.top); b != nil {
		b.hear(prev.seqs, prev.pastTop)
		b.raiseBase(prev.upTo[hoursADay-1])
	}
}
