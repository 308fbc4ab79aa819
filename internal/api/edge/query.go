package edge

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Query reads the parameters of a URL one by one and collects all their faults
// (decision N4). Unknown parameters are ignored, but for lists that are read with FromList.
type Query struct {
	pairs  []pair
	room   [8]pair // initial backing array of pairs: no endpoint has more parameters
	Faults beacon.Faults
}

type pair struct {
	name, value string
	known       bool // someone has asked for it
}

// NewQuery splits a query. Unlike url.ParseQuery it builds no map, which would cost a
// nearby request more than parsing all its numbers.
func NewQuery(r *http.Request) (*Query, error) {
	q := &Query{}
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
		q.pairs = append(q.pairs, pair{name: name, value: value})
	}
	return q, nil
}

// FromQuery returns a decoder that reads the query of a request.
func FromQuery[In any](read func(*http.Request, *Query) In) decoder[In] {
	return func(_ http.ResponseWriter, r *http.Request) (in In, err error) {
		q, err := NewQuery(r)
		if err != nil {
			return in, err
		}
		in = read(r, q)
		return in, q.Faults.Err()
	}
}

// FromList is FromQuery for lists, whose unknown parameters are refused: who believes to
// page or to filter, and does not, would take a part for the whole.
func FromList[In any](read func(*http.Request, *Query) In) decoder[In] {
	return FromQuery(func(r *http.Request, q *Query) In {
		in := read(r, q)
		q.RefuseUnknown()
		return in
	})
}

// RefuseUnknown adds a fault for each parameter that nobody has asked for.
func (q *Query) RefuseUnknown() {
	told := map[string]bool{}
	for _, p := range q.pairs {
		if !p.known && !told[p.name] {
			told[p.name] = true
			q.Faults.Add(p.name, "is not a parameter of this list")
		}
	}
}

// find returns the first value of a parameter, and how often it occurs.
func (q *Query) find(name string) (value string, count int) {
	for i := range q.pairs {
		if p := &q.pairs[i]; p.name == name {
			if count == 0 {
				value = p.value
			}
			p.known = true
			count++
		}
	}
	return value, count
}

// Get returns an optional parameter.
func (q *Query) Get(name string) (text string, ok bool) {
	switch value, count := q.find(name); {
	case count == 0:
		return "", false
	case count > 1:
		q.Faults.Add(name, "must be given once")
		return "", false
	case value == "":
		q.Faults.Add(name, "must not be empty")
		return "", false
	default:
		return value, true
	}
}

