package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	Pagination
}

// Pagination is the position of a page in a list.
type Pagination struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Total      int `json:"total"`
	TotalPages int `json:"total_pages"`
}

// PageQuery selects a page. Zero means the server's default: the first page, of 20.
type PageQuery struct {
	Page    int // from 1
	PerPage int // up to 100
}

// largestPage is the page size of sequences.
const largestPage = 100

// page requests one page.
func page[T any](ctx context.Context, c *Client, path string, query url.Values, p PageQuery) (Page[T], error) {
	if query == nil {
		query = url.Values{}
	}
	if p.Page != 0 {
		query.Set("page", strconv.Itoa(p.Page))
	}
	if p.PerPage != 0 {
		query.Set("per_page", strconv.Itoa(p.PerPage))
	}
	answer, _, err := enveloped[[]T](ctx, c, get(path, query))
	if err != nil {
		return Page[T]{}, err
	}
	return Page[T]{Items: *answer.Data, Pagination: answer.Pagination}, nil
}

// pages iterates over all pages. It ends with the first error.
func pages[T any](ask func(PageQuery) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for n := 1; ; n++ {
			p, err := ask(PageQuery{Page: n, PerPage: largestPage})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if n >= p.TotalPages {
				return
			}
		}
	}
}
