package spatial

import (
	"hash/maphash"
	"iter"
)

// table finds items by ID. An item knows its own ID, so a slot is little more than
// the item: a third of the memory of a map with string keys. It has many small parts,
// so that growing never stops the writer for long. It is not part of a snapshot: the
// writers' mutex guards it.
type table[T Item] struct {
	seed  maphash.Seed
	parts [256]part[T]
}

// part is a hash table with open addressing and linear probing.
type part[T Item] struct {
	slots  []T     // length is a power of two, at most three quarters in use
	prints []uint8 // seven bits of each hash, to skip other items without reading them; 0: free
	used   int
}

const smallestPart = 4

func newTable[T Item]() table[T] { return table[T]{seed: maphash.MakeSeed()} }

// find returns the part for an ID, and in it the slot of the item or else the free
// one for it, which holds the zero T.
func (t *table[T]) find(id string) (p *part[T], slot int) {
	return t.findHash(maphash.String(t.seed, id), id)
}

func (t *table[T]) findHash(hash uint64, id string) (p *part[T], slot int) {
	p = &t.parts[hash>>56]
	if len(p.slots) == 0 {
		t.resize(p, smallestPart)
	}
	return p, p.probe(hash, id)
}

func printOf(hash uint64) uint8 { return uint8(hash>>48) | 1 }

func (p *part[T]) probe(hash uint64, id string) int {
	mask := len(p.slots) - 1
	slot := int(hash) & mask
	for p.prints[slot] != 0 && (p.prints[slot] != printOf(hash) || p.slots[slot].ID() != id) {
		slot = (slot + 1) & mask
	}
	return slot
}

// put stores an item and returns the one with its ID that it replaces.
func (t *table[T]) put(item T) (old T, replaced bool) {
	hash := maphash.String(t.seed, item.ID())
	p, slot := t.findHash(hash, item.ID())
	old, replaced = p.slots[slot], p.prints[slot] != 0
	p.slots[slot], p.prints[slot] = item, printOf(hash)
	if replaced {
		return old, true
	}
	if p.used++; p.used > len(p.slots)/4*3 {
		t.resize(p, 2*len(p.slots))
	}
	return old, false
}

func (t *table[T]) remove(id string) (old T, found bool) {
	p, slot := t.find(id)
	if p.prints[slot] == 0 {
		return old, false
	}
	old = p.slots[slot]
	p.used--
	p.clear(slot)
	// Items that follow without a gap may have been pushed past their own slots by
	// the removed one, so they are stored again.
	mask := len(p.slots) - 1
	for next := (slot + 1) & mask; p.prints[next] != 0; next = (next + 1) & mask {
		moved := p.slots[next]
		p.clear(next)
		t.store(p, moved)
	}
	return old, true
}

func (p *part[T]) clear(slot int) {
	var none T
	p.slots[slot], p.prints[slot] = none, 0
}

// store puts an item into its part, which has room and no item with its ID.
func (t *table[T]) store(p *part[T], item T) {
	hash := maphash.String(t.seed, item.ID())
	slot := p.probe(hash, item.ID())
	p.slots[slot], p.prints[slot] = item, printOf(hash)
}

// reserve makes room for more items, assuming that each part gets an equal share.
func (t *table[T]) reserve(more int) {
	each := more / len(t.parts)
	for i := range t.parts {
		p := &t.parts[i]
		size := max(smallestPart, len(p.slots))
		for size/4*3 < p.used+each {
			size *= 2
		}
		if size > len(p.slots) {
			t.resize(p, size)
		}
	}
}

func (t *table[T]) resize(p *part[T], size int) {
	old := *p
	p.slots, p.prints = make([]T, size), make([]uint8, size)
	for i, item := range old.slots {
		if old.prints[i] != 0 {
			t.store(p, item)
		}
	}
}

func (t *table[T]) len() int {
	count := 0
	for i := range t.parts {
		count += t.parts[i].used
	}
	return count
}

func (t *table[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range t.parts {
			p := &t.parts[i]
			for slot, item := range p.slots {
				if p.prints[slot] != 0 && !yield(item) {
					return
				}
			}
		}
	}
}
