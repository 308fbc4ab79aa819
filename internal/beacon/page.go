package beacon

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Page selects a part of a list. Pages count from 1.
type Page struct {
	Number, Size int

	// After is where the page begins, if not empty: after the item at this place in the
	// order of the list. Number is then only how many pages were read. Places are texts
	// such as an id.
	After string
}

// Offset returns how many items come before the page. No list is long enough for the
// bound to matter; without it the product could overflow.
func (p Page) Offset() int {
	if p.After != "" {
		return 0
	}
	return min(p.Number-1, math.MaxInt32) * p.Size
}

// Listed is a page of a list, with the length of the whole list.
type Listed[T any] struct {
	Items []T
	Total int
	Page  Page
}

// Pages returns how many pages the whole list has.
func (l Listed[T]) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }

// KeyPlace is the place of a key in lists of keys, which are ordered by age.
type KeyPlace struct {
	CreatedAt time.Time
	ID        KeyID
}

// Place returns the place of the key.
func (k *Key) Place() KeyPlace { return KeyPlace{k.CreatedAt, k.ID} }

// String returns the place as a text.
func (p KeyPlace) String() string {
	return strconv.FormatInt(p.CreatedAt.UnixMicro(), 10) + " " + string(p.ID)
}

var errPlace = errors.New("is not the place of a key")

// ParseKeyPlace reads what String returned.
func ParseKeyPlace(text string) (KeyPlace, error) {
	micros, key, _ := strings.Cut(text, " ")
	at, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || !strings.HasPrefix(key, KeyPrefix) || strings.Trim(key, "_0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return KeyPlace{}, errPlace
	}
	return KeyPlace{time.UnixMicro(at).UTC(), KeyID(key)}, nil
}
