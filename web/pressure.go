package web

import (
	"context"
	"math/rand/v2"
	"net/http"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"
)

// Pressure tells when a server has more to do than it can, and slows down those
// who can wait. It watches how long goroutines that could run wait for a
// processor: unlike the time that requests take, that does not grow when a
// database is slow.
type Pressure struct {
	level atomic.Int32 // of a hundred requests, how many are turned away
}

const (
	pressureInterval = 100 * time.Millisecond
	pressureWait     = 40 * time.Millisecond // one in twenty waits longer: too much to do
	pressureRise     = 10                    // of level, at each look
	pressureFall     = 4
	pressureMost     = 95

	// pressureHold is how long a request that is turned away waits for that. On
	// its connection nothing else comes meanwhile, so those who ask most are
	// slowed most, at no cost.
	pressureHold = 100 * time.Millisecond
)

// Run watches until ctx ends.
func (p *Pressure) Run(ctx context.Context) {
	ticker := time.NewTicker(pressureInterval)
	defer ticker.Stop()
	waits := newWaits()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.adjust(waits.look())
	}
}

// adjust raises the level quickly and lowers it slowly.
func (p *Pressure) adjust(wait time.Duration) {
	level := p.level.Load()
	if wait > pressureWait {
		p.level.Store(min(level+pressureRise, pressureMost))
	} else {
		p.level.Store(max(level-pressureFall, 0))
	}
}

// Level is how many of a hundred requests are turned away right now.
func (p *Pressure) Level() int { return int(p.level.Load()) }

// Yields reports whether a request that can wait has to give way to others. It
// then has already waited; its client should be told to come back.
func (p *Pressure) Yields(r *http.Request) bool {
	level := p.level.Load()
	if level == 0 || rand.Int32N(100) >= level {
		return false
	}
	hold := time.NewTimer(pressureHold)
	defer hold.Stop()
	select {
	case <-hold.C:
	case <-r.Context().Done():
	}
	return true
}

// waits reads the runtime's histogram of how long goroutines waited to run.
type waits struct {
	sample []metrics.Sample
	before []uint64
}

func newWaits() *waits {
	w := &waits{sample: []metrics.Sample{{Name: "/sched/latencies:seconds"}}}
	w.look()
	return w
}

// look gives the wait that one in twenty exceeded since the last look.
func (w *waits) look() time.Duration {
	metrics.Read(w.sample)
	histogram := w.sample[0].Value.Float64Histogram()
	counts := slices.Clone(histogram.Counts)
	if w.before == nil {
		w.before = make([]uint64, len(counts))
	}
	var total uint64
	for i := range counts {
		total += counts[i] - w.before[i]
	}
	above := total / 20
	var wait float64
	for i := len(counts) - 1; i >= 0 && total > 0; i-- {
		if n := counts[i] - w.before[i]; n > above {
			wait = histogram.Buckets[i] // the lower bound
			break
		} else {
			above -= n
		}
	}
	w.before = counts
	return time.Duration(max(wait, 0) * float64(time.Second))
}
