package fleet

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// coverageMap is the coverage map: the disc of every hotspot, and which of them are online.
// Hotspots change one by one, and go offline by the clock alone; the map is updated
// for many of them at a time, which costs a fraction. A reader updates it if that is
// quick; otherwise it is updated once a second.
type coverageMap struct {
	tree  *coverage.Tree[*Hotspot]
	begun atomic.Bool // before that, changes need not be queued: BuildMap reads all hotspots

	queue   sync.Mutex
	waiting []*Hotspot   // old or current versions; the index has the current ones
	length  atomic.Int64 // changes not drawn yet, including those being drawn

	spent atomic.Int64 // ns that the last drawing took

	due atomic.Int64 // µs since 1970: no hotspot shown as online goes offline before

	mu      sync.Mutex // serializes updates
	latest  time.Time  // the moment it shows, by the clock of the data
	checked time.Time  // when all hotspots were last checked, by the machine's clock
	took    cost       // of such a check
	pace    cost       // of drawing a change
}

const (
	// soon is how many changes a reader draws itself, usually within some tens of
	// milliseconds, and patience is how long that may take: where thousands of
	// hotspots are at one place, a single change takes a tenth of a second.
	soon     = 1000
	patience = time.Second
	// ease bounds how often readers check all hotspots: the next check comes no
	// sooner than ease times as long as the last one took, unless that was quick.
	ease  = 20
	quick = time.Millisecond
	// checkAnyway is how long the map is trusted without a check. Heartbeats may also come
	// from other servers' records, which do not notify the map.
	checkAnyway = 10 * time.Second
	// slack is how far a request's moment may be before the latest: requests overtake
	// each other. If it is farther, the clock was set back.
	slack = time.Second
)

// BuildMap draws all hotspots as they are at now. Once it has returned, maps are kept in
// step.
func (f *Fleet) BuildMap(now time.Time) error {
	f.coverage.mu.Lock()
	defer f.coverage.mu.Unlock()
	f.coverage.begun.Store(true)
	var put []coverage.Disc[*Hotspot]
	f.All(func(s *Hotspot) bool {
		put = append(put, f.disc(s, now))
		return true
	})
	return f.coverage.tree.Apply(put, nil)
}

