package directory

import (
	"slices"
	"sort"
	"strings"
)

const (
	// blockSize is the most items of a block. A change copies a block, and a list
	// reads the counts of each.
	blockSize = 512
	// separator ends each text of a block. No text contains it, so no match spans two
	// texts.
	separator = "\x00"
)

// block is a run of items of the directory. It never changes.
type block[T Item] struct {
	first  string // the id of its first item
	items  []T
	kinds  []Kind
	counts [Kinds]int
	texts  string   // each followed by its separator
	ends   []uint32 // where each text ends in texts, after its separator
	signs  signature
}

// entry returns an item as it was put in. Its text shares the block's memory.
func (b *block[T]) entry(i int) Entry[T] {
	return Entry[T]{Item: b.items[i], Text: b.texts[b.start(i) : int(b.ends[i])-len(separator)], Kind: b.kinds[i]}
}

// start returns where a text begins.
func (b *block[T]) start(i int) int {
	if i == 0 {
		return 0
	}
	return int(b.ends[i-1])
}

// merge returns the entries of a block after some edits, which are in the order of
// ids. A nil block has none.
func (b *block[T]) merge(edits []edit[T]) []Entry[T] {
	if b == nil {
		b = &block[T]{}
	}
	merged := make([]Entry[T], 0, len(b.items)+len(edits))
	done := 0
	for _, e := range edits {
		at := done + sort.Search(len(b.items)-done, func(i int) bool { return b.items[done+i].ID() >= e.id })
		for ; done < at; done++ {
			merged = append(merged, b.entry(done))
		}
		if at < len(b.items) && b.items[at].ID() == e.id {
			done++
		}
		if !e.deletes {
			merged = append(merged, e.entry)
		}
	}
	for ; done < len(b.items); done++ {
		merged = append(merged, b.entry(done))
	}
	return merged
}

// cut divides entries into blocks, all of them full but the last: ids grow with time,
// so new ones come after all others, and the blocks before stay as they are. A block
// that lost most of its items is left alone: there are never more blocks than items.
func cut[T Item](entries []Entry[T]) []*block[T] {
	var blocks []*block[T]
	for some := range slices.Chunk(entries, blockSize) {
		blocks = append(blocks, newBlock(some))
	}
	return blocks
}

func newBlock[T Item](entries []Entry[T]) *block[T] {
	b := &block[T]{
		first: entries[0].Item.ID(),
		items: make([]T, len(entries)), kinds: make([]Kind, len(entries)), ends: make([]uint32, len(entries)),
	}
	length := 0
	for _, e := range entries {
		length += len(e.Text) + len(separator)
	}
	var texts strings.Builder
	texts.Grow(length)
	for i, e := range entries {
		texts.WriteString(e.Text)
		texts.WriteString(separator)
		b.items[i], b.kinds[i], b.ends[i] = e.Item, e.Kind, uint32(texts.Len())
		b.counts[e.Kind]++
	}
	b.texts = texts.String()
	b.signs.add(b.texts)
	return b
}

// signature records which sequences of three bytes occur in some texts. It may report
// one that does not occur, but never misses one that does. The names of a block have
// some thousands of them, so about one bit in five is set, and a word that is absent
// is hardly ever reported as present.
type signature [256]uint64

const gram = 3

// add records all sequences of a text.
func (s *signature) add(text string) {
	for i := range len(text) - gram + 1 {
		word, bit := place(text[i : i+gram])
		s[word] |= bit
	}
}

// mayHave reports whether the texts may contain text. It cannot tell for one of less
// than three bytes, and returns true.
func (s *signature) mayHave(text string) bool {
	for i := range len(text) - gram + 1 {
		if word, bit := place(text[i : i+gram]); s[word]&bit == 0 {
			return false
		}
	}
	return true
}

// place maps three bytes to a bit of a signature (Fibonacci hashing).
func place(three string) (word uint32, bit uint64) {
	const golden, bits = 2_654_435_769, 14 // of the 256 words
	hash := (uint32(three[0])<<16 | uint32(three[1])<<8 | uint32(three[2])) * golden >> (32 - bits)
	return hash / 64, 1 << (hash % 64)
}
