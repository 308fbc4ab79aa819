package api

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// query reads the parameters of a URL one by one, and notes everything that is
// wrong with them (decision N4). Unknown ones are ignored.
type query struct {
	pairs  []pair
	room   [8]pair // what pairs begins in: no endpoint has more parameters
	faults beacon.Faults
}

type pair struct{ name, value string }

// newQuery splits a query. Unlike url.ParseQuery it makes no map of it, which
// would cost a nearby request more than reading all its numbers.
func newQuery(r *http.Request) (*query, error) {
	q := &query{}
	q.pairs = q.room[:0]
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err != nil || err2 != nil || strings.Contains(part, ";") {
			return nil, &beacon.Error{Kind: beacon.InvalidRequest, Message: "the query is not well encoded: check every % and ;"}
		}
		q.pairs = append(q.pairs, pair{name, value})
	}
	return q, nil
}

// find gives the first value of a parameter, and how many there are.
func (q *query) find(name string) (value string, count int) {
	for _, p := range q.pairs {
		if p.name == name {
			if count == 0 {
				value = p.value
			}
			count++
		}
	}
	return value, count
}

// get gives a parameter that may be absent.
func (q *query) get(name string) (text string, ok bool) {
	switch value, count := q.find(name); {
	case count == 0:
		return "", false
	case count > 1:
		q.faults.Add(name, "must be given once")
		return "", false
	case value == "":
		q.faults.Add(name, "must not be empty")
		return "", false
	default:
		return value, true
	}
}

// need notes that a required parameter is absent, or empty.
func (q *query) need(name string) bool {
	if value, count := q.find(name); count <= 1 && value == "" {
		q.faults.Missing(name)
		return false
	}
	return true
}

// isDecimal reports whether a number is written in decimal digits, with or
// without a sign, fraction and exponent. ParseFloat knows more spellings, such
// as 0x10, 1_000 and NaN, which nobody sends on purpose.
func isDecimal(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return true
}

// number reads a number between two bounds, both included.
func (q *query) number(name string, least, most, fallback float64) float64 {
	n, ok := q.decimal(name)
	if ok && !(n >= least && n <= most) {
		q.faults.Add(name, "must be "+shortest(least)+" to "+shortest(most))
	}
	if !ok {
		return fallback
	}
	return n
}

// positive reads a number above 0, up to a bound that is included.
func (q *query) positive(name string, most, fallback float64) float64 {
	n, ok := q.decimal(name)
	if ok && !(n > 0 && n <= most) {
		q.faults.Add(name, "must be more than 0 and at most "+shortest(most))
	}
	if !ok {
		return fallback
	}
	return n
}

func (q *query) decimal(name string) (n float64, ok bool) {
	text, ok := q.get(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !isDecimal(text) {
		q.faults.Add(name, "must be a number")
		return 0, false
	}
	return n, true
}

// whole reads a whole number between two bounds, both included.
func (q *query) whole(name string, least, most, fallback int) int {
	text, ok := q.get(name)
	if !ok {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.faults.Add(name, wholeRange(least, most))
		return fallback
	}
	return n
}

// oneOf reads one of some words, or none.
func (q *query) oneOf(name string, words ...string) string {
	text, ok := q.get(name)
	if ok && !slices.Contains(words, text) {
		last := len(words) - 1
		q.faults.Add(name, "must be "+strings.Join(words[:last], ", ")+" or "+words[last])
	}
	return text
}

const (
	defaultPerPage = 20
	maxPerPage     = 100
)

// page reads which part of a list is wanted.
func (q *query) page() beacon.Page {
	return beacon.Page{
		Number: q.whole("page", 1, math.MaxInt, 1),
		Size:   q.whole("per_page", 1, maxPerPage, defaultPerPage),
	}
}

func wholeRange(least, most int) string {
	if most == math.MaxInt {
		return "must be a whole number of at least " + strconv.Itoa(least)
	}
	return "must be a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
}

func shortest(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
