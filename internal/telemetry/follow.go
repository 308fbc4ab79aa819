package telemetry

import (
	"context"
	"maps"
	"sync"

	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// places is how far the journal of each node was taken over.
type places struct {
	mu    sync.Mutex
	read  map[string]int64
	heads map[string]int64 // as of the last Look

	looked   heartbeat.Minute // when the last Look began
	followed heartbeat.Minute // and the last one whose heads were all reached
}

// caughtUp notes that everything is taken over that was there at the last Look.
func (p *places) caughtUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followed = p.looked
}

// upTo is the minute in which everything that was there is taken over.
func (p *places) upTo() heartbeat.Minute {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.followed
}

// reached notes that a node's journal was taken over up to a row.
func (p *places) reached(node string, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read[node] = max(p.read[node], seq)
}

// wrote notes a row of our own that was taken over. If the outcome of the one
// before it is unknown, the place stays where it is: following finds out.
func (p *places) wrote(node string, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seq == p.read[node]+1 {
		p.read[node] = seq
	}
}

func (p *places) of(node string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read[node]
}

func (p *places) all() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.read)
}

// rowsAtATime bounds the memory for following: a batch has up to some 100 KB.
const rowsAtATime = 64

// Look sees how long the journals of all nodes are; see fleet.Companion.
func (t *Telemetry) Look(ctx context.Context) error {
	began := heartbeat.MinuteOf(t.Now())
	heads, err := t.Store.JournalHeads(ctx)
	if err != nil {
		return err
	}
	t.places.heads, t.places.looked = heads, began
	return nil
}

// Follow takes over what others wrote into their journals before the last Look,
// and what we wrote ourselves and never heard back about. Beats that are known
// already change nothing, so it does not matter that the writer may take some
// over at this moment.
func (t *Telemetry) Follow(ctx context.Context) error {
	for node, head := range t.places.heads {
		for t.places.of(node) < head {
			if err := t.advance(ctx, node); err != nil {
				return err
			}
		}
	}
	t.places.caughtUp()
	return nil
}

// advance takes over the next rows of one node's journal.
func (t *Telemetry) advance(ctx context.Context, node string) error {
	place := t.places.of(node)
	rows, err := t.Store.Journal(ctx, node, place, rowsAtATime)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		// Folded and trimmed since we looked: what it held is in the records.
		t.suspicions.raise()
		t.places.reached(node, t.places.heads[node])
		return nil
	}
	if place > 0 && rows[0].Seq > place+1 {
		t.suspicions.raise() // we were away for so long that some were folded and trimmed
	}
	var beats []heartbeat.Beat
	for _, row := range rows {
		beats = beats[:0]
		if err := heartbeat.EachBeat(row.Batch, func(b *heartbeat.Beat) { beats = append(beats, *b) }); err != nil {
			t.Log.Error("a row of the journal cannot be read, and is passed over", "node", node, "row", row.Seq, "err", err)
			continue
		}
		t.noteLate(node, beats)
		t.arrivals.add(t.Fleet.Beats(beats))
	}
	t.places.reached(node, rows[len(rows)-1].Seq)
	return nil
}
