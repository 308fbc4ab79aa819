package heartbeat

import "slices"

const (
	// maxBoots is how many boots of one day are told apart. A device that boots
	// more often loses the traffic of the oldest.
	maxBoots = 64
	// keptBoots is how many of them the next day knows: a boot that comes back
	// after so many others counts as a new one.
	keptBoots = 8
)

// boot is what is known of one boot of a device on one day.
type boot struct {
	id uint64
	seqs
	newest Minute // of its beats

	// base is the highest value that its counter of bytes had before the day, and
	// upTo[h] the highest until the end of hour h. Neither depends on the order
	// in which beats come, and so does not what was carried in an hour: the
	// difference of two of them.
	base uint64
	upTo [hoursADay]uint64
}

// raise notes that the counter had a value in an hour of the day.
func (b *boot) raise(hour int, bytes uint64) {
	for i := hour; i < hoursADay && b.upTo[i] < bytes; i++ {
		b.upTo[i] = bytes
	}
}

// raiseBase notes that the counter had a value before the day.
func (b *boot) raiseBase(bytes uint64) {
	b.base = max(b.base, bytes)
	b.raise(0, bytes)
}

// carried is what went through in an hour of the day.
func (b *boot) carried(hour int) uint64 {
	if hour == 0 {
		return b.upTo[0] - b.base
	}
	return b.upTo[hour] - b.upTo[hour-1]
}

func (b *boot) join(other *boot) {
	b.seqs.join(other.seqs)
	b.newest = max(b.newest, other.newest)
	for i := range b.upTo {
		b.upTo[i] = max(b.upTo[i], other.upTo[i])
	}
	b.raiseBase(other.base)
}

// older orders boots by when they were last heard.
func older(a, b *boot) bool {
	if a.newest != b.newest {
		return a.newest < b.newest
	}
	return a.id < b.id
}

// find gives the boot, or nil.
func (r *Record) find(id uint64) *boot {
	for i := range r.boots {
		if r.boots[i].id == id {
			return &r.boots[i]
		}
	}
	return nil
}

// boot gives the boot, and makes room for it if it is new. It is nil where
// there is no room, because all that are known are newer.
func (r *Record) boot(id uint64, heard Minute, seq uint64) *boot {
	if b := r.find(id); b != nil {
		b.add(seq)
		b.newest = max(b.newest, heard)
		return b
	}
	fresh := boot{id: id, seqs: seqs{top: seq}, newest: heard}
	if len(r.boots) == maxBoots {
		oldest := r.oldestBoot()
		if older(&fresh, &r.boots[oldest]) {
			return nil
		}
		r.boots = slices.Delete(r.boots, oldest, oldest+1)
	}
	at := 0
	for at < len(r.boots) && r.boots[at].id < id {
		at++
	}
	r.boots = slices.Insert(r.boots, at, fresh)
	return &r.boots[at]
}

func (r *Record) oldestBoot() int {
	oldest := 0
	for i := range r.boots {
		if older(&r.boots[i], &r.boots[oldest]) {
			oldest = i
		}
	}
	return oldest
}

func (r *Record) newestBoot() *boot {
	var newest *boot
	for i := range r.boots {
		if newest == nil || older(newest, &r.boots[i]) {
			newest = &r.boots[i]
		}
	}
	return newest
}

func (r *Record) joinBoot(other *boot) {
	if b := r.boot(other.id, other.newest, other.top); b != nil {
		b.join(other)
	}
}
