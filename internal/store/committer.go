package store

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

const (
	queueLength  = 2048
	groupSize    = 127
	maxTries     = 10
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// committer is the only writer of a stream. It takes queued operations of about groupSize
// writes into one transaction, so that one disk sync serves them all. It also numbers the rows
// of its stream. The stream has no gaps because its transactions run one after the
// other.
//
// A node has two committers: one for its heartbeat journal, and one for everything
// else, with the change stream. So heartbeats never wait for the locks, retries and
// queue of the rest.
type committer struct {
	engine *Engine

	mu      sync.RWMutex // guards closed against a send on the closed queue
	closed  bool
	queue   chan *operation
	done    chan struct{}
	waiting atomic.Int64 // operations accepted and not begun

	// seat holds the session while nothing is being committed. A goroutine takes the
	// session out to commit. Waiting goroutines get it in order, so that where two
	// committers share a seat, each waits for at most one transaction of the other.
	seat chan *session

	watched func(outcome, time.Duration) // called after every group

	// The fields below belong to the goroutine that has taken the seat.
	session *session
	stream  numbering
}

// newSeat returns a seat without a session; the first user opens one.
func newSeat() chan *session {
	seat := make(chan *session, 1)
	seat <- nil
	return seat
}

func startCommitter(engine *Engine, seat chan *session, stream numbering, watched func(outcome, time.Duration)) *committer {
	c := &committer{
		engine: engine, seat: seat, stream: stream, watched: watched,
		queue: make(chan *operation, queueLength), done: make(chan struct{}),
	}
	c.stream.known = stream.node != SharedNode // a new node has written nothing
	go c.loop()
	return c
}

func (c *committer) takeSeat() { c.session = <-c.seat }

func (c *committer) leaveSeat() {
	session := c.session
	c.session = nil
	c.seat <- session
}

// close commits the queued operations, then stops.
func (c *committer) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.queue)
	}
	c.mu.Unlock()
	<-c.done
	c.takeSeat() // a caller may be committing in its own goroutine
	defer c.leaveSeat()
	if c.session != nil {
		c.session.close()
		c.session = nil
	}
}

var (
	errClosed    = errors.New("the store is closed")
	errQueueFull = errors.New("too many writes are waiting")
)

// do submits an operation and waits for its outcome. If ctx ends first, the error says
// whether something may still be written.
func (c *committer) do(ctx context.Context, op *operation) error {
	op.done = make(chan error, 1)
	if err := c.submit(ctx, op); err != nil {
		return beacon.Unavailable(err)
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
	}
	started := op.abandon()
	select {
	case err := <-op.done: // both happened at once: prefer the outcome
		return err
	default:
	}
	if started {
		return beacon.Uncertain(context.Cause(ctx))
	}
	return beacon.Unavailable(context.Cause(ctx))
}

// submit gets the operation committed. If the database is local and nobody else is
// writing, it commits in the calling goroutine: for a single client, switching to
// another goroutine is expensive (measured on a busy machine: 0.45 of the bare driver's
// rate with the switch, 0.65 without). Otherwise the committer's goroutine does it.
func (c *committer) submit(ctx context.Context, op *operation) error {
	mine, err := c.accept(ctx, op)
	if mine {
		defer c.leaveSeat()
		c.complete(c.gather(op))
	}
	return err
}

// accept queues the operation, or reports that the caller must commit it.
func (c *committer) accept(ctx context.Context, op *operation) (mine bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return false, errClosed
	}
	if c.waiting.Add(1) == 1 && c.local() { // otherwise a queued operation would be overtaken
		select {
		case c.session = <-c.seat:
			return true, nil
		default:
		}
	}
	select {
	case c.queue <- op:
		return false, nil
	default:
		c.waiting.Add(-1)
		return false, errQueueFull
	}
}

// local reports whether a commit cannot hang on a network, so that a caller may wait
// for it regardless of its context.
func (c *committer) local() bool { return c.engine.Patience == 0 }

func (c *committer) loop() {
	defer close(c.done)
	for first := range c.queue {
		c.takeSeat()
		c.complete(c.gather(first))
		c.leaveSeat()
	}
}

// gather takes what is queued and does not wait for more: while one group commits, the
// next one forms.
func (c *committer) gather(first *operation) []*operation {
	group := []*operation{first}
	for size, more := max(first.weight, 1), true; more && size < groupSize; {
		var op *operation
		select {
		case op, more = <-c.queue:
		default:
			more = false
		}
		if more {
			group = append(group, op)
			size += max(op.weight, 1)
		}
	}
	c.waiting.Add(-int64(len(group)))
	slices.SortStableFunc(group, func(a, b *operation) int { return cmp.Compare(a.order, b.order) })
	return group
}

// complete commits a group and sends each operation its result.
func (c *committer) complete(group []*operation) {
	verdicts, outcome, cause := c.commit(group)
	if outcome == refused && len(group) > 1 {
		c.completeEach(group)
		return
	}
	for i, op := range group {
		if outcome == committed {
			op.done <- verdicts[i]
		} else {
			op.done <- c.failure(op, outcome, cause)
		}
	}
}

// completeEach handles a group with an operation that cannot be written. It commits each
// operation separately, so that only that one fails. If the database goes away
// meanwhile, the rest fail at once instead of waiting for it in turn.
func (c *committer) completeEach(group []*operation) {
	var verdicts []error
	outcome, cause := committed, error(nil)
	for _, op := range group {
		if outcome != away {
			verdicts, outcome, cause = c.commit([]*operation{op})
		}
		if outcome == committed {
			op.done <- verdicts[0]
		} else {
			op.done <- c.failure(op, outcome, cause)
		}
	}
}

// failure returns the error for an operation of a group that failed.
func (c *committer) failure(op *operation, outcome outcome, cause error) error {
	switch outcome {
	case refused:
		if op.duplicate != nil && c.engine.classify(cause) == Duplicate {
			return op.duplicate(cause)
		}
		return internal("the database refuses", cause)
	case uncertain:
		return beacon.Uncertain(cause)
	default:
		return beacon.Unavailable(cause)
	}
}

// commit retries until the group is committed or a retry is pointless.
func (c *committer) commit(group []*operation) (verdicts []error, outcome outcome, cause error) {
	if c.engine.isBroken() {
		return nil, away, errBroken
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if c.engine.Patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.engine.Patience)
	}
	defer cancel()
	began := time.Now()
	defer func() { c.watched(outcome, time.Since(began)) }()
	for try := range maxTries {
		verdicts, outcome, cause = c.try(ctx, group)
		if outcome != contended || !pause(ctx, try) {
			break
		}
	}
	switch {
	case outcome == committed:
		c.engine.full.Store(false)
	case c.engine.classify(cause) == Full:
		c.engine.full.Store(true)
	}
	return verdicts, outcome, cause
}

// pause waits a random time that grows with the tries ("full jitter"), so that
// transactions that collided do not collide again. It returns false if ctx ended.
func pause(ctx context.Context, try int) bool {
	return clock.Pause(ctx, rand.N(min(firstPause<<try, longestPause)))
}
