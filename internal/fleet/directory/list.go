package directory

import (
	"sort"
	"strings"
)

// Query asks for a page of a list.
type Query[T Item] struct {
	Kinds  Set
	Text   string       // only items whose text contains this; empty: any
	Keep   func(T) bool // only items for which it returns true; nil: all
	Newest bool         // highest id first
	Offset int
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

// Looks returns how many items List will examine, besides those on the page.
func (s *Snapshot[T]) Looks(q Query[T]) (items int) {
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

// each yields the items of a block that match a query, in the query's order.
func (b *block[T]) each(q *Query[T], yield func(T)) {
	var room [blockSize]uint16
	found := b.find(q.Text, room[:0])
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
