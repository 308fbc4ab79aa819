package spatial

import "fmt"

// Check is for the tests: it tells what is wrong with the tree, if anything.
func (s *Snapshot[T]) Check() error { return s.root.check(true) }

// Depth is the largest number of forks above a leaf.
func (s *Snapshot[T]) Depth() int { return s.root.depth() }

// MaxDepth is what Depth may be with so many items that were only added.
func MaxDepth(count int) int { return maxDepth(count) + 1 }

func (b *branch[T]) depth() int {
	if b.fork == nil {
		return 0
	}
	return 1 + max(b.fork.kids[0].depth(), b.fork.kids[1].depth())
}

func (b *branch[T]) check(isRoot bool) error {
	entries := b.appendEntries(nil)
	var tags Tags
	for _, e := range entries {
		tags |= e.item.Tags()
		if e.at != e.item.Place().Vec() {
			return fmt.Errorf("%s is kept at another place", e.item.ID())
		}
	}
	f := b.fork
	switch {
	case int(b.count) != len(entries) || b.tags != tags:
		return fmt.Errorf("a branch says %d items, tags %b; it has %d, tags %b", b.count, b.tags, len(entries), tags)
	case f == nil && (len(b.leaf) > leafSize || (len(b.leaf) == 0 && !isRoot)):
		return fmt.Errorf("a leaf has %d items", len(b.leaf))
	case f == nil:
		return nil
	case b.leaf != nil || b.count <= collapseAt:
		return fmt.Errorf("a fork of %d items should be a leaf", b.count)
	case f.onePlace && !areAtOnePlace(entries):
		return fmt.Errorf("a fork says that all is at one place")
	}
	for side := range f.kids {
		for _, e := range f.kids[side].appendEntries(nil) {
			if f.side(e.at, e.item.ID()) != side {
				return fmt.Errorf("%s is on the wrong side of a fork", e.item.ID())
			}
		}
		if err := f.kids[side].check(false); err != nil {
			return err
		}
	}
	return nil
}

// TableLen is how many items the index finds by ID.
func (ix *Index[T]) TableLen() int { return ix.items.len() }
