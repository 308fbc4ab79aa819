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
//
// All of this is for a million items: the last page takes 0.03 ms, and a search for a
// name that nobody has 0.1 ms, where a loop over a sorted slice takes 150 ms. A B-tree
// from a library would do the pages, but not the counts by kind or the search.
package directory

import (
	"slices"
	"sort"
	"strings"
	"sync"
)

// Item is what a Directory holds. It is immutable: a change is another item with the
// same ID.
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

// Directory holds the latest snapshot, and makes the next on demand: many changes together
// cost little more than one. It is safe for concurrent use. Use New.
type Directory[T Item] struct {
	mu      sync.Mutex
	latest  *Snapshot[T]
	waiting []edit[T] // changes that are not in it, in order of arrival
}

// Snapshot is a Directory at one moment.
type Snapshot[T Item] struct {
	blocks []*block[T]
}

// mostWaiting bounds how many changes wait while nothing is read, and so how long a
// read waits for them.
const mostWaiting = 4096

// New returns an empty directory.
func New[T Item]() *Directory[T] { return &Directory[T]{latest: &Snapshot[T]{}} }

// Snapshot returns the directory as it is now.
func (d *Directory[T]) Snapshot() *Snapshot[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.publish()
	return d.latest
}

// Apply removes the items with the deleted ids, then puts the entries, replacing any
// with the same ID, all at once. Deleting what is not there changes nothing. Of two
// entries with one ID, the last counts.
func (d *Directory[T]) Apply(puts []Entry[T], deletes []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.Grow(d.waiting, len(puts)+len(deletes))
	for _, id := range deletes {
		d.waiting = append(d.waiting, edit[T]{id: id, deletes: true})
	}
	for _, e := range puts {
		d.waiting = append(d.waiting, edit[T]{id: e.Item.ID(), entry: e})
	}
	if len(d.waiting) >= mostWaiting {
		d.publish()
	}
}

// publish makes the next snapshot if anything has changed.
func (d *Directory[T]) publish() {
	if len(d.waiting) == 0 {
		return
	}
	slices.SortStableFunc(d.waiting, func(a, b edit[T]) int { return strings.Compare(a.id, b.id) })
	d.latest = d.latest.with(lastOfEach(d.waiting))
	d.waiting = nil
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

// Query asks for a page of a list.
type Query[T Item] struct {
	Kinds  Set
	Text   string       // only items whose text contains this; empty: any
	Keep   func(T) bool // only items for which it returns true; nil: all
	Newest bool         // highest id first
	After  string       // the page begins after this id; empty: at the start
	Offset int          // of the page; with After it must be 0
	Limit  int
}

// Set is a set of kinds.
type Set uint8

// SetOf returns the set of some kinds.
func SetOf(kinds ...Kind) (s Set) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// All contains every kind.
const All Set = 1<<Kinds - 1

func (s Set) has(k Kind) bool { return s&(1<<k) != 0 }

// of returns how many items of the set there are, given the counts by kind.
func (s Set) of(counts *[Kinds]int) (n int) {
	for k, count := range counts {
		if s.has(Kind(k)) {
			n += count
		}
	}
	return n
}

// counted reports whether counts alone suffice for the query: items that are not on
// the page need not be examined.
func (q *Query[T]) counted() bool { return q.Text == "" && q.Keep == nil }

// Get returns the entry of an item.
func (s *Snapshot[T]) Get(id string) (e Entry[T], ok bool) {
	at := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > id }) - 1
	if at < 0 {
		return e, false
	}
	b := s.blocks[at]
	i := sort.Search(len(b.items), func(i int) bool { return b.items[i].ID() >= id })
	if i == len(b.items) || b.items[i].ID() != id {
		return e, false
	}
	return b.entry(i), true
}

// Of returns a snapshot of the items with these ids, which must be in order. An id
// that it does not have is left out.
func (s *Snapshot[T]) Of(ids []string) *Snapshot[T] {
	entries := make([]Entry[T], 0, len(ids))
	for _, id := range ids {
		if e, ok := s.Get(id); ok {
			entries = append(entries, e)
		}
	}
	return &Snapshot[T]{blocks: cut(entries)}
}

// Scans returns how many items List will examine, besides those on the page.
func (s *Snapshot[T]) Scans(q Query[T]) (items int) {
	if q.counted() {
		return 0
	}
	for _, b := range s.blocks {
		if q.Kinds.of(&b.counts) > 0 && b.signs.mayHave(q.Text) {
			items += len(b.items)
		}
	}
	return items
}

// List appends a page to out, and returns it with the number of items on all pages.
func (s *Snapshot[T]) List(q Query[T], out []T) (page []T, total int) {
	if q.After != "" {
		return s.listAfter(q, out)
	}
	for i := range s.blocks {
		b := s.blocks[i]
		if q.Newest {
			b = s.blocks[len(s.blocks)-1-i]
		}
		count := q.Kinds.of(&b.counts)
		elsewhere := total+count <= q.Offset || total-q.Offset >= q.Limit
		if count == 0 || elsewhere && q.counted() {
			total += count
			continue
		}
		b.each(&q, func(item T) {
			if total >= q.Offset && total-q.Offset < q.Limit {
				out = append(out, item)
			}
			total++
		})
	}
	return out, total
}

// listAfter is List for a page that begins after an id.
func (s *Snapshot[T]) listAfter(q Query[T], out []T) (page []T, total int) {
	room := len(out) + q.Limit
	for i := range s.blocks {
		at := i
		if q.Newest {
			at = len(s.blocks) - 1 - i
		}
		b := s.blocks[at]
		before := at+1 < len(s.blocks) && s.blocks[at+1].first <= q.After
		if q.Newest {
			before = b.first >= q.After
		}
		if (before || len(out) >= room) && q.counted() {
			total += q.Kinds.of(&b.counts)
			continue
		}
		b.each(&q, func(item T) {
			if len(out) < room && item.ID() != q.After && (item.ID() < q.After) == q.Newest {
				out = append(out, item)
			}
			total++
		})
	}
	return out, total
}

// each yields the items of a block that match a query, in the query's order.
func (b *block[T]) each(q *Query[T], yield func(T)) {
	var buffer [blockSize]uint16
	found := b.find(q.Text, buffer[:0])
	for n := range found {
		if q.Newest {
			n = len(found) - 1 - n
		}
		i := found[n]
		if q.Kinds.has(b.kinds[i]) && (q.Keep == nil || q.Keep(b.items[i])) {
			yield(b.items[i])
		}
	}
}

// find appends the positions of the items whose text contains the given one.
func (b *block[T]) find(text string, out []uint16) []uint16 {
	if text == "" {
		for i := range b.items {
			out = append(out, uint16(i))
		}
		return out
	}
	if !b.signs.mayHave(text) {
		return out
	}
	for i, from := 0, 0; i < len(b.items); from = int(b.ends[i-1]) {
		at := strings.Index(b.texts[from:], text)
		if at < 0 {
			break
		}
		at += from
		i += sort.Search(len(b.items)-i, func(n int) bool { return at < int(b.ends[i+n]) })
		out = append(out, uint16(i))
		i++
	}
	return out
}
