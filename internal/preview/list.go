package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// catalog holds all records encoded, with the indexes to select them, so that a list
// response is assembled from ready pieces (decision P8).
type catalog struct {
	encoded [][]byte        // each record as JSON, by position in the dataset
	folded  []string        // the searchable text of each record, as fold returns it
	pairs   map[[2]byte]set // index: records whose folded text has these two adjacent bytes
	digest  string          // of all records: the prefix of entity tags

	// chosen holds the positions of the records by risk and network, in order. Row
	// and column 0 stand for "any".
	chosen [][][]int
}

// set is a set of records by position in the dataset.
type set [2]uint64

func (s *set) add(i int)     { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// fieldBreak separates the fields in folded, so that a search cannot match across two of
// them. No field contains it.
const fieldBreak = "\x00"

func newCatalog(records []record) (*catalog, error) {
	if len(records) > len(set{})*64 {
		return nil, fmt.Errorf("preview dataset: %d records are more than a set can hold", len(records))
	}
	c := &catalog{pairs: map[[2]byte]set{}}
	sum := sha256.New()
	for i, rec := range records {
		line, err := httpserver.EncodeJSON(rec.Hotspot)
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-1] // without the line break
		sum.Write(line)
		c.encoded = append(c.encoded, line)
		text := fold(rec.Name + fieldBreak + rec.Owner + fieldBreak + rec.Note)
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

// fold returns the form in which texts are compared: without regard to case, and to whether
// an accent is a character of its own.
func fold(text string) string { return norm.NFC.String(strings.ToLower(text)) }

// page is one response of the list: the matching records, and the requested part.
type page struct {
	matches       []int // positions in the dataset, ascending
	limit, offset int64
}

// find runs a query. A record must match all given filters (decision P3).
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

// indexFold returns a filter's row or column in chosen: 0 for an absent filter. known is
// false for a value that matches nothing.
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

// search scans only the records that contain every pair of adjacent bytes of the text
// somewhere, which are few.
func (c *catalog) search(among []int, text string, found []int) []int {
	found = found[:0]
	if strings.Contains(text, fieldBreak) {
		return found
	}
	text = fold(text)
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

// bounds returns the range of matches that is on the page.
func (p page) bounds() (from, to int64) {
	total := int64(len(p.matches))
	from = min(p.offset, total)
	return from, from + min(p.limit, total-from)
}

// appendPage writes the response body. hasMore compares by subtraction: the sum of
// offset and limit may overflow.
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

// appendTag writes the entity tag of a page: the dataset, the records on the page as a
// bit set, and the numbers in its meta. They determine every byte of the body, so the
// tag is strong although the body is not hashed.
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
