package beacon

import "math"

// Page selects a part of a list. Pages count from 1.
type Page struct {
	Number, Size int
}

// Offset returns how many items come before the page. No list is long enough for the
// bound to matter; without it the product could overflow.
func (p Page) Offset() int { return min(p.Number-1, math.MaxInt32) * p.Size }

// Listed is a page of a list, with the length of the whole list.
type Listed[T any] struct {
	Items []T
	Total int
	Page  Page
}

// Pages returns how many pages the whole list has.
func (l Listed[T]) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }
