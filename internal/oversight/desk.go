package oversight

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// DeskConfig is what NewDesk needs.
type DeskConfig struct {
	Fleet interface {
		Census(now time.Time, since beacon.HotspotID, silent int) fleet.Census
	}
	Ledger interface {
		View(ctx context.Context, more func(rewards.View, ledger.Books) error) (rewards.View, error)
		ReportClock(ctx context.Context) (rewards.ClockReport, error)
	}
	Flags interface {
		CountFlags(ctx context.Context, of beacon.FlagFilter) (lines, flags int, err error)
	}
	Holds interface {
		CountActiveHolds(ctx context.Context) (int, error)
	}
	Days interface {
		DayUptime(ctx context.Context, day beacon.Day, reopened ledger.Reopenings) (served, expected int64, err error)
	}
	Now func() time.Time
}

// Desk is what staff look at first: how the network is, and what waits for them. All who ask
// within two seconds get the same, so that it costs little however many look.
type Desk struct {
	cfg    DeskConfig
	latest atomic.Pointer[Overview]
	making chan struct{} // holds a token while someone makes the next one

	// Guarded by making. A day that is closed stays as it is, until days are opened again.
	days     map[beacon.Day]DayUptime
	revision int64
}

// NewDesk returns a desk.
func NewDesk(cfg DeskConfig) *Desk {
	return &Desk{cfg: cfg, making: make(chan struct{}, 1), days: map[beacon.Day]DayUptime{}}
}

const (
	overviewTime = 2 * time.Second // for which an overview is shown

	newFor     = 7 * 24 * time.Hour // for which a hotspot counts as new
	silentMost = 10                 // hotspots that are named
	trendDays  = 14

	// rowsAtOnce is how many rows of the books are read for one overview, apart from those of
	// one day. Of a large network, the first overviews after a start show fewer days.
	rowsAtOnce = 200_000
)

// Overview is how a network is.
type Overview struct {
	At time.Time
	fleet.Census
	Flags, Holds int // of the queue, where flags of one kind and account are one; that are active

	Trend   []DayUptime // closed days in which something was to be served, in order
	Through beacon.Day  // all days are closed up to it
	Closed  bool        // some day is
	Clock   rewards.ClockReport
}

// DayUptime is how many minutes of a day all hotspots together served, and should have.
type DayUptime struct {
	Day              beacon.Day
	Served, Expected int64
}

// Overview returns how the network is, some seconds ago at most.
func (d *Desk) Overview(ctx context.Context, _ beacon.Principal, _ struct{}) (*Overview, error) {
	if o := d.latest.Load(); d.fresh(o) {
		return o, nil
	}
	select {
	case d.making <- struct{}{}:
	case <-ctx.Done():
		return nil, beacon.Unavailable(context.Cause(ctx))
	}
	defer func() { <-d.making }()
	if o := d.latest.Load(); d.fresh(o) {
		return o, nil
	}
	o, err := d.make(ctx)
	if err == nil {
		d.latest.Store(o)
	}
	return o, err
}

func (d *Desk) fresh(o *Overview) bool {
	if o == nil {
		return false
	}
	age := d.cfg.Now().Sub(o.At)
	return age >= 0 && age < overviewTime
}

func (d *Desk) make(ctx context.Context) (o *Overview, err error) {
	o = &Overview{At: d.cfg.Now()}
	since := beacon.HotspotID(id.Format(beacon.HotspotPrefix, o.At.Add(-newFor), 0, 0))
	o.Census = d.cfg.Fleet.Census(o.At, since, silentMost)
	if o.Flags, _, err = d.cfg.Flags.CountFlags(ctx, beacon.FlagFilter{}); err != nil {
		return nil, err
	}
	if o.Holds, err = d.cfg.Holds.CountActiveHolds(ctx); err != nil {
		return nil, err
	}
	if o.Clock, err = d.cfg.Ledger.ReportClock(ctx); err != nil {
		return nil, err
	}
	v, err := d.cfg.Ledger.View(ctx, nil)
	if err != nil {
		return nil, err
	}
	o.Through = v.Closing.Through()
	o.Closed = v.Begun && (o.Through >= v.Since || !v.Recorded)
	if o.Closed {
		err = d.sumUp(ctx, o, v)
	}
	return o, err
}

// sumUp adds the trend. It reads the rows of days that it does not know yet, the newest
// first.
func (d *Desk) sumUp(ctx context.Context, o *Overview, v rewards.View) error {
	first := o.Through - trendDays + 1
	for day := range d.days {
		if day < first || d.revision != v.Revision() {
			delete(d.days, day)
		}
	}
	d.revision = v.Revision()
	read, rows := 0, o.Online+o.Offline+o.Pending
	for day := o.Through; day >= first; day-- {
		if _, known := d.days[day]; known {
			continue
		}
		if read += rows; read > rowsAtOnce && read > rows {
			break
		}
		served, expected, err := d.cfg.Days.DayUptime(ctx, day, v.Reopened)
		if err != nil {
			return err
		}
		d.days[day] = DayUptime{day, served, expected}
	}
	for day := first; day <= o.Through; day++ {
		if is := d.days[day]; is.Expected > 0 {
			o.Trend = append(o.Trend, is)
		}
	}
	return nil
}
