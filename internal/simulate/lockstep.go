package simulate

import (
	"context"
	"sync"
	"time"
)

// March runs all devices in lockstep with a clock that it advances itself, minute by
// minute, from one time to another: all heartbeats of a minute are accepted before
// the next minute begins. A heartbeat that is refused for good ends it.
func (c *Client) March(ctx context.Context, devices []*Device, from, to time.Time, set func(time.Time), meter *Meter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	staff := c.hire(ctx, meter, min(c.connections, len(devices)))
	defer staff.dismiss()
	var underWay sync.WaitGroup
	done := func(j job, out outcome) {
		switch {
		case out.err == nil:
		case out.wait > 0 && j.tries < beatTries:
			time.AfterFunc(out.wait, func() { staff.jobs <- j }) // a worker must not wait for workers
			return
		default:
			cancel(out.err)
		}
		underWay.Done()
	}
	for now := from; now.Before(to); now = now.Add(time.Minute) {
		set(now)
		for _, d := range devices {
			if b, due := d.Beat(now); due {
				underWay.Add(1)
				staff.jobs <- job{device: d, beat: b, done: done}
			}
		}
		underWay.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	set(to)
	return nil
}
