package doctor

import (
	"cmp"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

// sides receives what is on both sides of a comparison: a text, and how often it is on
// the left or, if negative, on the right.
type sides func(text []byte, n int64)

const (
	buckets = 1 << 16
	suspect = 256 // buckets that are examined, at most
)

// compare returns the texts that are not equally often on both sides. They may be in
// any order, and more than fit into memory. Read produces all texts. The first pass
// adds each to one of many bucket sums; if the sides differ, a second pass keeps the
// texts whose bucket does not sum to zero.
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

// tellDiffering reports each difference: that its text was found only on the first
// side, or only on the second. A text begins with an id and a blank.
func (run *checkRun) tellDiffering(differ map[string]int64, first, second string) {
	for _, text := range slices.Sorted(maps.Keys(differ)) {
		id, what, _ := strings.Cut(text, " ")
		format := first
		if differ[text] < 0 {
			format = second
		}
		run.wrong(id, format, strings.TrimSpace(what))
	}
}

// cursor iterates over rows in order, a page at a time. Many can be open on one
// connection, and each keeps one page in memory.
type cursor[T any] struct {
	run   *checkRun
	page  []T
	at    int
	ended bool
	next  func(after T) ([]T, error) // after is zero for the first page
	key   func(*T) string            // sorts like the rows
}

func newCursor[T any](run *checkRun, key func(*T) string, next func(after T) ([]T, error)) *cursor[T] {
	return &cursor[T]{run: run, next: next, key: key}
}

// errOrder reports rows that are not in the requested order. Continuing after the last
// row could then loop forever.
var errOrder = errors.New("rows are not in order")

// head returns the current row, or nil at the end. An error ends the rows, and is kept in
// the run.
func (c *cursor[T]) head() *T {
	if c.at == len(c.page) && !c.ended {
		var after T
		begun := len(c.page) > 0
		if begun {
			after = c.page[len(c.page)-1]
		}
		page, err := c.next(after)
		if err == nil && begun && len(page) > 0 && c.key(&page[0]) <= c.key(&after) {
			err = errOrder
		}
		if err != nil {
			page, c.run.failed = nil, cmp.Or(c.run.failed, err)
		}
		c.page, c.at, c.ended = page, 0, len(page) == 0
	}
	if c.at == len(c.page) {
		return nil
	}
	return &c.page[c.at]
}

// pass advances to the next row.
func (c *cursor[T]) pass() { c.at++ }
