package telemetry

import (
	"context"
	"maps"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// cursors is how far the journal of each node has been applied.
type cursors struct {
	mu       sync.Mutex
	read     map[string]int64
	followed beacon.Minute // up to when all journals are applied
	restarts int           // how often all that was forgotten
}

// Heads is how long the journals of all nodes were at a time.
type Heads struct {
	rows map[string]int64
	at   beacon.Minute // when they began to be read
}

// caughtUp records that everything is applied that was in the journals by a minute,
// since a restart.
func (p *cursors) caughtUp(at beacon.Minute, since int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.restarts == since {
		p.followed = at
	}
}

// reached records that a node's journal is applied up to a row, since a restart.
func (p *cursors) reached(node string, seq int64, since int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.restarts == since {
		p.read[node] = max(p.read[node], seq)
	}
}

// restart makes Follow read again all that is still in the journals.
func (p *cursors) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.read)
	p.followed = 0
	p.restarts++
}

// wrote records that a row of our own is applied. If the outcome of the row before it
// is unknown, the position stays where it is: Follow finds out.
func (p *cursors) wrote(node string, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seq == p.read[node]+1 {
		p.read[node] = seq
	}
}

func (p *cursors) of(node string) (seq int64, restarts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read[node], p.restarts
}

// all returns how far each journal is applied, and the minute up to which all are.
func (p *cursors) all() (read map[string]int64, followed beacon.Minute) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.read), p.followed
}

// rowsAtATime bounds the memory that Follow uses: a batch has up to some 100 KB.
const rowsAtATime = 64

// Heads returns how long the journals of all nodes are.
func (t *Telemetry) Heads(ctx context.Context) (Heads, error) {
	began := beacon.MinuteOf(t.Clock.Now())
	rows, err := t.Journal.JournalHeads(ctx)
	return Heads{rows, began}, err
}

// Follow applies what other nodes wrote to their journals, and what we wrote ourselves
// without learning the outcome, up to the given heads. The fleet must have every
// change made before. Known beats change nothing, so it does not matter that the writer
// may apply some at the same moment.
func (t *Telemetry) Follow(ctx context.Context, upTo Heads) error {
	_, began := t.cursors.of("")
	for node, head := range upTo.rows {
		for place, since := t.cursors.of(node); place < head; place, since = t.cursors.of(node) {
			if err := t.advance(ctx, node, place, head, since); err != nil {
				return err
			}
		}
	}
	t.cursors.caughtUp(upTo.at, began)
	return nil
}

// advance applies the next rows of one node's journal, which went up to head.
func (t *Telemetry) advance(ctx context.Context, node string, place, head int64, since int) error {
	rows, err := t.Journal.Journal(ctx, node, place, rowsAtATime)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		// Folded and trimmed since Heads: what it held is in the records.
		t.suspicions.raise()
		t.cursors.reached(node, head, since)
		return nil
	}
	if place > 0 && rows[0].Seq > place+1 {
		t.suspicions.raise() // we were away for so long that some were folded and trimmed
	}
	var beats []heartbeat.Beat
	for _, row := range rows {
		if beats, err = heartbeat.DecodeBatch(beats[:0], row.Batch); err != nil {
			t.Log.Error("a journal row cannot be read and was skipped", "node", node, "row", row.Seq, "err", err)
			continue
		}
		t.noteLate(node, beats)
		t.Fleet.Replay(beats)
	}
	t.cursors.reached(node, rows[len(rows)-1].Seq, since)
	return nil
}
