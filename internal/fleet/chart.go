package fleet

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/coverage"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// chart is the fleet as maps show it: the disc of every hotspot, and which of
// them are online. Hotspots change one by one, and go offline by the clock alone;
// the chart is brought in step with many of them at a time, which costs a
// fraction, by whoever asks when that is soon done, and else once a second.
type chart struct {
	tree  *coverage.Tree[*Spot]
	begun atomic.Bool // before, nobody need tell it anything: Chart looks at all

	queue   sync.Mutex
	waiting []*Spot      // as they were or are: what is true of those hotspots now, the index knows
	length  atomic.Int64 // how many changes are not drawn, those included that are being drawn

	spent atomic.Int64 // ns that it last took to draw something

	due atomic.Int64 // µs since 1970: nobody who is shown as online falls silent before

	mu     sync.Mutex // of who brings it in step
	latest time.Time  // the moment it shows, by the clock of the data
	looked time.Time  // when it was last looked at all hotspots, by the machine's clock
	took   time.Duration
	pace   time.Duration // that a change took to draw, the last time
}

const (
	// soon is how many changes a reader draws himself, usually in some hundredths of
	// a second, and patience how long that may take him: where thousands stand at one
	// place, a single change takes a tenth of a second.
	soon     = 1000
	patience = time.Second
	// ease is how many times longer than a look at all hotspots the time until a
	// reader's next is, at least, if it is not a quick one.
	ease  = 20
	quick = time.Millisecond
	// lookAnyway is how long it is believed that the chart is right. What beats say
	// may also come from other servers' records, which is not told here.
	lookAnyway = 10 * time.Second
	// slack is how much older than one before a moment may be that someone asks
	// about: requests overtake each other. If it is more, the clock was set back.
	slack = time.Second
)

// Chart draws all hotspots, as they are at a moment. Once it has returned, maps
// are kept in step.
func (f *Fleet) Chart(now time.Time) error {
	f.chart.mu.Lock()
	defer f.chart.mu.Unlock()
	f.chart.begun.Store(true)
	var put []coverage.Disc[*Spot]
	f.All(func(s *Spot) bool {
		put = append(put, f.disc(s, now))
		return true
	})
	return f.chart.tree.Apply(put, nil)
}