// Redraw brings the map in step with what is true at now. Call it about once a
// second.
func (f *Fleet) Redraw(now time.Time) error {
	c := &f.coverage
	if !c.begun.Load() {
		return nil
	}
	f.checkIfDue(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	return f.redraw(now)
}

// RedrawAll does so after records were restored, which do not notify the map.
func (f *Fleet) RedrawAll(now time.Time) error {
	f.coverage.mu.Lock()
	defer f.coverage.mu.Unlock()
	f.checkAll(now)
	return f.redraw(now)
}

// checkIfDue queues the hotspots that are not shown as they are. It releases the lock
// before they are drawn, so that a waiting reader can see whether they are too many
// to wait for.
func (f *Fleet) checkIfDue(now time.Time) {
	c := &f.coverage
	c.mu.Lock()
	defer c.mu.Unlock()
	wasSetBack := now.Before(c.latest.Add(-slack))
	if wasSetBack {
		c.latest = now
	}
	if c.isDue(now) || wasSetBack || time.Since(c.checked) >= checkAnyway {
		f.checkAll(now)
	}
}

// drawn returns what maps show at now. It is exact, unless so much has just changed
// that a reader should not wait.
func (f *Fleet) drawn(now time.Time) *coverage.Snapshot[*Hotspot] {
	c := &f.coverage
	waiting := c.length.Load()
	if (waiting > 0 || c.isDue(now)) && waiting <= soon && c.begun.Load() {
		c.mu.Lock()
		if c.isDue(now) && c.mayCheck() {
			f.checkAll(now)
		}
		if waiting = c.length.Load(); waiting <= soon && time.Duration(waiting)*c.pace.usual() <= patience { // there may be more by now
			_ = f.redraw(now) // it cannot fail: see disc
		}
		c.mu.Unlock()
	}
	return c.tree.Snapshot()
}

// isDue reports whether a hotspot may have gone offline since the last check.
func (c *coverageMap) isDue(now time.Time) bool { return now.UnixMicro() >= c.due.Load() }

// mayCheck reports whether a reader may check all hotspots. A million take some tens
// of milliseconds, which is too much for each reader.
func (c *coverageMap) mayCheck() bool {
	took := c.took.usual()
	return took <= quick || time.Since(c.checked) >= took*ease
}

// cost is how long some work took the last two times. The lesser is what it usually
// takes: if only one of them was long, the machine was busy, and not the work too much.
type cost struct{ last, before time.Duration }

func (c *cost) note(took time.Duration) { c.last, c.before = took, c.last }

func (c *cost) usual() time.Duration { return min(c.last, c.before) }

// redraw draws what has changed. It counts the changes as drawn only when all of them
// are visible: until then a reader waits, unless they are too many.
func (f *Fleet) redraw(now time.Time) error {
	c := &f.coverage
	if now.After(c.latest) {
		c.latest = now
	}
	due := c.due.Load()
	changed := c.dequeue()
	defer func() { c.done(due) }()
	if len(changed) == 0 {
		return nil
	}
	began := time.Now()
	defer func() {
		took := time.Since(began)
		c.pace.note(took / time.Duration(len(changed)))
		c.spent.Store(int64(took))
	}()
	var put, remove []coverage.Disc[*Hotspot]
	drawn := make(map[string]bool, len(changed))
	for _, was := range changed {
		is, ok := f.index.Get(was.ID())
		if !ok || is.place != was.place {
			remove = append(remove, coverage.Disc[*Hotspot]{Item: was, Place: was.place})
		}
		switch {
		case !ok && was.live != nil:
			was.live.SetMark(heartbeat.OnMap, false)
		case ok && !drawn[was.ID()]:
			drawn[was.ID()] = true
			d := f.disc(is, now)
			put = append(put, d)
			if d.Online {
				due = min(due, beacon.SilentAt(is.live.Seen()))
			}
		}
	}
	return c.tree.Apply(put, remove)
}

// Drawing returns, for monitoring, how many changes maps do not show yet, and how
// long the last drawing took.
func (f *Fleet) Drawing() (waiting int, took time.Duration) {
	return int(f.coverage.length.Load()), time.Duration(f.coverage.spent.Load())
}

// Online returns how many hotspots are online, as maps show it.
func (f *Fleet) Online() int {
	_, online := f.coverage.tree.Snapshot().Count(world)
	return online
}

var world = geo.Box{North: 90, South: -90, East: 180, West: -180}

// disc returns a hotspot's disc at a moment. Its radius and place were validated on
// input, so a tree accepts it.
func (f *Fleet) disc(s *Hotspot, now time.Time) coverage.Disc[*Hotspot] {
	return coverage.Disc[*Hotspot]{Item: s, Place: s.place, RadiusM: s.radius, Online: s.markOnMap(now)}
}

// markOnMap reports whether a hotspot is online, and records that the map shows it so. It
// first records offline: a heartbeat that comes right after the check then sees that it
// has to notify the map.
func (s *Hotspot) markOnMap(now time.Time) bool {
	if s.live == nil {
		return false
	}
	s.live.SetMark(heartbeat.OnMap, false)
	online := s.StatusAt(now) == beacon.Online
	if online {
		s.live.SetMark(heartbeat.OnMap, true)
	}
	return online
}

// checkAll queues the hotspots that are not shown as they are, and notes when the
// first of the others goes offline.
func (f *Fleet) checkAll(now time.Time) {
	c := &f.coverage
	c.checked = time.Now()
	raws, oldest := f.table.StatusDiff(heartbeat.OnMap, now.UnixMicro(), false)
	var turned []*Hotspot
	for _, raw := range raws {
		if s, ok := f.index.Get(raw.Format(beacon.HotspotPrefix)); ok {
			turned = append(turned, s)
		}
	}
	c.took.note(time.Since(c.checked))
	c.enqueue(turned...)
	if oldest != math.MaxInt64 {
		oldest = beacon.SilentAt(oldest)
	}
	c.due.Store(oldest)
}

// enqueue queues hotspots that the map does not, or may not, show as they are. Their
// current state must be in the index already.
func (c *coverageMap) enqueue(hotspots ...*Hotspot) {
	if !c.begun.Load() {
		return
	}
	c.queue.Lock()
	defer c.queue.Unlock()
	c.waiting = append(c.waiting, hotspots...)
	c.length.Add(int64(len(hotspots)))
}

// dequeue empties the queue and returns what was in it.
func (c *coverageMap) dequeue() []*Hotspot {
	c.queue.Lock()
	defer c.queue.Unlock()
	waiting := c.waiting
	c.waiting = nil
	return waiting
}

// done records that what was taken is drawn.
func (c *coverageMap) done(due int64) {
	c.queue.Lock()
	defer c.queue.Unlock()
	c.length.Store(int64(len(c.waiting)))
	c.due.Store(due)
}
