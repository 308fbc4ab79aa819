package openfeeds

import (
	"crypto/sha256"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// edition is the public part of the network at one minute. It never changes. It holds no
// encoded text: that of a million hotspots would take 300 MB.
type edition struct {
	at     time.Time
	items  []fleet.MapItem   // in the order of their ids
	online int               // of them
	seen   []beacon.Minute   // of each, when its last heartbeat arrived; 0: never
	counts []int16           // of each, its clients as they are shown; nil: they are not
	box    geo.Box           // around all of them; everywhere, if there is none
	hash   [sha256.Size]byte // of all that feeds show of them

	folding sync.Once
	folded  texts // once somebody searches
	placing sync.Once
	placed  []geo.Vec // once somebody asks for the nearest
}

// editionTime is how long an edition is shown.
const editionTime = time.Minute

// editions makes the edition of the minute.
type editions struct {
	fleet *fleet.Fleet
	view  view
	now   func() time.Time
	shows func() bool // whether hotspots show how many clients they have

	latest atomic.Pointer[edition]
	making sync.Mutex // a turn

	tiles   *fleet.Map
	drawn   atomic.Pointer[edition] // what tiles shows
	drawing sync.Mutex              // a turn
}

// current returns the edition of this minute. One request makes it, while others get the
// one before.
func (e *editions) current() *edition {
	at := e.now().UTC().Truncate(editionTime)
	return renew(&e.latest, &e.making, func(last *edition) bool { return last.at.Equal(at) }, func() *edition { return e.make(at) })
}

// renew returns what is in latest if it is fresh, and otherwise makes the next. Only the
// first callers of all wait for another.
func renew[T any](latest *atomic.Pointer[T], making *sync.Mutex, fresh func(*T) bool, next func() *T) *T {
	last := latest.Load()
	switch {
	case last != nil && fresh(last):
		return last
	case last == nil:
		making.Lock()
	case !making.TryLock():
		return last
	}
	defer making.Unlock()
	if last = latest.Load(); last == nil || !fresh(last) {
		last = next()
		latest.Store(last)
	}
	return last
}

// pageSize is how many hotspots are read from the fleet at a time.
const pageSize = 10_000

func (e *editions) make(at time.Time) *edition {
	next := &edition{at: at}
	if last := e.latest.Load(); last != nil {
		next.items, next.seen = make([]fleet.MapItem, 0, len(last.items)), make([]beacon.Minute, 0, len(last.items))
	}
	if e.shows() {
		next.counts = []int16{}
	}
	sum := sha256.New()
	var line []byte
	var h hotspot
	query := fleet.ListQuery{Page: beacon.Page{Number: 1, Size: pageSize}, Now: at, Charge: func(int) error { return nil }}
	for !e.view.none {
		page, _ := e.fleet.List(query) // it fails only if Charge does
		for _, s := range page.Items {
			item, shown := choose(s, at)
			if !shown {
				continue
			}
			next.items = append(next.items, item)
			if item.Status == beacon.Online {
				next.online++
			}
			next.seen = append(next.seen, seenBy(s, item.Status, at))
			if next.counts != nil {
				next.counts = append(next.counts, inFives(s.PublicClients(at)))
			}
			e.view.publish(&h, next, len(next.items)-1)
			line = strconv.AppendInt(append(append(line[:0], h.id...), ' '), s.Version(), 10)
			line = strconv.AppendInt(append(append(line, h.status...), ' '), h.until.Unix(), 10)
			line = strconv.AppendInt(append(line, ' '), int64(h.clients), 10)
			if h.status == beacon.Offline { // otherwise it is the time of the edition
				line = strconv.AppendInt(append(line, ' '), h.seenAt.Unix(), 10)
			}
			sum.Write(append(line, '\n'))
		}
		if len(page.Items) < pageSize {
			break
		}
		query.Page.After = page.Items[pageSize-1].ID()
	}
	var found bool
	if next.box, found = geo.Around(next.places); !found {
		next.box = geo.Box{North: 90, South: -90, East: 180, West: -180}
	}
	sum.Sum(next.hash[:0])
	return next
}

// places yields where the hotspots are shown.
func (e *edition) places(yield func(geo.Point) bool) {
	for i := range e.items {
		if !yield(e.items[i].Place) {
			return
		}
	}
}

// seenBy returns when the last heartbeat of a hotspot arrived. For one that is online, that
// is the time of the edition: when exactly a heartbeat arrived is nobody's business.
func seenBy(s *fleet.Hotspot, status beacon.Status, at time.Time) beacon.Minute {
	if seen := s.SeenAt(); status != beacon.Online && seen.Before(at) {
		return beacon.MinuteOf(seen)
	}
	return beacon.MinuteOf(at)
}

// inFives rounds a number of clients down to a multiple of five. So fewer than five are
// none, and nobody can tell that somebody is there; and nobody is shown who is not.
func inFives(clients int) int16 { return int16(clients - clients%5) }

// find returns the position of the first item whose id is at least this one, and whether
// it is this one.
func (n *edition) find(id string) (at int, found bool) {
	return sort.Find(len(n.items), func(i int) int { return strings.Compare(id, n.items[i].Hotspot.ID()) })
}

// tile returns what the map of the current edition shows.
func (e *editions) tile(t fleet.Tile) (fleet.Items, error) {
	latest := e.current()
	var err error
	renew(&e.drawn, &e.drawing, func(last *edition) bool { return last == latest }, func() *edition {
		err = e.tiles.Draw(latest.items)
		return latest
	})
	return e.tiles.Tile(t), err
}
