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
	mu    sync.Mutex
	read  map[string]int64
	heads map[string]int64 // as of the last Look

	looked   beacon.Minute // when the last Look began
	followed beacon.Minute // the same, for the last Look whose heads were all reached
}

// caughtUp records that everything present at the last Look is applied.
func (p *cursors) caughtUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followed = p.looked
}

// upTo returns the minute up to which all journals are applied.
func (p *cursors) upTo() beacon.Minute {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.followed
}

// reached records that a node's journal is applied up to a row.
func (p *cursors) reached(node string, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read[node] = max(p.read[node], seq)
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

func (p *cursors) of(node string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read[node]
}

func (p *cursors) all() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.read)
}

// rowsAtATime bounds the memory that Follow uses: a batch has up to some 100 KB.
const rowsAtATime = 64

// Look reads how long the journals of all nodes are; see fleet.Companion.
func (t *Telemetry) Look(ctx context.Context) error {
	began := beacon.MinuteOf(t.Now())
	heads, err := t.Store.JournalHeads(ctx)
	if err != nil {
		return err
	}
	t.cursors.heads, t.cursors.looked = heads, began
	return nil
}

// Follow applies what other nodes wrote to their journals before the last Look, and
// what we wrote ourselves without learning the outcome. Known beats change nothing, so
// it does not matter that the writer may apply some at the same moment.
func (t *Telemetry) Follow(ctx context.Context) error {
	for node, head := range t.cursors.heads {
		for t.cursors.of(node) < head {
			if err := t.advance(ctx, node); err != nil {
				return err
			}
		}
	}
	t.cursors.caughtUp()
	return nil
}

// advance applies the next rows of one node's journal.
func (t *Telemetry) advance(ctx context.Context, node string) error {
	place := t.cursors.of(node)
	rows, err := t.Store.Journal(ctx, node, place, rowsAtATime)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		// Folded and trimmed since the last Look: what it held is in the records.
		t.suspicions.raise()
		t.cursors.reached(node, t.cursors.heads[node])
		return nil
	}
	if place > 0 && rows[0].Seq > place+1 {
		t.suspicions.raise() // we were away for so long that some were folded and trimmed
	}
	var beats []heartbeat.Beat
	for _, row := range rows {
		beats = beats[:0]
		if err := heartbeat.EachBeat(row.Batch, func(b *heartbeat.Beat) { beats = append(beats, *b) }); err != nil {
			t.Log.Error("a journal row cannot be read and was skipped", "node", node, "row", row.Seq, "err", err)
			continue
		}
		t.noteLate(node, beats)
		t.Fleet.Replay(beats)
	}
	t.cursors.reached(node, rows[len(rows)-1].Seq)
	return nil
}
