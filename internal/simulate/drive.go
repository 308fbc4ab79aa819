package simulate

import (
	"container/heap"
	"context"
	"fmt"
	"math/bits"
	"net/http"
	"sync"
	"sync/atomic"
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

// schedule holds the heartbeats to retry, earliest first.
type schedule []later

type later struct {
	at time.Time
	job
}

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at.Before(s[j].at) }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)        { *s = append(*s, x.(later)) }

func (s *schedule) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

func (p *pace) repeat(j job, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heap.Push(&p.again, later{time.Now().Add(wait), j})
}

// pop removes the earliest, if it is due.
func (p *pace) pop(now time.Time) (j job, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.again) == 0 || p.again[0].at.After(now) {
		return job{}, false
	}
	return heap.Pop(&p.again).(later).job, true
}

// Meter counts the outcomes of heartbeats. It is safe for concurrent use.
type Meter struct {
	taken, repeated, failed atomic.Int64
	times                   [64 * steps]atomic.Int64
	last                    atomic.Pointer[string]
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

	times [64 * steps]int64
}

// Read returns a snapshot.
func (m *Meter) Read() Reading {
	r := Reading{Taken: m.taken.Load(), Repeated: m.repeated.Load(), Failed: m.failed.Load()}
	for i := range m.times {
		r.times[i] = m.times[i].Load()
	}
	if last := m.last.Load(); last != nil {
		r.Trouble = *last
	}
	return r
}

// Since returns what happened between two readings.
func (r Reading) Since(earlier Reading) Reading {
	r.Taken -= earlier.Taken
	r.Repeated -= earlier.Repeated
	r.Failed -= earlier.Failed
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
