package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
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
	// some 4 MB. Further devices are asked to retry.
	maxGathered = 32_768
)

var appendTimeout = 5 * time.Second // tests have more

// batcher collects beats into batches. It is safe for concurrent use.
type batcher struct {
	mu     sync.Mutex
	open   *batch
	closed bool
	wake   chan struct{} // has a token when there is something to write

	waiting atomic.Int64
}

// batch is a group of beats that become durable together.
type batch struct {
	beats    []heartbeat.Beat
	hotspots []*fleet.Hotspot // the hotspot of each beat
	done     chan struct{}    // closed when err is known
	began    time.Time
	err      error
}

func newBatch(room int) *batch {
	return &batch{beats: make([]heartbeat.Beat, 0, room), hotspots: make([]*fleet.Hotspot, 0, room), done: make(chan struct{})}
}

func newBatcher() *batcher {
	return &batcher{open: newBatch(64), wake: make(chan struct{}, 1)}
}

// take adds a beat to the open batch and waits until it is durable.
func (g *batcher) take(ctx context.Context, hotspot *fleet.Hotspot, beat heartbeat.Beat) error {
	b, err := g.add(hotspot, beat)
	if err != nil {
		return err
	}
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return overloaded("the beat is taking too long to store; try again", context.Cause(ctx))
	}
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
		g.open.began = time.Now()
		g.wake <- struct{}{} // never blocks: the token of the previous batch is gone
	}
	g.waiting.Add(1)
	return g.open, nil
}

// next returns the open batch and opens another.
func (g *batcher) next() *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.open
	g.open = newBatch(len(b.beats) + len(b.beats)/4 + 16)
	g.waiting.Add(-int64(len(b.beats)))
	return b
}

// close refuses beats from now on.
func (g *batcher) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Waiting returns how many beats wait to be written.
func (t *Telemetry) Waiting() int { return int(t.batcher.waiting.Load()) }

// write makes one batch after another durable until ctx ends, and then what is left.
func (t *Telemetry) write(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	var data []byte
	for {
		select {
		case <-t.batcher.wake:
		case <-ctx.Done():
			t.batcher.close()
			select {
			case <-t.batcher.wake:
				t.commit(context.WithoutCancel(ctx), t.batcher.next(), data[:0])
			default:
			}
			return
		}
		<-pause.C
		pause.Reset(gatherFor)
		data = t.commit(context.WithoutCancel(ctx), t.batcher.next(), data[:0])
	}
}

// commit writes a batch, applies it, and unblocks everyone waiting for it.
func (t *Telemetry) commit(ctx context.Context, b *batch, data []byte) []byte {
	ctx, cancel := context.WithDeadline(ctx, b.began.Add(appendTimeout))
	defer cancel()
	data = heartbeat.AppendBatch(data, b.beats)
	seq, err := t.Store.AppendBeats(ctx, data)
	if err != nil {
		// Whether it was written may be unknown. If it was, Follow finds it in our own
		// journal; the devices repeat their beats in any case.
		b.err = overloaded("the beat could not be stored; try again", err)
	} else {
		t.apply(b)
		t.cursors.wrote(t.Store.Node(), seq)
	}
	close(b.done)
	return data
}

// apply applies a durable batch.
func (t *Telemetry) apply(b *batch) {
	for i, hotspot := range b.hotspots {
		t.Fleet.Beat(hotspot, &b.beats[i])
	}
}
