package importer

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mapping says how a file is read that does not have our columns. The zero Mapping knows
// the names that are common for them.
type Mapping struct {
	words *vocabulary // nil: those of hotspots

	From map[string]string // by column, what the file calls it
	Set  map[string]string // by column, what it holds where the file has nothing
}

// Check returns an error if there is no such column.
func (m Mapping) Check() error {
	w := m.vocabulary()
	for _, column := range append(slices.Sorted(maps.Keys(m.From)), slices.Sorted(maps.Keys(m.Set))...) {
		if !slices.Contains(w.columns, column) {
			return fmt.Errorf("there is no column %s; the columns are %s", column, strings.Join(w.columns, ", "))
		}
	}
	return nil
}

// otherNames has what other programs call our columns, the likeliest first. The console
// reads the same file.
//
//go:embed names.json
var otherNames []byte

// vocabulary is the columns of a kind of file.
type vocabulary struct {
	columns, needed []string

	// known has the columns by all names that are recognized, and how good a name each is: a
	// file may have several for one column.
	known map[string]meaning
}

func newVocabulary(columns, needed []string) *vocabulary {
	var others map[string][]string
	if err := json.Unmarshal(otherNames, &others); err != nil {
		panic(err) // every test would show it
	}
	w := &vocabulary{columns, needed, map[string]meaning{}}
	for _, column := range columns {
		for i, name := range append([]string{column}, others[column]...) {
			w.known[name] = meaning{column, i}
		}
	}
	return w
}

var hotspotWords = newVocabulary(columns, needed)

func (m Mapping) vocabulary() *vocabulary { return cmp.Or(m.words, hotspotWords) }

// meaning is the column that a name stands for; the best name has the lowest rank.
type meaning struct {
	column string
	rank   int
}

// spelled returns a name as it is looked up.
func spelled(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// meaning returns what a name of a file stands for, if anything.
func (m Mapping) meaning(name string) (_ meaning, ok bool) {
	for column, from := range m.From {
		if spelled(from) == spelled(name) {
			return meaning{column, -1}, true
		}
	}
	is, ok := m.vocabulary().known[spelled(name)]
	if _, mapped := m.From[is.column]; mapped {
		return meaning{}, false
	}
	return is, ok
}

// columnsOf returns the columns that the names of a file stand for. One that has no column,
// or whose column has a better name, is empty. It is an error if a name is there twice.
func (m Mapping) columnsOf(names []string) ([]string, error) {
	best := map[string]meaning{}
	for _, name := range names {
		is, ok := m.meaning(name)
		if was, there := best[is.column]; ok && (!there || is.rank < was.rank) {
			best[is.column] = is
		}
	}
	found, taken := make([]string, len(names)), map[string]bool{}
	for i, name := range names {
		is, ok := m.meaning(name)
		if !ok || best[is.column] != is {
			continue
		}
		if taken[is.column] {
			return nil, fmt.Errorf("the column %s is there twice", strings.TrimSpace(name))
		}
		found[i], taken[is.column] = is.column, true
	}
	return found, nil
}

// missing returns the columns that a table lacks, of those that it must have.
func (m Mapping) missing(found []string) (all []string) {
	for _, column := range m.vocabulary().needed {
		if !slices.Contains(found, column) && m.Set[column] == "" {
			all = append(all, column)
		}
	}
	return all
}

// fill adds to rows what they lack.
func (m Mapping) fill(rows Rows) Rows {
	if len(m.Set) == 0 {
		return rows
	}
	return func(yield func(row, error) bool) {
		for r, err := range rows {
			for column, value := range m.Set {
				if r.cells != nil && strings.TrimSpace(r.cells[column]) == "" {
					r.cells[column] = value
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Read reads a file of any of the formats, which its first character tells apart: a table
// (see csv.go), or a document (see document.go).
func Read(file io.Reader, m Mapping) (Rows, error) {
	text, err := open(file)
	if err != nil {
		return nil, err
	}
	begin, err := text.Peek(text.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	read := table
	if begin := strings.TrimLeft(string(begin), " \t\r\n"); begin != "" && strings.Contains("{[", begin[:1]) {
		read = document
	}
	rows, err := read(text, m)
	if err != nil {
		return nil, err
	}
	return m.fill(rows), nil
}

var errEncoding = errors.New("is not UTF-8: save the file as UTF-8")

// checkEncoding returns an error for cells that would be sent with other characters than
// the file has.
func checkEncoding(cells ...string) error {
	for _, cell := range cells {
		if !utf8.ValidString(cell) {
			return errEncoding
		}
	}
	return nil
}
