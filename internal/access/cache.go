package access

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	maxKnown   = 100_000     // keys in the cache
	maxUnknown = 16_384      // unknown ids in the cache
	denyFor    = time.Second // how long an id is taken to be unknown
	trustFor   = time.Second // how long a response of the store is trusted
	sampled    = 8           // entries examined to find one to evict
)

// cache holds the keys that the store confirmed, by the public part of their id, and
// for a short time the ids that it did not know. Only responses of the store are
// cached: a client that invents keys can fill the second map, never the first.
type cache struct {
	mu      sync.RWMutex
	known   map[string]*entry
	unknown map[string]time.Time       // when the store denied it
	fresh   map[string]struct{}        // created, and not looked up yet
	unsaved map[beacon.KeyID]time.Time // last uses of keys that left the cache

	// forgotten counts the calls of forget. A response that the store gave before one
	// may be older than a revocation, and is not cached.
	forgotten uint64
}

// entry is one cached key. Only its last three fields change.
type entry struct {
	key       beacon.Key
	principal beacon.Principal
	confirmed atomic.Int64 // by the store, in microseconds
	used      atomic.Int64 // the minute of its last use
	saved     atomic.Int64 // the minute of last use that the store has
}

func newCache() *cache {
	return &cache{
		known:   map[string]*entry{},
		unknown: map[string]time.Time{},
		fresh:   map[string]struct{}{},
		unsaved: map[beacon.KeyID]time.Time{},
	}
}

func (c *cache) get(public string) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[public]
}

// denied reports whether the store said recently that the id is unknown.
func (c *cache) denied(public string, now time.Time) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	at, ok := c.unknown[public]
	return ok && recent(at, now, denyFor)
}

func (c *cache) generation() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.forgotten
}

// keep caches the store's response to a lookup of the given generation, and returns
// the entry to use. After a forget, the entry is used for this lookup and not cached.
func (c *cache) keep(k beacon.Key, now time.Time, generation uint64) *entry {
	public := publicPart(k.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.forgotten {
		return newEntry(k, now)
	}
	delete(c.unknown, public)
	delete(c.fresh, public)
	if e := c.known[public]; e != nil {
		e.confirmed.Store(now.UnixMicro())
		return e
	}
	if len(c.known) >= maxKnown {
		c.evict()
	}
	e := newEntry(k, now)
	c.known[public] = e
	return e
}

// deny caches that the id is unknown, or revoked.
func (c *cache) deny(public string, now time.Time, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(public)
	if generation != c.forgotten {
		return
	}
	delete(c.fresh, public)
	if len(c.unknown) >= maxUnknown {
		clear(c.unknown) // costs a few lookups, and no bookkeeping
	}
	c.unknown[strings.Clone(public)] = now // it may be part of a whole request
}

// forget removes an id from all maps.
func (c *cache) forget(public string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten++
	c.remove(public)
	delete(c.unknown, public)
	delete(c.fresh, public)
}

// created notes that an id exists. A denial that is on its way is older.
func (c *cache) created(public string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten++
	delete(c.unknown, public)
	if c.known[public] != nil {
		return
	}
	if len(c.fresh) >= maxUnknown {
		clear(c.fresh)
	}
	c.fresh[public] = struct{}{}
}

// isFresh reports whether the id is a key's that was not looked up yet.
func (c *cache) isFresh(public string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.fresh[public]
	return ok
}

// evict makes room. It examines a few entries, in the random order of a map, and
// removes the least recently used of them: near enough to the least recently used of
// all.
func (c *cache) evict() {
	oldest, looked := "", 0
	for public, e := range c.known {
		if oldest == "" || e.used.Load() < c.known[oldest].used.Load() {
			oldest = public
		}
		if looked++; looked == sampled {
			break
		}
	}
	c.remove(oldest)
}

// remove removes an entry and keeps its last use for the next flush.
func (c *cache) remove(public string) {
	e := c.known[public]
	if e == nil {
		return
	}
	delete(c.known, public)
	if at, ok := e.unsavedUse(); ok && len(c.unsaved) < maxKnown {
		c.unsaved[e.key.ID] = at
	}
}

// uses returns the last uses that the store does not have yet.
func (c *cache) uses() map[beacon.KeyID]time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	uses := maps.Clone(c.unsaved)
	for _, e := range c.known {
		if at, ok := e.unsavedUse(); ok {
			uses[e.key.ID] = at
		}
	}
	return uses
}

// saved records that the store has these uses.
func (c *cache) saved(uses map[beacon.KeyID]time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range uses {
		if !c.unsaved[id].After(at) {
			delete(c.unsaved, id)
		}
		if e := c.known[publicPart(id)]; e != nil {
			e.saved.Store(minuteOf(at))
		}
	}
}

func newEntry(k beacon.Key, now time.Time) *entry {
	e := &entry{key: k}
	e.principal = e.key.Principal()
	e.key.Enrolment.Hotspots = nil // up to 30 KB; each enrolment reads them from the database
	e.confirmed.Store(now.UnixMicro())
	e.used.Store(minuteOf(k.LastUsedAt))
	e.saved.Store(minuteOf(k.LastUsedAt))
	return e
}

// use records the minute. Most calls only read: the minute is already recorded.
func (e *entry) use(now time.Time) {
	last := e.used.Load()
	if minute := minuteOf(now); minute > last {
		e.used.CompareAndSwap(last, minute) // if it fails, another request did so
	}
}

// current returns the key with its last use as known here, which may be later than in
// the store.
func (e *entry) current() beacon.Key {
	key := e.key
	if used := time.Unix(e.used.Load()*60, 0).UTC(); used.After(key.LastUsedAt) {
		key.LastUsedAt = used
	}
	return key
}

// unsavedUse returns the last use, and whether the store has only an earlier one. So
// a key is written at most once a minute, however often it is used or flushed.
func (e *entry) unsavedUse() (time.Time, bool) {
	used := e.used.Load()
	return time.Unix(used*60, 0).UTC(), used > e.saved.Load()
}

func minuteOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix() / 60
}

func publicPart(id beacon.KeyID) string { return string(id[len(beacon.KeyPrefix):]) }

// recent reports whether at is less than d before now. It is false if the clock was
// set back.
func recent(at, now time.Time, d time.Duration) bool {
	age := now.Sub(at)
	return age >= 0 && age < d
}
