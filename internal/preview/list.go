package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// catalog holds every record encoded, and what is needed to choose among them,
// so that a list answer is only put together from ready pieces (decision P8).
type catalog struct {
	encoded [][]byte        // each record as JSON, by its place in the dataset
	folded  []string        // what a search looks at, in lower case
	pairs   map[[2]byte]set // which records have these two bytes in folded, in a row
	digest  string          // of all the records: what entity tags begin with

	// chosen has the places of the records of a risk and a network, in order;
	// the first row and column stand for "any".
	chosen [][][]int
}

// set is a set of records by their places in the dataset.
type set [2]uint64

func (s *set) add(i int)     { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// fieldBreak stands between the fields in folded, so that a search cannot match
// across two of them. No field contains it.
const fieldBreak = "\x00"

func newCatalog(records []record) (*catalog, error) {
	if len(records) > len(set{})*64 {
		return nil, fmt.Errorf("preview dataset: %d records are more than a set holds", len(records))
	}
	c := &catalog{pairs: map[[2]byte]set{}}
	sum := sha256.New()
	for i, rec := range records {
		line, err := httpserver.EncodeJSON(rec.Hotspot)
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-1] // without the line's end
		sum.Write(line)
		c.encoded = append(c.encoded, line)
		text := strings.ToLower(rec.Name + fieldBreak + rec.Owner + fieldBreak + rec.Note)
		c.folded = append(c.folded, text)
		for at := range len(text) - 1 {
			pair := [2]byte{text[at], text[at+1]}
			with := c.pairs[pair]
			with.add(i)
			c.pairs[pair] = with
		}
	}
	c.digest = hex.EncodeToString(sum.Sum(nil)[:8])

	for r := range len(risks) + 1 {
		row := make([][]int, len(networks)+1)
		for i, rec := range records {
			for n := range row {
				if (r == 0 || rec.Risk == risks[r-1]) && (n == 0 || rec.Network == networks[n-1]) {
					row[n] = append(row[n], i)
				}
			}
		}
		c.chosen = append(c.chosen, row)
	}
	return c, nil
}

// page is one answer of the list: which records match, and which part of them
// is asked for.
type page struct {
	matches       []int // places in the dataset, ascending
	limit, offset int64
}

// find applies a query. Filters given together all apply (decision P3).
func (c *catalog) find(q query, scratch []int) page {
	p := page{
		limit:  min(max(wholeNumber(q.limit, defaultLimit), 1), maxLimit),
		offset: max(wholeNumber(q.offset, 0), 0),
	}
	risk, known := indexFold(risks, q.risk)
	network, alsoKnown := indexFold(networks, q.network)
	if !known || !alsoKnown {
		return p
	}
	p.matches = c.chosen[risk][network]
	if q.search != "" {
		p.matches = c.search(p.matches, q.search, scratch)
	}
	return p
}

// indexFold finds a filter's value in a row or column of chosen: 0 for an
// absent filter, and not known for one that matches nothing.
func indexFold(values []string, text string) (index int, known bool) {
	if text == "" {
		return 0, true
	}
	for i, value := range values {
		if strings.EqualFold(value, text) {
			return i + 1, true
		}
	}
	return 0, false
}

// search looks only into records that have every two neighbouring bytes of the
// text somewhere, which leaves few to look into.
func (c *catalog) search(among []int, text string, found []int) []int {
	found = found[:0]
	if strings.Contains(text, fieldBreak) {
		return found
	}
	text = strings.ToLower(text)
	likely := set{^uint64(0), ^uint64(0)}
	for at := range len(text) - 1 {
		with := c.pairs[[2]byte{text[at], text[at+1]}]
		likely[0] &= with[0]
		likely[1] &= with[1]
	}
	for _, i := range among {
		if likely.has(i) && strings.Contains(c.folded[i], text) {
			found = append(found, i)
		}
	}
	return found
}

// bounds gives the part of matches that is on the page.
func (p page) bounds() (from, to int64) {
	total := int64(len(p.matches))
	from = min(p.offset, total)
	return from, from + min(p.limit, total-from)
}

// appendPage writes the answer's body. hasMore compares by subtraction: the sum
// of offset and limit may not fit an integer.
func (c *catalog) appendPage(out []byte, p page) []byte {
	total := int64(len(p.matches))
	from, to := p.bounds()
	out = append(out, `{"data":[`...)
	for n, i := range p.matches[from:to] {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, c.encoded[i]...)
	}
	out = append(out, `],"meta":{"total":`...)
	out = strconv.AppendInt(out, total, 10)
	out = append(out, `,"limit":`...)
	out = strconv.AppendInt(out, p.limit, 10)
	out = append(out, `,"offset":`...)
	out = strconv.AppendInt(out, p.offset, 10)
	out = append(out, `,"hasMore":`...)
	out = strconv.AppendBool(out, p.offset < total-p.limit)
	return append(out, "}}\n"...)
}

// appendTag writes the entity tag of a page: the dataset, the records on the
// page as a set of bits, and the numbers of its meta. They determine every byte
// of the body, so the tag is strong although the body is not hashed.
func (c *catalog) appendTag(out []byte, p page) []byte {
	var shown set
	from, to := p.bounds()
	for _, i := range p.matches[from:to] {
		shown.add(i)
	}
	out = append(out, '"')
	out = append(out, c.digest...)
	for _, n := range []uint64{shown[0], shown[1], uint64(len(p.matches)), uint64(p.limit), uint64(p.offset)} {
		out = append(out, '-')
		out = strconv.AppendUint(out, n, 36)
	}
	return append(out, '"')
}
