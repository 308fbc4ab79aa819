package api

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// query reads the parameters of a URL one by one and collects all their faults
// (decision N4). Unknown parameters are ignored.
type query struct {
	pairs  []pair
	room   [8]pair // initial backing array of pairs: no endpoint has more parameters
	faults beacon.Faults
}

type pair struct{ name, value string }

// newQuery splits a query. Unlike url.ParseQuery it builds no map, which would cost a
// nearby request more than parsing all its numbers.
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
			return nil, &beacon.Error{Kind: beacon.InvalidRequest, Message: "the query is not encoded correctly: check every % and ;"}
		}
		q.pairs = append(q.pairs, pair{name, value})
	}
	return q, nil
}

// fromQuery returns a decoder that reads the query of a request.
func fromQuery[In any](read func(*http.Request, *query) In) decoder[In] {
	return func(_ http.ResponseWriter, r *http.Request) (in In, err error) {
		q, err := newQuery(r)
		if err != nil {
			return in, err
		}
		in = read(r, q)
		return in, q.faults.Err()
	}
}

// find returns the first value of a parameter, and how often it occurs.
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

// get returns an optional parameter.
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

// need reports whether a required parameter is present, and adds a fault if it is
// absent or empty.
func (q *query) need(name string) bool {
	if value, count := q.find(name); count <= 1 && value == "" {
		q.faults.Missing(name)
		return false
	}
	return true
}

// isDecimal reports whether text has only decimal digits, signs, points and exponents.
// ParseFloat accepts more spellings, such as 0x10, 1_000 and NaN, which nobody sends on
// purpose.
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

// number reads a number from least to most.
func (q *query) number(name string, least, most, fallback float64) float64 {
	n, ok := q.decimal(name, fallback)
	if ok && !(n >= least && n <= most) {
		q.faults.Add(name, "must be "+shortest(least)+" to "+shortest(most))
	}
	return n
}

// positive reads a number above 0, up to and including most.
func (q *query) positive(name string, most, fallback float64) float64 {
	n, ok := q.decimal(name, fallback)
	if ok && !(n > 0 && n <= most) {
		q.faults.Add(name, "must be more than 0 and at most "+shortest(most))
	}
	return n
}

// decimal reports whether there is a number, and otherwise returns the fallback.
func (q *query) decimal(name string, fallback float64) (n float64, ok bool) {
	text, ok := q.get(name)
	if !ok {
		return fallback, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !isDecimal(text) {
		q.faults.Add(name, "must be a number")
		return fallback, false
	}
	return n, true
}

// maxExact is the largest number below which a double has every integer.
const maxExact = 1 << 53

// whole reads an integer from least to most. 20.0 is one, too, as it is in a body.
func (q *query) whole(name string, least, most, fallback int) int {
	text, ok := q.get(name)
	if !ok {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil && isDecimal(text) {
		var number float64
		if number, err = strconv.ParseFloat(text, 64); number != math.Trunc(number) || math.Abs(number) >= maxExact {
			err = strconv.ErrSyntax
		}
		n = int(number)
	}
	if err != nil || n < least || n > most {
		q.faults.Add(name, wholeRange(least, most))
		return fallback
	}
	return n
}

// oneOf reads a parameter that must be one of some words, if present.
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

func wholeRange(least, most int) string {
	if most == math.MaxInt {
		return "must be a whole number of at least " + strconv.Itoa(least)
	}
	return "must be a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
}

func shortest(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// bounds reads a box from a query (decision N20).
func (q *query) bounds() (box geo.Box) {
	side := func(name string, most float64) (n float64, ok bool) {
		if !q.need(name) {
			return 0, false
		}
		n = q.number(name, -most, most, math.NaN())
		return positiveZero(n), n >= -most && n <= most
	}
	return readBox(side, "", &q.faults)
}

// boundsForm has the sides of a box as the client sent them.
type boundsForm map[string]beacon.Opt[float64]

func readBounds(o *object) boundsForm {
	return boundsForm{"north": o.number("north"), "south": o.number("south"), "east": o.number("east"), "west": o.number("west")}
}

// validate returns the box, or adds its faults. Field names are prefixed with path.
func (form boundsForm) validate(path string, f *beacon.Faults) geo.Box {
	side := func(name string, most float64) (n float64, ok bool) {
		return required(form[name], path+name, -most, most, f)
	}
	return readBox(side, path, f)
}

// required returns a number that must be present, from least to most.
func required(value beacon.Opt[float64], field string, least, most float64, f *beacon.Faults) (n float64, ok bool) {
	n, ok = beacon.Required(value, field, f)
	if ok && !(n >= least && n <= most) {
		f.Add(field, "must be "+shortest(least)+" to "+shortest(most))
		ok = false
	}
	return positiveZero(n), ok
}

// readBox assembles a box from its sides. side adds the faults of a single side; a
// faulty side is not compared with the opposite one.
func readBox(side func(name string, most float64) (n float64, ok bool), path string, f *beacon.Faults) (box geo.Box) {
	var known [4]bool
	box.North, known[0] = side("north", 90)
	box.South, known[1] = side("south", 90)
	box.East, known[2] = side("east", 180)
	box.West, known[3] = side("west", 180)
	if known[0] && known[1] && box.North <= box.South {
		f.Add(path+"north", "must be north of south")
	}
	if known[2] && known[3] && box.Width() == 0 {
		f.Add(path+"east", "must differ from west")
	}
	return box
}

// positiveZero turns -0 into 0: it is the same place, and must look the same.
func positiveZero(n float64) float64 {
	if n == 0 {
		return 0
	}
	return n
}

// appendBounds writes a box as responses show it.
func appendBounds(out []byte, box geo.Box) []byte {
	out = strconv.AppendFloat(append(out, `{"north":`...), box.North, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"south":`...), box.South, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"east":`...), box.East, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"west":`...), box.West, 'f', -1, 64)
	return append(out, '}')
}
