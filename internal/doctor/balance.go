package doctor

import (
	"hash/maphash"
	"maps"
	"slices"
)

// sides is how a comparison hears what is on both sides: a text, and how often it
// is on the left, or, negative, on the right.
type sides func(text []byte, n int64)

const (
	buckets = 1 << 16
	suspect = 256 // buckets that are looked into, at the most
)

// compare tells what is on one side and not as often on the other, of more than
// fits into memory and in any order. Read names everything, and is called again
// where the sides differ: first each text counts into one of many sums, and then
// those texts are kept whose sums do not come to nothing.
func compare(read func(sides) error) (differ map[string]int64, err error) {
	seed := maphash.MakeSeed()
	var sums [buckets]uint64
	err = read(func(text []byte, n int64) {
		h := maphash.Bytes(seed, text)
		sums[h%buckets] += h * uint64(n) //nolint:gosec // modulo 2^64: what is added on one side is taken off on the other
	})
	if err != nil {
		return nil, err
	}
	uneven := map[uint64]bool{}
	for i, sum := range sums {
		if sum != 0 && len(uneven) < suspect {
			uneven[uint64(i)] = true //nolint:gosec // an index
		}
	}
	if len(uneven) == 0 {
		return nil, nil //nolint:nilnil // nothing differs
	}
	differ = map[string]int64{}
	err = read(func(text []byte, n int64) {
		if uneven[maphash.Bytes(seed, text)%buckets] {
			differ[string(text)] += n
		}
	})
	maps.DeleteFunc(differ, func(_ string, n int64) bool { return n == 0 })
	return differ, err
}

// each calls fn with what differs, in the order of the texts.
func eachDiffering(differ map[string]int64, fn func(text string, n int64)) {
	for _, text := range slices.Sorted(maps.Keys(differ)) {
		fn(text, differ[text])
	}
}
