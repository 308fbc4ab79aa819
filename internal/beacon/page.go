package beacon

import "math"

// Page is which part of a list is wanted: the pages count from 1.
type Page struct {
	Number, Size int
}

// Offset is how many items come before the page. No list is so long that the
// bound matters; without it the product could overflow.
func (p Page) Offset() int { return min(p.Number-1, math.MaxInt32) * p.Size }

// Listed is a page of a list, and how long the whole list is.
type Listed[T any] struct {
	Items []T
	Total int
	Page  Page
}

// Pages is how many pages the whole list has.
func (l Listed[T]) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }
