// Package directory is an index of items in the order of their ids, in memory, with a
// text by which each is found: it answers which items are on a page of a list,
// and how many there are in all. It keeps nothing on disk, and knows neither what the
// items are nor how their texts were made alike.
//
// Its invariant: a Snapshot never changes, and what it answers depends on the
// items in it alone, not on the order in which they came.
//
// Inside is a row of blocks of some hundred items each. A block has the texts of
// its items one behind the other, so that a search runs over memory that lies
// together, and a signature of them, so that most searches pass over most blocks.
// It knows how many items of each kind it has, so that a list without a search is a
// matter of counting. A change copies the blocks that it touches, and the row.
package directory

import (
	"slices"
	"sort"
	"strings"
	"sync"
)

// Item is what a roll holds: something that never changes. A change is another
// item with the same ID.
type Item interface {
	ID() string
}

// Entry is an item and what it is found by.
type Entry[T Item] struct {
	Item T
	Text string // what is searched; without a zero byte
	Kind Kind
}

// Kind is one of a few sorts of items, below Kinds.
type Kind uint8

// Kinds is how many sorts there may be.
const Kinds = 4

// Roll holds the latest snapshot, and makes the next when someone asks: many
// changes together cost little more than one. It is safe for concurrent use. Use
// New.
type Roll[T Item] struct {
	mu      sync.Mutex
	latest  *Snapshot[T]
	waiting []edit[T] // what is not in it, in the order in which it came
}

// Snapshot is the roll at one moment.
type Snapshot[T Item] struct {
	blocks []*block[T]
}

// mostWaiting bounds what waits while nobody asks, and what who asks waits for.
const mostWaiting = 4096

// New returns an empty roll.
func New[T Item]() *Roll[T] { return &Roll[T]{latest: &Snapshot[T]{}} }

// Snapshot gives the roll as it is now.
func (r *Roll[T]) Snapshot() *Snapshot[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	return r.latest
}

// Apply removes the items with the deleted ids, then puts the entries in the place
// of any with the same ID, all of it at once. Deleting what is not there changes
// nothing. Of two entries with one ID, the last counts.
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

// settle makes the next snapshot, if something has changed.
func (r *Roll[T]) settle() {
	if len(r.waiting) == 0 {
		return
	}
	slices.SortStableFunc(r.waiting, func(a, b edit[T]) int { return strings.Compare(a.id, b.id) })
	r.latest = r.latest.with(lastOfEach(r.waiting))
	r.waiting = nil
}

// edit is what is to become of an id.
type edit[T Item] struct {
	id      string
	entry   Entry[T]
	deletes bool
}

// lastOfEach keeps, of edits with the same id, the last.
func lastOfEach[T Item](edits []edit[T]) []edit[T] {
	kept := edits[:0]
	for i, e := range edits {
		if i+1 == len(edits) || edits[i+1].id != e.id {
			kept = append(kept, e)
		}
	}
	return kept
}

// with gives the snapshot that some edits, in the order of their ids, lead to.
func (s *Snapshot[T]) with(edits []edit[T]) *Snapshot[T] {
	rest := s.blocks
	next := make([]*block[T], 0, len(rest)+len(edits)/blockSize+1)
	for len(edits) > 0 {
		// The block of an id is the last that begins with it or before, or the first.
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
