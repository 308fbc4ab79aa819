package heartbeat

import "slices"

// maxDays bounds how many days wait in memory to be written.
const maxDays = 32

// book is all that memory knows of a hotspot, opened to be read and changed: the
// record of the newest day, and of each day before it that may still change.
// Only the first of them says on its own what was before; the others take it
// from the one before them.
type book struct {
	rules
	days []Record // by day
}

func (k *book) newest() *Record { return &k.days[len(k.days)-1] }

// read opens the book that append closed.
func (k *book) read(data []byte) {
	k.days = k.days[:0]
	for in := (reader{data: data}); in.more() && !in.failed; {
		k.insert(len(k.days), 0).read(&in, recordVersion)
	}
}

// append closes the book. What chain will find out again is left out.
func (k *book) append(out []byte) []byte {
	for i := range k.days {
		r := &k.days[i]
		if i > 0 {
			r.before, r.past = before{}, [pastDays]sum{}
		}
		out = r.appendBody(out)
	}
	return out
}

// insert makes room for a day, in memory that was used before where there is some.
func (k *book) insert(at int, day Day) *Record {
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

// drop forgets the first n days. Their memory is used again.
func (k *book) drop(n int) {
	for range n {
		first := k.days[0]
		copy(k.days, k.days[1:])
		k.days[len(k.days)-1] = first
		k.days = k.days[:len(k.days)-1]
	}
	if n > 0 && len(k.days) > 0 {
		k.days[0].fresh, k.days[0].early = false, false
	}
}

// find gives the place of a day, or where it belongs.
func (k *book) find(day Day) (at int, found bool) {
	return slices.BinarySearchFunc(k.days, day, func(r Record, day Day) int { return int(int64(r.day) - int64(day)) })
}

// day gives the record of a day and makes it if need be. It is nil for a day
// before the first: that one is written for good.
func (k *book) day(day Day) *Record {
	at, found := k.find(day)
	switch {
	case found:
		return &k.days[at]
	case len(k.days) == 0, at == 0 && k.days[0].fresh && len(k.days) < maxDays:
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

// begin makes the first day, of a hotspot of which nothing is on disk.
func (k *book) begin(day Day) *Record {
	r := k.insert(0, day)
	r.fresh = true
	r.begin(&k.rules)
	k.chain(1)
	return r
}

// chain brings what days carry over up to date, from the one at the place on.
func (k *book) chain(at int) {
	for i := max(at, 1); i < len(k.days); i++ {
		k.days[i].carry(&k.rules, &k.days[i-1])
	}
}

// add takes a beat.
func (k *book) add(b *Beat) (fresh bool) {
	fresh = !k.knows(b.Boot, b.Seq)
	if r := k.day(b.minute().Day()); r != nil {
		r.add(b, fresh)
	} else {
		k.addStale(b)
	}
	k.chain(1)
	return fresh
}

// addStale takes a beat of a day whose record is written for good. It is mostly
// one that came before, when the journal is read again.
func (k *book) addStale(b *Beat) {
	r := &k.days[0]
	r.last.join(last{b.At, b.tie(), b.clients()})
	if known := r.boot(b.Boot, b.minute(), b.Seq); known != nil {
		known.raiseBase(b.Bytes)
	}
	if b.Test.Any() {
		r.addTest(test{b.minute(), b.tie(), b.Test})
	}
}

func (k *book) knows(boot, seq uint64) bool {
	for i := range k.days {
		if b := k.days[i].find(boot); b != nil && b.knows(seq) {
			return true
		}
	}
	return false
}

// restore takes over a record.
func (k *book) restore(r *Record) {
	at, found := k.find(r.day)
	if found {
		k.days[at].join(r)
	} else {
		k.insert(at, r.day).take(r)
	}
	if !r.early { // what was before it is written for good
		k.drop(at)
	}
	k.days[0].fresh = false
	k.chain(1)
	if len(k.days) > maxDays {
		k.drop(len(k.days) - maxDays)
	}
}
