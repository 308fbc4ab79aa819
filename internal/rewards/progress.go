package rewards

import (
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Progress is how far rewards are, and what this process is doing about them.
type Progress struct {
	Through   time.Time // the end of the last day closed, by any process; zero: none known
	Unclosed  int       // days over and not closed: one, for some minutes after midnight
	Unsettled int       // months not settled although their grace period is over
	Closing   int       // hotspots done of the day being closed; 0: none
	Settling  int       // sums and statements done of the month being settled; 0: none
}

// Progress returns the progress, for monitoring.
func (r *Rewards) Progress() (p Progress) {
	if through := r.shown.through.Load(); through != 0 {
		p.Through = beacon.Day(through).Time()
	}
	if first := r.shown.first.Load(); first != 0 {
		p.Unclosed = max(int(r.today()-beacon.Day(first)), 0)
	}
	if month := r.shown.month.Load(); month != 0 {
		for m := beacon.Month(month); !r.Now().Before((m + 1).Start().Add(Grace)); m++ {
			p.Unsettled++
		}
	}
	p.Closing, p.Settling = int(r.shown.rows.Load()), int(r.shown.sums.Load())
	return p
}

// progress holds the same values while work is under way.
type progress struct {
	through    atomic.Int64 // the first day after the closed ones; 0: unknown
	first      atomic.Int64 // the first day that is not closed
	month      atomic.Int64 // the first month that is not settled
	rows, sums atomic.Int64
}

func (p *progress) closing(rows int) { p.rows.Store(int64(rows)) }

func (p *progress) closed(day beacon.Day) {
	p.rows.Store(0)
	p.through.Store(int64(day) + 1)
	p.first.Store(int64(day) + 1)
}

// seen records how far the ledger is, whichever process wrote it.
func (p *progress) seen(v view) {
	p.first.Store(int64(v.first))
	p.month.Store(int64(v.month))
	if v.begun {
		p.through.Store(int64(v.first))
	}
}

func (p *progress) settling(sums int) { p.sums.Store(int64(sums)) }
