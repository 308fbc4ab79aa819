package rewards

import (
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
)

// Progress is what this process does, or did last, about rewards.
type Progress struct {
	Through  time.Time // the end of the last day that it knows to be closed; zero: none
	Closing  int       // hotspots that the day at hand has rows of; 0: none is at hand
	Settling int       // sums and statements of the month at hand that are done; 0: none is at hand
}

// Progress is for monitoring.
func (r *Rewards) Progress() (p Progress) {
	if through := r.shown.through.Load(); through != 0 {
		p.Through = beacon.Day(through).Time()
	}
	p.Closing, p.Settling = int(r.shown.rows.Load()), int(r.shown.sums.Load())
	return p
}

// progress is the same, as it is written down while it happens.
type progress struct {
	through    atomic.Int64 // the first day after those that are closed
	rows, sums atomic.Int64
}

func (p *progress) closing(rows int) { p.rows.Store(int64(rows)) }

func (p *progress) closed(day beacon.Day) {
	p.rows.Store(0)
	p.through.Store(int64(day) + 1)
}

func (p *progress) settling(sums int) { p.sums.Store(int64(sums)) }
