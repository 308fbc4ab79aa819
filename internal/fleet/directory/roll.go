// Package directory is an in-memory index of items in the order of their ids,
// searchable by text: it lists items by page, and counts them. It keeps nothing on
// disk, and knows neither what the items are nor how their texts were normalized.
//
// Its invariant: a Snapshot never changes, and what it returns depends only on the
// items in it, not on the order in which they came.
//
// A snapshot is a list of blocks of some hundred items each. A block stores the texts
// of its items contiguously, so that a search scans memory in sequence, and a
// signature of them, so that most searches skip most blocks. It counts its items by
// kind, so that a list without a search only adds counts. A change copies the list
// and the blocks that it touches.
package directory

import (
	"slices"
	"sort"
	"strings"
	"sync"
)

// Item is what a Roll holds. It is immutable: a change is another item with the same
// ID.
type Item interface {
	ID() string
}

// Entry is an item with what it is found by.
type Entry[T Item] struct {
	Item T
	Text string // what is searched; contains no zero byte
	Kind Kind
}

// Kind is one of a few kinds of items. It is below Kinds.
type Kind uint8

// Kinds is how many kinds there may be.
const Kinds = 4

// Roll holds the latest snapshot, and makes the next on demand: many changes together
// cost little more than one. It is safe for concurrent use. Use New.
type Roll[T Item] struct {
	mu      sync.Mutex
	latest  *Snapshot[T]
	waiting []edit[T] // changes that are not in it, in order of arrival
}

// Snapshot is a Roll at one moment.
type Snapshot[T Item] struct {
	blocks []*block[T]
}

// mostWaiting bounds how many changes wait while nothing is read, and so how long a
// read waits for them.
const mostWaiting = 4096

// New returns an empty roll.
func New[T Item]() *Roll[T] { return &Roll[T]{latest: &Snapshot[T]{}} }

// Snapshot returns the roll as it is now.
func (r *Roll[T]) Snapshot() *Snapshot[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	return r.latest
}

// Apply removes the items with the deleted ids, then puts the entries, replacing any
// with the same ID, all at once. Deleting what is not there changes nothing. Of two
// entries with one ID, the last counts.
func (r *Roll[T]) Apply(puts []Entry[T], deletes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.Grow(r.waiting, len(puts)+len(deletes))
	for _, id := range deletes {
		r.waiting = append(r.waiting, edit[T]{id: id, deletes: true})
	}
	for _, e := range puts {
		r.waiting = append(r.waiting, edit[T]{id: e.Item.ID(), entry: e})
	}
	if len(r.waiting) >= mostWaiting {
		r.settle()
	}
}

// settle makes the next snapshot if anything has changed.
func (r *Roll[T]) settle() {
	if len(r.waiting) == 0 {
		return
	}
	slices.SortStableFunc(r.waiting, func(a, b edit[T]) int { return strings.Compare(a.id, b.id) })
	r.latest = r.latest.with(lastOfEach(r.waiting))
	r.waiting = nil
}

// edit is a pending change of one id.
type edit[T Item] struct {
	id      string
	entry   Entry[T]
	deletes bool
}

// lastOfEach keeps the last of the edits with the same id.
func lastOfEach[T Item](edits []edit[T]) []edit[T] {
	kept := edits[:0]
	for i, e := range edits {
		if i+1 == len(edits) || edits[i+1].id != e.id {
			kept = append(kept, e)
		}
	}
	return kept
}

// with returns the snapshot after some edits, which are in the order of their ids.
func (s *Snapshot[T]) with(edits []edit[T]) *Snapshot[T] {
	rest := s.blocks
	next := make([]*block[T], 0, len(rest)+len(edits)/blockSize+1)
	for len(edits) > 0 {
		// The block of an id is the last that begins at or before it, or else the
		// first.
		at := max(0, sort.Search(len(rest), func(i int) bool { return rest[i].first > edits[0].id })-1)
		next = append(next, rest[:at]...)
		var changed *block[T]
		if rest = rest[at:]; len(rest) > 0 {
			changed, rest = rest[0], rest[1:]
		}
		mine := edits
		if len(rest) > 0 {
			mine = edits[:sort.Search(len(edits), func(i int) bool { return edits[i].id >= rest[0].first })]
		}
		edits = edits[len(mine):]
		next = append(next, cut(changed.merge(mine))...)
	}
	return &Snapshot[T]{blocks: append(next, rest...)}
}