// Redraw brings maps in step with what is true at a moment. It is to be called
// about once a second.
func (f *Fleet) Redraw(now time.Time) error {
	c := &f.chart
	if !c.begun.Load() {
		return nil
	}
	f.lookIfDue(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	return f.redraw(now)
}

// lookIfDue notes who is not shown as he is. Who waits for it is let in before
// they are drawn, and sees whether they are too many to wait for.
func (f *Fleet) lookIfDue(now time.Time) {
	c := &f.chart
	c.mu.Lock()
	defer c.mu.Unlock()
	wasSetBack := now.Before(c.latest.Add(-slack))
	if wasSetBack {
		c.latest = now
	}
	if c.isDue(now) || wasSetBack || time.Since(c.looked) >= lookAnyway {
		f.lookAtAll(now)
	}
}

// drawn gives what maps show at a moment: exactly, unless so much has changed a
// moment ago that a reader had better not wait.
func (f *Fleet) drawn(now time.Time) *coverage.Snapshot[*Spot] {
	c := &f.chart
	waiting := c.length.Load()
	if (waiting > 0 || c.isDue(now)) && waiting <= soon && c.begun.Load() {
		c.mu.Lock()
		if c.isDue(now) && c.mayLook() {
			f.lookAtAll(now)
		}
		if waiting = c.length.Load(); waiting <= soon && time.Duration(waiting)*c.pace <= patience { // it may be more by now
			_ = f.redraw(now) // it cannot fail: see disc
		}
		c.mu.Unlock()
	}
	return c.tree.Snapshot()
}

// isDue reports whether someone may have fallen silent since the last look.
func (c *chart) isDue(now time.Time) bool { return now.UnixMicro() >= c.due.Load() }

// mayLook reports whether a reader may look at all hotspots: a million take some
// hundredths of a second, which is too much for each.
func (c *chart) mayLook() bool { return c.took <= quick || time.Since(c.looked) >= c.took*ease }

// redraw draws what has changed. Only when all of it can be seen does it say so:
// who asks in the meantime waits, if it is not too much.
func (f *Fleet) redraw(now time.Time) error {
	c := &f.chart
	if now.After(c.latest) {
		c.latest = now
	}
	due := c.due.Load()
	changed := c.take()
	defer func() { c.settle(due) }()
	if len(changed) == 0 {
		return nil
	}
	began := time.Now()
	defer func() {
		took := time.Since(began)
		c.pace = took / time.Duration(len(changed))
		c.spent.Store(int64(took))
	}()
	var put, remove []coverage.Disc[*Spot]
	drawn := make(map[string]bool, len(changed))
	for _, was := range changed {
		is, ok := f.index.Get(was.ID())
		if !ok || is.place != was.place {
			remove = append(remove, coverage.Disc[*Spot]{Item: was, Place: was.place})
		}
		switch {
		case !ok && was.live != nil:
			was.live.Light(false)
		case ok && !drawn[was.ID()]:
			drawn[was.ID()] = true
			d := f.disc(is, now)
			put = append(put, d)
			if d.Online {
				due = min(due, silentAt(is.live.Seen()))
			}
		}
	}
	return c.tree.Apply(put, remove)
}

// Drawing tells, for monitoring, how many changes maps do not show yet, and how
// long it took to draw some the last time.
func (f *Fleet) Drawing() (waiting int, took time.Duration) {
	return int(f.chart.length.Load()), time.Duration(f.chart.spent.Load())
}

// Online is how many hotspots are online, as maps show it.
func (f *Fleet) Online() int {
	_, online := f.chart.tree.Snapshot().Count(world)
	return online
}

var world = geo.Box{North: 90, South: -90, East: 180, West: -180}

// disc is a hotspot's at a moment. Its radius and place were checked when they
// came in, so a tree takes it.
func (f *Fleet) disc(s *Spot, now time.Time) coverage.Disc[*Spot] {
	return coverage.Disc[*Spot]{Item: s, Place: s.place, RadiusM: s.radius, Online: s.light(now)}
}

// light finds out whether a hotspot is online, and notes it. It is first noted as
// dark: a beat that comes right after the look then sees that it has to tell.
func (s *Spot) light(now time.Time) bool {
	if s.live == nil {
		return false
	}
	s.live.Light(false)
	online := s.StatusAt(now) == beacon.Online
	if online {
		s.live.Light(true)
	}
	return online
}

// silentAt is when a hotspot that was last heard at a time will be offline.
func silentAt(seen int64) int64 { return seen + beacon.OfflineAfter.Microseconds() + 1 }

// lookAtAll notes which hotspots are not shown as they are, and when the first of
// the others will not be.
func (f *Fleet) lookAtAll(now time.Time) {
	c := &f.chart
	c.looked = time.Now()
	raws, oldest := f.table.Turned(now.Add(-beacon.OfflineAfter).UnixMicro())
	var turned []*Spot
	for _, raw := range raws {
		if s, ok := f.index.Get(raw.Format(beacon.HotspotPrefix)); ok {
			turned = append(turned, s)
		}
	}
	c.took = time.Since(c.looked)
	c.tell(turned...)
	if oldest != math.MaxInt64 {
		oldest = silentAt(oldest)
	}
	c.due.Store(oldest)
}

// tell notes that a hotspot is not, or may not be, as the chart shows it. What is
// true of it must be in the index by then.
func (c *chart) tell(spots ...*Spot) {
	if !c.begun.Load() {
		return
	}
	c.queue.Lock()
	defer c.queue.Unlock()
	c.waiting = append(c.waiting, spots...)
	c.length.Add(int64(len(spots)))
}

// take gives what is to be drawn.
func (c *chart) take() []*Spot {
	c.queue.Lock()
	defer c.queue.Unlock()
	waiting := c.waiting
	c.waiting = nil
	return waiting
}

// settle notes that what was taken is drawn.
func (c *chart) settle(due int64) {
	c.queue.Lock()
	defer c.queue.Unlock()
	c.length.Store(int64(len(c.waiting)))
	c.due.Store(due)
}
