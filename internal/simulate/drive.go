package simulate

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/clock"
)

// pool is workers that send heartbeats, each over its own connection.
type pool struct {
	client  *Client
	meter   *Meter
	waiting chan delivery
	busy    sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// delivery is a heartbeat to send, and the callback for its outcome: nil if the server has
// accepted it. It is not called once the pool has stopped.
type delivery struct {
	device *Device
	beat   Beat
	tries  int
	done   func(error)
}

func (c *Client) startPool(ctx context.Context, meter *Meter, workers int) *pool {
	p := &pool{client: c, meter: meter, waiting: make(chan delivery, workers)}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for range workers {
		p.busy.Go(p.work)
	}
	return p
}

// stop drops what was not sent yet, and waits for the workers to end.
func (p *pool) stop() {
	p.cancel()
	p.busy.Wait()
}

// add hands a heartbeat to the workers, once one of them has time.
func (p *pool) add(d delivery) {
	select {
	case p.waiting <- d:
	case <-p.ctx.Done():
	}
}

func (p *pool) work() {
	w := NewWire(p.ctx, p.client.base)
	defer w.Close()
	for {
		select {
		case d := <-p.waiting:
			p.try(w, d)
		case <-p.ctx.Done():
			return
		}
	}
}

// beatTries is how often a device tries to send a heartbeat before it gives up; the
// next one contains all that matters of it.
const beatTries = 4

func (p *pool) try(w *Wire, d delivery) {
	began := time.Now()
	r, err := w.send(p.ctx, d.device, &d.beat)
	if p.ctx.Err() != nil {
		return
	}
	wait := time.Second // if there was no response
	if err == nil {
		if wait, err = r.judge(d.device); wait > 0 {
			p.meter.repeated.Add(1)
		}
	}
	switch {
	case err == nil && r.uncounted != "" && d.tries == 0: // after a try without a response it may be there already
		p.meter.ignored(r.uncounted)
	case err == nil:
		p.meter.took(time.Since(began))
	default:
		p.meter.trouble(err.Error())
	}
	if d.tries++; wait > 0 && d.tries < beatTries {
		time.AfterFunc(wait, func() { p.add(d) }) // a worker must not wait for workers
		return
	}
	d.done(err)
}

// shortNap is how long Drive sleeps at least. Then it handles all that is due: waking for
// every heartbeat would cost more than sending it.
const shortNap = 2 * time.Millisecond

// Drive sends one heartbeat of each device per interval, spread over the interval,
// until ctx ends. If the server does not keep up, heartbeats are delayed: there are
// never more in flight than connections. Devices are not driven again afterwards: some
// heartbeats may have no outcome.
func (c *Client) Drive(ctx context.Context, devices []*Device, interval time.Duration, meter *Meter) {
	senders := c.startPool(ctx, meter, min(c.connections, len(devices)))
	defer senders.stop()
	began := time.Now()
	for turn := 0; ctx.Err() == nil; turn++ {
		due := began.Add(time.Duration(float64(interval) * (float64(turn) / float64(len(devices)))))
		if left := time.Until(due); left > 0 && !clock.Pause(ctx, max(left, shortNap)) {
			return
		}
		senders.beat(devices[turn%len(devices)])
	}
}

// beat makes a device send a heartbeat, if its last one is done.
func (p *pool) beat(d *Device) {
	if d.waiting.Load() {
		return
	}
	b, due := d.Beat(p.client.Clock())
	if !due {
		return
	}
	d.waiting.Store(true)
	p.add(delivery{device: d, beat: b, done: func(err error) {
		if err != nil {
			p.meter.failed.Add(1)
		}
		d.waiting.Store(false)
	}})
}

// Meter counts the outcomes of heartbeats. It is safe for concurrent use.
type Meter struct {
	taken, repeated, failed, uncounted atomic.Int64
	times                              [64 * steps]atomic.Int64
	last, why                          atomic.Pointer[string]
}

// steps is the resolution of times: each bucket is at most an eighth longer than the
// one before.
const steps = 8

// Reading is a snapshot of a meter.
type Reading struct {
	Taken    int64  // heartbeats that the server has accepted
	Repeated int64  // responses that asked to retry later
	Failed   int64  // heartbeats that were given up
	Trouble  string // the last failure, or empty

	Uncounted int64  // heartbeats that the server has taken, and that changed nothing
	Why       string // the reason of the last of them

	times [64 * steps]int64
}

// Read returns a snapshot.
func (m *Meter) Read() Reading {
	r := Reading{Taken: m.taken.Load(), Repeated: m.repeated.Load(), Failed: m.failed.Load(), Uncounted: m.uncounted.Load()}
	for i := range m.times {
		r.times[i] = m.times[i].Load()
	}
	if last := m.last.Load(); last != nil {
		r.Trouble = *last
	}
	if why := m.why.Load(); why != nil {
		r.Why = *why
	}
	return r
}

// Since returns what happened between two readings.
func (r Reading) Since(earlier Reading) Reading {
	r.Taken -= earlier.Taken
	r.Repeated -= earlier.Repeated
	r.Failed -= earlier.Failed
	r.Uncounted -= earlier.Uncounted
	for i := range r.times {
		r.times[i] -= earlier.times[i]
	}
	return r
}

// Quantile returns the time within which the given fraction of responses arrived.
func (r Reading) Quantile(share float64) time.Duration {
	var total int64
	for _, n := range r.times {
		total += n
	}
	left := int64(share * float64(total))
	for i, n := range r.times {
		if left -= n; left < 0 {
			return upTo(i)
		}
	}
	return 0
}

func (m *Meter) took(d time.Duration) {
	m.taken.Add(1)
	m.times[bucketOf(d)].Add(1)
}

func (m *Meter) ignored(why string) {
	m.why.Store(&why)
	m.uncounted.Add(1)
}

func (m *Meter) trouble(what string) { m.last.Store(&what) }

// bucketOf returns the bucket of a duration: the power of two of the microseconds,
// and the three bits that follow.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), steps))
	power := bits.Len64(us) - 1
	return power*steps + int(us>>(power-3)&(steps-1))
}

// upTo returns the longest duration in a bucket.
func upTo(bucket int) time.Duration {
	power, part := bucket/steps, bucket%steps
	return time.Duration((steps+part+1)<<power/steps) * time.Microsecond
}
