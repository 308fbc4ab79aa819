package doctor

import "errors"

// cursor iterates over rows in order, a page at a time. Many can be open on one
// connection, and each keeps one page in memory.
type cursor[T any] struct {
	page  []T
	at    int
	ended bool
	next  func(after *T) ([]T, error) // after is nil for the first page
	key   func(*T) string             // sorts like the rows
	err   error
}

func newCursor[T any](key func(*T) string, next func(after *T) ([]T, error)) *cursor[T] {
	return &cursor[T]{next: next, key: key}
}

// errOrder reports rows that are not in the requested order. Continuing after the last
// row could then loop forever.
var errOrder = errors.New("rows are not in order")

// head returns the current row, or nil at the end.
func (c *cursor[T]) head() *T {
	if c.at == len(c.page) && !c.ended {
		var after *T
		if len(c.page) > 0 {
			last := c.page[len(c.page)-1]
			after = &last
		}
		c.page, c.err = c.next(after)
		if c.err == nil && after != nil && len(c.page) > 0 && c.key(&c.page[0]) <= c.key(after) {
			c.page, c.err = nil, errOrder
		}
		c.at, c.ended = 0, c.err != nil || len(c.page) == 0
	}
	if c.at == len(c.page) {
		return nil
	}
	return &c.page[c.at]
}

// pass advances to the next row.
func (c *cursor[T]) pass() { c.at++ }
