package heartbeat

import (
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// maxDays bounds how many days wait in memory to be written: after an outage of three
// months of ours, each of its days gets a record.
const maxDays = 100

// openDays is all that memory has of a hotspot, unpacked to be read and changed: the record
// of the newest day, and of each earlier day that may still change. Only the first
// record stores what was before its day; the others derive it from the record before
// them.
type openDays struct {
	rules
	days []Record // sorted by day
}

func (k *openDays) newest() *Record { return &k.days[len(k.days)-1] }

// read decodes what append encoded.
func (k *openDays) read(data []byte) {
	k.days = k.days[:0]
	for in := (reader{data: data}); in.more() && !in.failed; {
		k.insert(len(k.days), 0).read(&in, priorVersion)
	}
}

// append encodes the open days, without what chain derives again.
func (k *openDays) append(out []byte) []byte {
	for i := range k.days {
		r := &k.days[i]
		if i > 0 {
			r.before, r.past = before{}, [pastDays]sum{}
		}
		out = r.appendPrior(r.appendBody(out))
	}
	return out
}

// insert adds an empty record at an index, in reused memory if there is some.
func (k *openDays) insert(at int, day beacon.Day) *Record {
	n := len(k.days)
	if n < cap(k.days) {
		k.days = k.days[:n+1]
	} else {
		k.days = append(k.days, Record{})
	}
	free := k.days[n]
	copy(k.days[at+1:], k.days[at:n])
	free.reset(day)
	k.days[at] = free
	return &k.days[at]
}

// drop forgets the first n days and keeps their memory for reuse.
func (k *openDays) drop(n int) {
	for range n {
		first := k.days[0]
		copy(k.days, k.days[1:])
		k.days[len(k.days)-1] = first
		k.days = k.days[:len(k.days)-1]
	}
	if n > 0 && len(k.days) > 0 {
		k.days[0].alone, k.days[0].early = false, false
	}
}

// find returns the index of a day, or where it belongs.
func (k *openDays) find(day beacon.Day) (at int, found bool) {
	return slices.BinarySearchFunc(k.days, day, func(r Record, day beacon.Day) int { return int(int64(r.day) - int64(day)) })
}

// day returns the record of a day, creating it if needed. It returns nil for a day
// before the first one: that day is final.
func (k *openDays) day(day beacon.Day) *Record {
	at, found := k.find(day)
	switch {
	case found:
		return &k.days[at]
	case len(k.days) == 0, at == 0 && k.days[0].alone && len(k.days) < maxDays:
		return k.begin(day)
	case at == 0:
		return nil
	}
	k.insert(at, day)
	k.chain(at)
	if len(k.days) > maxDays {
		k.drop(1)
		at--
	}
	return &k.days[at]
}

// begin creates the first day of a hotspot that has nothing on disk.
func (k *openDays) begin(day beacon.Day) *Record {
	r := k.insert(0, day)
	r.alone = true
	r.begin(&k.rules)
	k.chain(1)
	return r
}

// chain updates what days carry over, from index at on.
func (k *openDays) chain(at int) {
	for i := max(at, 1); i < len(k.days); i++ {
		k.days[i].carry(&k.rules, &k.days[i-1])
	}
}

// add applies a beat and reports whether it is new.
func (k *openDays) add(b *Beat) (fresh bool) {
	fresh = !k.knows(b.Boot, b.Seq)
	if r := k.day(b.minute().Day()); r != nil {
		r.add(b, fresh)
	} else {
		k.addStale(b)
	}
	k.chain(1)
	return fresh
}

// addStale applies a beat of a final day. It is mostly a repeat, when the journal is
// read again: then its traffic is below what the boot had carried before today. If it
// is not, a node whose clock is behind took it, and its traffic counts today. A boot
// that the final day had and today does not stays unknown: its traffic was counted.
func (k *openDays) addStale(b *Beat) {
	r := &k.days[0]
	r.last.join(last{b.At, b.tie(), b.clients()})
	if known := r.find(b.Boot); known != nil {
		known.hear(seqs{top: b.Seq}, 0)
		known.raise(0, b.Bytes)
	}
	if b.Test.Any() {
		r.addTest(test{b.minute(), b.tie(), b.Test})
	}
}

func (k *openDays) knows(boot, seq uint64) bool {
	for i := range k.days {
		if b := k.days[i].find(boot); b != nil && b.knows(seq) {
			return true
		}
	}
	return false
}

// restore merges a record.
func (k *openDays) restore(r *Record) {
	at, found := k.find(r.day)
	if found {
		k.days[at].join(r)
	} else {
		k.insert(at, r.day).take(r)
	}
	if !r.early { // earlier days are final
		k.days[at].rebase(r)
		k.drop(at)
	}
	k.days[0].alone = false
	k.chain(1)
	if len(k.days) > maxDays {
		k.drop(len(k.days) - maxDays)
	}
}

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
	r.alone = false
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
	r.carryTests(prev.tests)
}

func (r *Record) carryTests(tests []test) {
	if len(r.tests) == 0 { // at once, in order
		r.tests = append(r.tests, tests...)
		r.pruneTests()
		return
	}
	for _, t := range tests {
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
	slices.SortFunc(order, func(a, b *boot) int { return compareBoots(b, a) })
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

// addMissing adds the days that must have a record at now although no beat arrived on them:
// all from the first on. So what a day is paid does not depend on whether the service was up
// when it began.
func (k *openDays) addMissing(now beacon.Minute) {
	today := now.Day()
	if len(k.days) == 0 { // in service without a beat: that is a fact too
		for day := k.firstUnseen(today); day <= today; day++ {
			if k.beganBy(day, now) {
				k.day(day)
			}
		}
		return
	}
	first := max(k.days[0].day, today-min(today, beacon.Day(maxDays-len(k.days))))
	for day := first + 1; day <= today; day++ {
		if _, known := k.find(day); !known && k.needs(day, today) {
			k.day(day)
		}
	}
}

// firstUnseen returns the first day that may have passed without a fold, for a hotspot
// without a record: the day before, or the one on which an outage that has lasted longer
// began. Earlier days may be closed.
func (k *openDays) firstUnseen(today beacon.Day) beacon.Day {
	day := max(today, 1) - 1
	for day > 0 && today-day < maxDays-1 && k.service.allDay(day) {
		day--
	}
	return day
}

// beganBy reports whether the hotspot was in service on a day, up to and including now.
func (k *openDays) beganBy(day beacon.Day, now beacon.Minute) bool {
	mask := k.inService(day)
	mask.keepRange(0, int(min(now+1-day.Midnight(), beacon.MinutesADay)))
	return mask != dayBits{}
}

// needs reports whether a day without a record must have one. After the hotspot was
// deleted none begins, except where later days are known: then those up to them are still
// to come.
func (k *openDays) needs(day, today beacon.Day) bool {
	return !k.deleted || day == today && k.newest().day > today || k.inService(day) != dayBits{}
}
