package simulate

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// crew is a pool of workers, each with its own connection.
type crew struct {
	client *Client
	meter  *Meter
	jobs   chan job
	busy   sync.WaitGroup
}

// job is a heartbeat to send, and the callback for its outcome.
type job struct {
	device *Device
	beat   Beat
	tries  int
	done   func(job, outcome)
}

// outcome is the result of sending a heartbeat.
type outcome struct {
	err  error         // nil: the server has accepted it
	wait time.Duration // how long to wait before a retry; 0: do not retry
}

func (c *Client) hire(ctx context.Context, meter *Meter, workers int) *crew {
	staff := &crew{client: c, meter: meter, jobs: make(chan job, workers)}
	for range workers {
		staff.busy.Go(func() { staff.work(ctx) })
	}
	return staff
}

// dismiss waits for the workers to finish their jobs.
func (s *crew) dismiss() {
	close(s.jobs)
	s.busy.Wait()
}

func (s *crew) work(ctx context.Context) {
	w := newWire(s.client.base)
	defer w.close()
	defer context.AfterFunc(ctx, w.interrupt)()
	for j := range s.jobs {
		j.tries++
		j.done(j, s.send(ctx, w, j))
	}
}

func (s *crew) send(ctx context.Context, w *wire, j job) outcome {
	began := time.Now()
	r, err := w.send(ctx, j.device, &j.beat)
	switch {
	case ctx.Err() != nil:
		return outcome{err: context.Cause(ctx)}
	case err != nil:
		s.meter.trouble(err.Error())
		return outcome{err, time.Second}
	case r.status == http.StatusOK:
		s.meter.took(time.Since(began))
		return outcome{}
	}
	err = fmt.Errorf("a heartbeat of hotspot %s got %d: %s", j.device.hotspot, r.status, r.message)
	s.meter.trouble(err.Error())
	if r.status != http.StatusTooManyRequests && r.status < 500 {
		return outcome{err: err}
	}
	s.meter.repeated.Add(1)
	return outcome{err, max(r.retryAfter, firstPause)}
}

// beatTries is how often a device tries to send a heartbeat before it gives up; the
// next one contains all that matters of it.
const beatTries = 4

// Drive sends one heartbeat of each device per interval, spread over the interval,
// until ctx ends. If the server does not keep up, heartbeats are delayed: there are
// never more in flight than connections.
func (c *Client) Drive(ctx context.Context, devices []*Device, interval time.Duration, meter *Meter) {
	staff := c.hire(ctx, meter, min(c.connections, len(devices)))
	defer staff.dismiss()
	p := &pace{ctx: ctx, staff: staff}
	began := time.Now()
	for turn := 0; ; turn++ {
		due := began.Add(time.Duration(float64(interval) * (float64(turn) / float64(len(devices)))))
		if !p.until(due) {
			return
		}
		p.beat(devices[turn%len(devices)])
	}
}

// pace is the goroutine that decides which device sends when.
type pace struct {
	ctx   context.Context
	staff *crew

	mu    sync.Mutex
	again schedule
}

// The pace sleeps for at least shortNap and then handles all that is due: waking for
// every heartbeat would cost more than sending it. After longNap it checks for
// retries.
const (
	shortNap = 2 * time.Millisecond
	longNap  = 50 * time.Millisecond
)

// until waits until due, and handles retries meanwhile. It returns false if ctx
// ended.
func (p *pace) until(due time.Time) bool {
	for p.ctx.Err() == nil {
		now := time.Now()
		if j, ok := p.pop(now); ok {
			p.give(j)
			continue
		}
		left := due.Sub(now)
		if left <= 0 {
			return true
		}
		pause(p.ctx, min(max(left, shortNap), longNap))
	}
	return false
}

// beat makes a device send a heartbeat, if its last one is done.
func (p *pace) beat(d *Device) {
	if d.waiting.Load() {
		return
	}
	b, due := d.Beat(p.staff.client.Clock())
	if due {
		d.waiting.Store(true)
		p.give(job{device: d, beat: b, done: p.done})
	}
}

func (p *pace) give(j job) {
	select {
	case p.staff.jobs <- j:
	case <-p.ctx.Done():
	}
}

// done handles an outcome.
func (p *pace) done(j job, out outcome) {
	switch {
	case out.err == nil || p.ctx.Err() != nil:
	case out.wait > 0 && j.tries < beatTries:
		p.repeat(j, out.wait)
		return
	default:
		p.staff.meter.failed.Add(1)
	}
	j.device.waiting.Store(false)
}
