package store

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const headsSQL = `SELECT node, (SELECT coalesce(max(seq), 0) FROM changes WHERE changes.node = nodes.node)
		FROM nodes`

// Heads returns the number of the newest change of every node that ever wrote. A caller
// that reads the heads, then the hotspots, and then follows Changes from these heads on
// misses nothing: of a hotspot seen twice, the higher version wins.
//
// Streams only grow. If one is shorter than before, the DB is Broken.
func (db ChangeTable) Heads(ctx context.Context) (map[string]int64, error) {
	before := db.seen.heads()
	now, err := readMap[string, int64](ctx, db, same, headsSQL)
	if err != nil {
		return nil, err
	}
	for node, was := range before {
		if is := now[node]; is < was {
			err := wentBack(node, was, is)
			db.engine.broke(err)
			return nil, beacon.Unavailable(err)
		}
	}
	db.seen.note(now)
	return now, nil
}

// seen is the greatest known length of each change stream.
type seen struct {
	mu   sync.Mutex
	most map[string]int64
}

func (s *seen) heads() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.most)
}

func (s *seen) note(heads map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for node, head := range heads {
		s.most[node] = max(s.most[node], head)
	}
}

const changesSQL = `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq > $2 ORDER BY seq LIMIT $3`

// Changes returns up to limit changes of a node after a number, in order and without
// gaps.
func (db ChangeTable) Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error) {
	return list(ctx, db, changeRow, changesSQL, node, after, max(limit, 0))
}

func changeRow(c *beacon.Change) []any {
	return []any{
		&c.Node, &c.Seq, (*string)(&c.Kind), &c.Target, &c.Version,
		(*string)(&c.Actor.Key), (*string)(&c.Actor.User), &c.Actor.Request, moment(&c.At), &c.Actor.Note, (*string)(&c.Actor.Person),
	}
}

const latestSQL = `SELECT node, coalesce((SELECT at FROM changes WHERE changes.node = nodes.node ORDER BY seq DESC LIMIT 1), 0)
		FROM nodes`

func sealedChangeRow(c *beacon.Change) []any {
	return append(changeRow(c), sealOf(func() *content { return changeContent(c) }))
}

// Audit returns the changes of all nodes, newest first (decision X10). Changes of one
// node are in the order they were made; those of different nodes are ordered by time.
// Before is the last change of the previous page, or zero for the first page. No change
// is ever left out; if the times of a node go backwards, one may be on two pages.
func (db ChangeTable) Audit(ctx context.Context, before beacon.Change, limit int) ([]beacon.Change, error) {
	all, err := list(ctx, db, func(s *stream) []any { return []any{&s.node, &s.next} }, latestSQL)
	if err != nil {
		return nil, err
	}
	streams := make([]*stream, len(all))
	for i := range all {
		streams[i] = &all[i]
	}
	var page []beacon.Change
	for len(page) < limit && len(streams) > 0 {
		// Take the stream whose next change is the newest. A stream not read yet is
		// represented by the time of its last change, and is read when its turn comes.
		s := slices.MaxFunc(streams, func(a, b *stream) int {
			return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.node, b.node))
		})
		if !s.read {
			err = s.rewind(ctx, db.core, before)
		} else {
			page = append(page, s.buffer[0])
			err = s.step(ctx, db.core)
		}
		if err != nil {
			return nil, err
		}
		if s.ended {
			streams = slices.DeleteFunc(streams, func(other *stream) bool { return other == s })
		}
	}
	return page, nil
}

// stream is the changes of one node, read backwards.
type stream struct {
	node   string
	next   int64 // the time of its next change
	read   bool
	ended  bool
	buffer []beacon.Change // the next changes
}

// rewind finds the first change of the stream that belongs to the page: one that
// follows before in its own stream, or is not newer than it.
func (s *stream) rewind(ctx context.Context, db *core, before beacon.Change) error {
	s.read = true
	s.buffer = []beacon.Change{{Seq: math.MaxInt64}} // after the last
	if before.Node == s.node {
		s.buffer[0].Seq = before.Seq
	}
	for {
		if err := s.step(ctx, db); err != nil || s.ended {
			return err
		}
		at := micros(before.At)
		if before.Seq == 0 || before.Node == s.node || s.next < at || s.next == at && s.node < before.Node {
			return nil
		}
	}
}

// auditRead is how many changes of a stream are read at once.
const auditRead = 100

const changesBeforeSQL = `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`

// step moves to the previous change.
func (s *stream) step(ctx context.Context, db *core) (err error) {
	seq := s.buffer[0].Seq
	s.buffer = s.buffer[1:]
	if len(s.buffer) == 0 {
		s.buffer, err = list(ctx, db, changeRow, changesBeforeSQL, s.node, seq, auditRead)
	}
	if len(s.buffer) == 0 {
		s.ended = true
		return err
	}
	s.next = micros(s.buffer[0].At)
	return nil
}
