package ratelimit

import (
	"hash/maphash"
	"net/netip"
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

// New returns a limiter for about capacity keys at once; see shard for what happens
// beyond that. It uses 8 KB, and 32 to 64 bytes per key as keys come.
//
// Buckets are stored relative to start. If start and each now have a monotonic clock
// reading, as from time.Now, setting the wall clock has no effect.
func New[K comparable](limit Limit, capacity int, start time.Time) *Limiter[K] {
	l := &Limiter[K]{limit: limit, start: start, seed: maphash.MakeSeed()}
	maxSets := 1
	for maxSets*setSize*shardCount < 2*capacity {
		maxSets *= 2
	}
	for i := range l.shards {
		l.shards[i] = shard{slots: make([]bucket, setSize), maxSets: maxSets, depth: limit.depth()}
	}
	return l
}

// Decide spends one request of the key, if it is allowed.
func (l *Limiter[K]) Decide(key K, now time.Time) Decision { return l.Spend(key, now, 1) }

// Spend spends several requests of the key if all are allowed, otherwise none.
func (l *Limiter[K]) Spend(key K, now time.Time, requests int) Decision {
	return l.decide(key, now, requests, true)
}

// Peek returns what Decide would, and spends nothing.
func (l *Limiter[K]) Peek(key K, now time.Time) Decision { return l.decide(key, now, 1, false) }

func (l *Limiter[K]) decide(key K, now time.Time, requests int, spend bool) (d Decision) {
	if l.limit.Off() {
		return Decision{Allowed: true}
	}
	hash := max(maphash.Comparable(l.seed, key), 1) // zero marks a free slot
	s := &l.shards[hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, full := s.find(hash), now
	if slot != nil {
		full = l.start.Add(slot.full)
	}
	if spend {
		d = l.limit.Spend(now, full, requests)
	} else {
		d = l.limit.Peek(now, full)
	}
	if slot == nil && spend {
		slot = s.claim(hash, now.Sub(l.start))
	}
	if slot != nil {
		// Also where nothing is spent: a bucket from before the clock was set back must
		// start to fill; see Limit.within.
		*slot = bucket{hash, d.Full.Sub(l.start)}
	}
	return d
}

// bucket is the state of a key. A keyed 64-bit hash stands for the key: among a million
// keys, the odds that two share a bucket are one in 30 million, and without the seed
// nobody can cause it.
type bucket struct {
	hash uint64
	full time.Duration // time when it is full, since the limiter's start
}

// setSize is the number of slots that a hash may be in.
const setSize = 8

// shard is a table of sets of slots. A key belongs to one set and may be in any slot of
// it. A full bucket equals an absent one, so its slot is free for another key and nothing
// needs sweeping. If a set has no free slot, the shard doubles; at its maximum size, the
// bucket nearest to full is evicted. Its owner gains the fewest requests by that, often
// none, and it is never the bucket of a throttled key as long as there are others. A
// flood of new keys therefore evicts new keys, and sets no attacker free.
type shard struct {
	mu      sync.Mutex
	slots   []bucket // whole sets; their number is a power of two
	maxSets int
	depth   time.Duration // how long an empty bucket takes to fill
	_       [8]byte       // pads to a cache line
}

func (s *shard) set(hash uint64) []bucket {
	// The lowest bits select the shard.
	at := int(hash/shardCount) & (len(s.slots)/setSize - 1) * setSize
	return s.slots[at : at+setSize]
}

// find returns the slot of a hash, or nil.
func (s *shard) find(hash uint64) *bucket {
	set := s.set(hash)
	for i := range set {
		if set[i].hash == hash {
			return &set[i]
		}
	}
	return nil
}

// claim returns a slot for a hash that has none.
func (s *shard) claim(hash uint64, now time.Duration) *bucket {
	for {
		slot := s.fullest(hash, now)
		if s.left(slot, now) == 0 || len(s.slots) >= s.maxSets*setSize {
			return slot
		}
		s.double(now)
	}
}

// double moves the buckets that are not full to a table of twice the size. Each set
// becomes two, so all of them fit.
func (s *shard) double(now time.Duration) {
	old := s.slots
	s.slots = make([]bucket, 2*len(old))
	for _, b := range old {
		if b.hash != 0 && b.full > now {
			*s.fullest(b.hash, now) = b
		}
	}
}

// fullest returns a free slot of the hash's set, or else the bucket nearest to full.
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

// left returns how long a bucket takes to be full. A bucket that is emptier than empty by
// as much as it holds dates from before the clock was set back. It counts as almost full
// here, though not for its owner: otherwise buckets of owners that never return would
// displace active ones for as long as the clock went back. Less is nothing unusual:
// requests are not decided in the order of their times.
func (s *shard) left(b *bucket, now time.Duration) time.Duration {
	left := b.full - now
	switch {
	case b.hash == 0 || left <= 0:
		return 0
	case left > 2*s.depth:
		return 1
	}
	return left
}

// AddrKey returns the key under which an address is limited (decision N21): the address
// itself or, for IPv6, its /64, which one customer gets and can choose from at will. An
// IPv4 address has the same key in any notation; a zone is ignored.
func AddrKey(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	key, _ := addr.Prefix(bits) // fails only for the zero Addr, whose key is the zero Prefix
	return key
}
