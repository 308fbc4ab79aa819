package store

import (
	"context"
	"maps"
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Heads returns the number of the newest change of every node that ever wrote. A caller
// that reads the heads, then the hotspots, and then follows Changes from these heads on
// misses nothing: of a hotspot seen twice, the higher version wins.
//
// Streams only grow. If one is shorter than before, the DB is Broken.
func (db *DB) Heads(ctx context.Context) (map[string]int64, error) {
	before := db.seen.heads()
	now, err := db.numbersByNode(ctx, sqlText.heads)
	if err != nil {
		return nil, err
	}
	for node, was := range before {
		if is := now[node]; is < was {
			err := wentBack(node, was, is)
			db.engine.broke(err)
			return nil, unavailable(err)
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

// numbersByNode reads rows of a node and a number.
func (db *DB) numbersByNode(ctx context.Context, text string) (map[string]int64, error) {
	type numbered struct {
		node string
		seq  int64
	}
	all, err := query(ctx, db, func(scan func(...any) error) (n numbered, err error) {
		return n, scan(&n.node, &n.seq)
	}, text)
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]int64, len(all))
	for _, n := range all {
		numbers[n.node] = n.seq
	}
	return numbers, nil
}

// Changes returns up to limit changes of a node after a number, in order and without
// gaps.
func (db *DB) Changes(ctx context.Context, node string, after int64, limit int) ([]beacon.Change, error) {
	return query(ctx, db, scanChange, sqlText.changes, node, after, max(limit, 0))
}

func scanChange(scan func(...any) error) (c beacon.Change, err error) {
	var at int64
	err = scan(&c.Node, &c.Seq, &c.Kind, &c.Target, &c.Version, &c.Actor.Key, &c.Actor.User, &c.Actor.Request, &at, &c.Actor.Note)
	c.At = fromMicros(at)
	return c, err
}
