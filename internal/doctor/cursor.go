package doctor

import "errors"

// cursor walks through rows in their order, a page at a time: many can be open
// beside each other on one connection, and each keeps one page in memory.
type cursor[T any] struct {
	page  []T
	at    int
	ended bool
	next  func(after *T) ([]T, error) // nil: from the start
	key   func(*T) string             // in the order of the rows
	err   error
}

func newCursor[T any](key func(*T) string, next func(after *T) ([]T, error)) *cursor[T] {
	return &cursor[T]{next: next, key: key}
}

// errOrder is of a table that does not answer in the order that was asked for: to
// read on from its last row could go on for ever.
var errOrder = errors.New("rows do not come in their order")

// head is the row that the cursor stands on; nil: there are no more.
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

// pass goes on to the next row.
func (c *cursor[T]) pass() { c.at++ }
