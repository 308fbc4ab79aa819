package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

const (
	// gatherFor is the minimum time between two commits. A crowd of devices then shares
	// one disk sync. Each waits a few milliseconds, which a device that beats once a
	// minute does not notice.
	gatherFor = 5 * time.Millisecond

	// maxGathered bounds the memory for beats that wait while the database is slow:
	// some 3 MB for each of two batches. Further devices are asked to retry.
	maxGathered = 32_768
)

// appendTimeout is how long a beat may wait for the database.
const appendTimeout = 5 * time.Second

// batcher collects beats into batches. It is safe for concurrent use.
type batcher struct {
	// hangTimeout is for a database that does not notice deadlines, such as one on a disk
	// that hangs. Devices wait longer: the agent for 20 s.
	timeout, hangTimeout time.Duration

	mu     sync.Mutex
	open   *batch
	closed bool
	wake   chan struct{} // has a token when there is something to write
}

// batch is a group of beats that become durable together.
type batch struct {
	beats    []heartbeat.Beat
	hotspots []*fleet.Hotspot // the hotspot of each beat
	began    time.Time
	expiry   *time.Timer

	end  sync.Once
	done chan struct{} // closed when err is known
	err  error
}

func newBatcher(timeout time.Duration) *batcher {
	return &batcher{timeout: timeout, hangTimeout: 3 * timeout, open: &batch{done: make(chan struct{})}, wake: make(chan struct{}, 1)}
}

// finish gives everyone who waits for the batch its outcome, once.
func (b *batch) finish(err error) {
	b.end.Do(func() {
		b.err = err
		close(b.done)
	})
}

// take adds a beat to the open batch and waits until it is durable. It does not watch a
// context: the expiry of the batch bounds the wait, even if the disk hangs, and to wait
// for one of two things costs a heartbeat 2 % more.
func (g *batcher) take(hotspot *fleet.Hotspot, beat heartbeat.Beat) error {
	b, err := g.add(hotspot, beat)
	if err != nil {
		return err
	}
	<-b.done
	return b.err
}

func (g *batcher) add(hotspot *fleet.Hotspot, beat heartbeat.Beat) (*batch, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, overloaded("the service is stopping; try again", nil)
	}
	if len(g.open.beats) >= maxGathered {
		return nil, overloaded("too many beats are waiting; try again", nil)
	}
	g.open.beats, g.open.hotspots = append(g.open.beats, beat), append(g.open.hotspots, hotspot)
	if len(g.open.beats) == 1 {
		b := g.open
		b.began = time.Now()
		b.expiry = time.AfterFunc(g.hangTimeout, func() { b.finish(overloaded("the beat is taking too long to store; try again", nil)) })
		g.wake <- struct{}{} // never blocks: the token of the previous batch is gone
	}
	return g.open, nil
}

// next returns the open batch and opens another, in the memory of one that is over.
func (g *batcher) next(over *batch) *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.open
	clear(over.hotspots) // some may be deleted soon
	g.open = &batch{beats: over.beats[:0], hotspots: over.hotspots[:0], done: make(chan struct{})}
	return b
}

// close refuses beats from now on.
func (g *batcher) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Waiting returns how many beats wait to be written.
func (t *Telemetry) Waiting() int {
	t.batcher.mu.Lock()
	defer t.batcher.mu.Unlock()
	return len(t.batcher.open.beats)
}

// write makes one batch after another durable until ctx ends, and then what is left.
func (t *Telemetry) write(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	b := &batch{}
	var data []byte
	for {
		select {
		case <-t.batcher.wake:
		case <-ctx.Done():
			t.batcher.close()
			select {
			case <-t.batcher.wake:
				t.commit(context.WithoutCancel(ctx), t.batcher.next(b), data[:0])
			default:
			}
			return
		}
		<-pause.C
		pause.Reset(gatherFor)
		b = t.batcher.next(b)
		data = t.commit(context.WithoutCancel(ctx), b, data[:0])
	}
}

// commit writes a batch, applies it, and unblocks everyone waiting for it.
func (t *Telemetry) commit(ctx context.Context, b *batch, data []byte) []byte {
	defer b.expiry.Stop()
	ctx, cancel := context.WithDeadline(ctx, b.began.Add(t.batcher.timeout))
	defer cancel()
	data = heartbeat.AppendBatch(data, b.beats)
	seq, err := t.Journal.AppendBeats(ctx, data)
	if err != nil {
		// Whether it was written may be unknown. If it was, Follow finds it in our own
		// journal; the devices repeat their beats in any case.
		b.finish(overloaded("the beat could not be stored; try again", err))
		return data
	}
	t.apply(b)
	t.cursors.wrote(t.Journal.Node(), seq)
	b.finish(nil)
	return data
}

// apply applies a durable batch.
func (t *Telemetry) apply(b *batch) {
	for i, hotspot := range b.hotspots {
		t.Fleet.Beat(hotspot, &b.beats[i])
	}
}
