package ratelimit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limiter applies one limit to many keys. It is safe for concurrent use. Use New.
type Limiter[K comparable] struct {
	limit  Limit
	start  time.Time
	seed   maphash.Seed
	shards [shardCount]shard
}

const shardCount = 64

// New returns a limiter with room for about so many keys at once; see shard for
// what happens beyond. It takes up 32 to 64 bytes a key, and only as keys come.
//
// The buckets are kept relative to start. If that and each now carry a monotonic
// reading, as time.Now gives, setting the wall clock changes nothing at all.
func New[K comparable](limit Limit, capacity int, start time.Time) *Limiter[K] {
	l := &Limiter[K]{limit: limit, start: start, seed: maphash.MakeSeed()}
	maxSets := 1
	for maxSets*setSize*shardCount < 2*capacity {
		maxSets *= 2
	}
	for i := range l.shards {
		l.shards[i].maxSets = maxSets
		l.shards[i].depth = limit.depth()
	}
	return l
}

// Decide spends one request of the key, if it is allowed.
func (l *Limiter[K]) Decide(key K, now time.Time) Decision { return l.Spend(key, now, 1) }

// Spend spends several requests of the key, if all are allowed, or none.
func (l *Limiter[K]) Spend(key K, now time.Time, requests int) Decision {
	if l.limit.Off() {
		return l.limit.Decide(now, now)
	}
	since, hash, s := l.locate(key, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.find(hash)
	d := l.limit.Spend(now, l.full(slot, since), requests)
	if slot == nil {
		slot = s.room(hash, since)
	}
	*slot = bucket{hash, d.Full.Sub(l.start)}
	return d
}

// Peek tells what Decide would, and spends nothing.
func (l *Limiter[K]) Peek(key K, now time.Time) Decision {
	if l.limit.Off() {
		return l.limit.Peek(now, now)
	}
	since, hash, s := l.locate(key, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.find(hash)
	d := l.limit.Peek(now, l.full(slot, since))
	if slot != nil {
		// Nothing is spent, but a bucket from before the clock was set back must
		// begin to fill; see Limit.within.
		slot.full = d.Full.Sub(l.start)
	}
	return d
}

func (l *Limiter[K]) locate(key K, now time.Time) (since time.Duration, hash uint64, s *shard) {
	hash = maphash.Comparable(l.seed, key)
	// Zero marks a free slot.
	return now.Sub(l.start), max(hash, 1), &l.shards[hash%shardCount]
}

func (l *Limiter[K]) full(slot *bucket, since time.Duration) time.Time {
	if slot == nil {
		return l.start.Add(since)
	}
	return l.start.Add(slot.full)
}

// bucket is all that is kept of a key. A keyed hash of 64 bits stands for it:
// among a million keys, that two share a bucket has odds of one to 30 million,
// and nobody who does not know the seed can aim for it.
type bucket struct {
	hash uint64
	full time.Duration // since the start of the limiter
}

// setSize is in how many slots a hash may be.
const setSize = 8

// shard is a table of sets of slots: a key belongs to one set, and any slot in
// it. A bucket that is full equals one that is absent, so its slot is free for
// another key and nothing has to be swept. If a set has no such slot, the shard
// doubles, and at its largest a bucket is forgotten: the one nearest to full.
// Its owner gains the fewest requests by that, often none; and it is never the
// bucket of one who is being held back, so long as there are others. A flood of
// fresh keys therefore pushes out fresh keys, and sets no attacker free.
type shard struct {
	mu      sync.Mutex
	slots   []bucket // whole sets; their number is a power of two, or zero
	maxSets int
	depth   time.Duration // how long an empty bucket takes to fill
	_       [8]byte       // a cache line to itself
}

func (s *shard) set(hash uint64) []bucket {
	// The lowest bits chose the shard.
	at := int(hash/shardCount) & (len(s.slots)/setSize - 1) * setSize
	return s.slots[at : at+setSize]
}

// find gives the slot of a hash, or nil.
func (s *shard) find(hash uint64) *bucket {
	if len(s.slots) == 0 {
		return nil
	}
	set := s.set(hash)
	for i := range set {
		if set[i].hash == hash {
			return &set[i]
		}
	}
	return nil
}

// room gives a slot for a hash that has none.
func (s *shard) room(hash uint64, now time.Duration) *bucket {
	if len(s.slots) == 0 {
		s.slots = make([]bucket, setSize)
	}
	for {
		slot := s.fullest(hash, now)
		if s.left(slot, now) == 0 || len(s.slots) >= s.maxSets*setSize {
			return slot
		}
		s.double(now)
	}
}

// double moves what is not full to twice the slots. Each set becomes two, so
// everything has room.
func (s *shard) double(now time.Duration) {
	old := s.slots
	s.slots = make([]bucket, 2*len(old))
	for _, b := range old {
		if b.hash != 0 && b.full > now {
			*s.fullest(b.hash, now) = b
		}
	}
}

// fullest gives the slot of the hash's set that is free or else the bucket that
// is nearest to full.
func (s *shard) fullest(hash uint64, now time.Duration) *bucket {
	set := s.set(hash)
	best := &set[0]
	for i := range set {
		if set[i].hash == 0 {
			return &set[i]
		}
		if s.left(&set[i], now) < s.left(best, now) {
			best = &set[i]
		}
	}
	return best
}

// left is how long a bucket takes to be full. One that is emptier than empty was
// kept before the clock was set back. It counts as full here, though not for its
// owner: else those whose owners never return would crowd out the living for as
// long as the clock went back.
func (s *shard) left(b *bucket, now time.Duration) time.Duration {
	left := b.full - now
	if b.hash == 0 || left > s.depth {
		return 0
	}
	return max(left, 0)
}