// Need reports whether a required parameter is present, and adds a fault if it is
// absent or empty.
func (q *Query) Need(name string) bool {
	if value, count := q.find(name); count <= 1 && value == "" {
		q.Faults.Missing(name)
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

// Number reads a number from least to most.
func (q *Query) Number(name string, least, most, fallback float64) float64 {
	n, ok := q.decimal(name, fallback)
	if ok && !(n >= least && n <= most) {
		q.Faults.Add(name, "must be "+shortest(least)+" to "+shortest(most))
	}
	return n
}

// Positive reads a number above 0, up to and including most.
func (q *Query) Positive(name string, most, fallback float64) float64 {
	n, ok := q.decimal(name, fallback)
	if ok && !(n > 0 && n <= most) {
		q.Faults.Add(name, "must be more than 0 and at most "+shortest(most))
	}
	return n
}

// decimal reports whether there is a number, and otherwise returns the fallback.
func (q *Query) decimal(name string, fallback float64) (n float64, ok bool) {
	text, ok := q.Get(name)
	if !ok {
		return fallback, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !isDecimal(text) {
		q.Faults.Add(name, "must be a number")
		return fallback, false
	}
	return n, true
}

// maxExact is the largest number below which a double has every integer.
const maxExact = 1 << 53

// Whole reads an integer from least to most. 20.0 is one, too, as it is in a body.
func (q *Query) Whole(name string, least, most, fallback int) int {
	text, ok := q.Get(name)
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
		q.Faults.Add(name, wholeRange(least, most))
		return fallback
	}
	return n
}

// OneOf reads a parameter that must be one of some words, if present.
func (q *Query) OneOf(name string, words ...string) string {
	text, ok := q.Get(name)
	if ok && !slices.Contains(words, text) {
		last := len(words) - 1
		q.Faults.Add(name, "must be "+strings.Join(words[:last], ", ")+" or "+words[last])
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

// Bounds reads a box from a query (decision N20).
func (q *Query) Bounds() (box geo.Box) {
	side := func(name string, most float64) (n float64, ok bool) {
		if !q.Need(name) {
			return 0, false
		}
		n = q.Number(name, -most, most, math.NaN())
		return positiveZero(n), n >= -most && n <= most
	}
	return readBox(side, "", &q.Faults)
}

// boundsForm has the sides of a box as the client sent them.
type boundsForm map[string]beacon.Opt[float64]

func ReadBounds(o *Object) boundsForm {
	return boundsForm{"north": o.Number("north"), "south": o.Number("south"), "east": o.Number("east"), "west": o.Number("west")}
}

// Validate returns the box, or adds its faults. Field names are prefixed with path.
func (form boundsForm) Validate(path string, f *beacon.Faults) geo.Box {
	side := func(name string, most float64) (n float64, ok bool) {
		return Required(form[name], path+name, -most, most, f)
	}
	return readBox(side, path, f)
}

// Required returns a number that must be present, from least to most.
func Required(value beacon.Opt[float64], field string, least, most float64, f *beacon.Faults) (n float64, ok bool) {
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

// AppendBounds writes a box as responses show it.
func AppendBounds(out []byte, box geo.Box) []byte {
	out = strconv.AppendFloat(append(out, `{"north":`...), box.North, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"south":`...), box.South, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"east":`...), box.East, 'f', -1, 64)
	out = strconv.AppendFloat(append(out, `,"west":`...), box.West, 'f', -1, 64)
	return append(out, '}')
}

// Nobody returns NotFound for a text that cannot be a user id. Call it after the use
// case: a caller without permission must get Forbidden, whatever the text
// (decision N6).
func Nobody(user beacon.UserID) error {
	if user == beacon.Me || id.Valid(beacon.UserPrefix, string(user)) {
		return nil
	}
	return ErrNoUser
}

// Exact returns a parameter that is compared as it is.
func (q *Query) Exact(name string) string {
	text, _ := q.Get(name)
	return text
}

// User reads the id of a user, if present.
func (q *Query) User(name string) beacon.UserID {
	text, ok := q.Get(name)
	if ok && !id.Valid(beacon.UserPrefix, text) {
		q.Faults.Add(name, "must be the id of a user")
	}
	return beacon.UserID(text)
}

// Search reads the text to search names for.
func (q *Query) Search() string {
	raw, ok := q.Get("q")
	if !ok {
		return ""
	}
	text, err := beacon.CleanSearch(raw)
	q.Faults.Check("q", err)
	return text
}

func (q *Query) EventNumber(name, text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63) // accepts no sign
	if err != nil {
		q.Faults.Add(name, "must be a whole number of at least 0")
	}
	return int64(n)
}

// Time reads an RFC 3339 time.
func (q *Query) Time(name string, fallback time.Time) time.Time {
	text, ok := q.Get(name)
	if !ok {
		return fallback
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.Faults.Add(name, "must be a time such as 2027-01-31T12:00:00Z")
		return fallback
	}
	return t.UTC()
}

// Day reads a day, or returns nil if it is absent.
func (q *Query) Day(name string) *beacon.Day {
	text, ok := q.Get(name)
	if !ok {
		return nil
	}
	t, err := time.Parse(time.DateOnly, text) // before 1970, too
	if err != nil {
		q.Faults.Add(name, "must be a day such as 2026-11-30")
	}
	return new(beacon.DayOf(t))
}

var ErrNoUser = beacon.NoSuch("user")
