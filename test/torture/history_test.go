//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// kind is what an operation asks for.
type kind string

const (
	beat     kind = "beat"
	register kind = "register"
	change   kind = "change"
	read     kind = "read" // a hotspot by its id
	nearby   kind = "nearby"
	covered  kind = "coverage"
	earned   kind = "rewards"
)

// op is an operation as its client knows it. Times count from the beginning of
// the history, by a clock that nobody sets.
type op struct {
	kind    kind
	client  int // who asks: one operation after the other
	user    *user
	target  string         // the id of a hotspot or user, where it is known
	asked   harness.Fields // the body
	call    time.Duration
	heard   time.Duration // the answer, if there was one
	end     time.Duration // by when it has had its effect, if any
	outcome harness.Outcome
	status  int
	got     harness.Fields // nil where nothing was answered, or that there is nothing
	version int            // of the hotspot that was answered, by its entity tag; 0: not told
	why     string         // it failed
}

func (o *op) String() string {
	asked, _ := json.Marshal(o.asked)
	got, _ := json.Marshal(o.got)
	return fmt.Sprintf("%v–%v client %d %s %s: %s %d %s, answered v%d %.300s", o.call.Round(time.Microsecond), o.heard.Round(time.Microsecond),
		o.client, o.kind, asked, o.outcome, o.status, o.why, o.version, got)
}

// unsettled is the end of an operation with an unknown outcome: it may yet have
// an effect.
const unsettled = time.Duration(1<<63 - 1)

// hotspot is all that was done to one hotspot, and seen of it.
type hotspot struct {
	number int // harness.Registration makes its body from it
	owner  *user
	id     string // once anyone knows it
	born   harness.Fields

	ops     []*op
	touched bool // since the last check
	shown   bool // on the map, to anyone: so it must be durable
}

// history is everything that was asked and answered.
type history struct {
	began time.Time

	mu       sync.Mutex
	ops      []*op // of those that belong to no hotspot that was registered under load
	hotspots []*hotspot
	there    []*hotspot // which of them were acknowledged: something can be asked of them
	open     []*op      // of unknown outcome, and not settled
}

func newHistory() *history { return &history{began: time.Now()} }

func (h *history) now() time.Duration { return time.Since(h.began) }

// add makes room for a hotspot that is about to be registered.
func (h *history) add(s *hotspot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hotspots = append(h.hotspots, s)
}

// note keeps an operation with its answer; s may be nil.
func (h *history) note(s *hotspot, o *op, a harness.Answer) {
	o.heard = h.now()
	o.end, o.outcome, o.status, o.why = o.heard, a.Outcome(), a.Status, a.Code
	if a.Err != nil {
		o.why = a.Err.Error()
	}
	if o.outcome == harness.Done && strings.HasPrefix(string(a.Data), "{") {
		_ = json.Unmarshal(a.Data, &o.got) // what is malformed differs from what is wanted
	}
	if tag := a.Header.Get("ETag"); o.outcome == harness.Done && tag != "" {
		_, _ = fmt.Sscanf(tag, `"v%d"`, &o.version)
	}
	if o.outcome == harness.Unknown {
		o.end = unsettled
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.outcome == harness.Unknown {
		h.open = append(h.open, o)
	}
	if s == nil {
		h.ops = append(h.ops, o)
		return
	}
	s.ops, s.touched = append(s.ops, o), s.touched || o.client != checker
	if o.kind == register && o.outcome == harness.Done {
		s.id, s.born = fmt.Sprint(o.got["id"]), o.got
		h.there = append(h.there, s)
	}
}

// newest is the hotspot that was last asked for, and whether it was acknowledged.
func (h *history) newest() (s *hotspot, acknowledged bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s = h.hotspots[len(h.hotspots)-1]
	return s, s.born != nil
}

// show notes that somebody has seen a hotspot on the map.
func (h *history) show(s *hotspot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.shown, s.touched = true, true
}

// settle says that whatever has an unknown outcome has had its effect by now, or
// never will. From here on it stays what it is first seen as (I2).
func (h *history) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.open {
		o.end = h.now()
	}
	h.open = nil
}

// fresh takes those hotspots that something was done to since the last time.
func (h *history) fresh() (list []*hotspot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.hotspots {
		if s.touched {
			list, s.touched = append(list, s), false
		}
	}
	return list
}

// count is how many operations of a kind had an outcome.
func (h *history) count(k kind, outcome harness.Outcome) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.all() {
		if o.kind == k && o.outcome == outcome {
			n++
		}
	}
	return n
}

// all are all operations, for those who have the lock.
func (h *history) all() []*op {
	list := slices.Clip(h.ops)
	for _, s := range h.hotspots {
		list = append(list, s.ops...)
	}
	return list
}
