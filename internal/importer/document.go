package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// lineReader knows the line of each byte of a file. It remembers only the ends of
// lines that were read and not yet asked for.
type lineReader struct {
	r      io.Reader
	read   int64
	line   int
	breaks []int64
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset. Offsets must not decrease.
func (l *lineReader) at(offset int64) int {
	passed := 0
	for passed < len(l.breaks) && l.breaks[passed] < offset {
		passed++
	}
	l.line += passed
	l.breaks = slices.Delete(l.breaks, 0, passed)
	return l.line + 1
}

// reader reads a document piece by piece: it may be far larger than the memory.
type reader struct {
	Mapping
	text    source
	lines   *lineReader
	decoder *json.Decoder
}

// document reads a FeatureCollection of Points (RFC 7946), or a list of nodes (see node).
func document(text source, m Mapping) (Rows, error) {
	d := &reader{Mapping: m, text: text, lines: &lineReader{r: text}}
	d.decoder = json.NewDecoder(d.lines)
	return func(yield func(row, error) bool) {
		if err := d.all(func(r row) bool { return yield(r, nil) }); err != nil && !errors.Is(err, errStopped) {
			yield(row{}, fmt.Errorf("after line %d: %w", d.lines.at(d.decoder.InputOffset()), err))
		}
	}, nil
}

var (
	errStopped    = errors.New("stopped")
	errNoDocument = errors.New(`this is neither GeoJSON, {"type":"FeatureCollection","features":[…]}, nor a list of nodes, {"nodes":[…]}`)
	errDeep       = errors.New("this is nested too deeply")
)

// all reads the whole document.
func (d *reader) all(yield func(row) bool) error {
	if !d.delimiter('{') {
		return errNoDocument
	}
	kind, found := "", ""
	for d.decoder.More() {
		name, err := d.decoder.Token()
		if err != nil {
			return broken(err)
		}
		switch {
		case name == "type" && found != "nodes":
			err = d.decoder.Decode(&kind)
		case name == "features" && found == "":
			found = "features"
			err = d.list("feature", "[", (*row).point, yield)
		case name == "nodes" && found == "" && kind == "":
			if found = "nodes"; d.Set["type"] == "" || d.Set["ssid"] == "" {
				return errNodesLack
			}
			err = d.list("node", "[{", (*row).node, yield)
		default:
			err = d.skip()
		}
		if err != nil {
			return broken(err)
		}
	}
	if _, err := d.decoder.Token(); err != nil {
		return broken(err)
	}
	if found == "" || found == "features" && kind != "FeatureCollection" {
		return errNoDocument
	}
	if _, err := d.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the end of the document")
	}
	return nil
}

func (d *reader) delimiter(want json.Delim) bool {
	token, err := d.decoder.Token()
	return err == nil && token == want
}

// broken replaces an unexpected end of a document with a plain message.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle")
	}
	return err
}

// skip passes over a value of any length, such as the links of a list of nodes.
func (d *reader) skip() error {
	const deepest = 100
	for depth := 0; ; {
		d.text.bounded.next()
		d.lines.at(d.decoder.InputOffset()) // forgets the lines before
		token, err := d.decoder.Token()
		switch {
		case err != nil:
			return err
		case token == json.Delim('{') || token == json.Delim('['):
			depth++
		case token == json.Delim('}') || token == json.Delim(']'):
			depth--
		}
		switch {
		case depth == 0:
			return nil
		case depth > deepest:
			return errDeep
		}
	}
}

// list reads the elements of an array as rows, or also the members of an object.
func (d *reader) list(item string, begins string, read func(r *row, text []byte, key string, m Mapping) error, yield func(row) bool) error {
	token, err := d.decoder.Token()
	begin, ok := token.(json.Delim)
	if err != nil || !ok || !strings.Contains(begins, begin.String()) {
		return errNoDocument
	}
	for n := 1; d.decoder.More(); n++ {
		d.text.bounded.next()
		key := ""
		if begin == '{' {
			token, err := d.decoder.Token()
			if err != nil {
				return err
			}
			key, _ = token.(string)
		}
		var text json.RawMessage
		if err := d.decoder.Decode(&text); err != nil {
			return err
		}
		r := row{line: d.lines.at(d.decoder.InputOffset() - int64(len(text))), item: fmt.Sprintf("%s %d", item, n)}
		if err := read(&r, text, key, d.Mapping); err != nil {
			r.fault = err.Error()
		}
		if !yield(r) {
			return errStopped
		}
	}
	_, err = d.decoder.Token()
	return err
}

// point reads a feature into the same cells as a table has. Without a geometry it has no
// coordinates.
func (r *row) point(text []byte, _ string, m Mapping) error {
	var feature struct {
		Type     string
		Geometry *struct {
			Type        string
			Coordinates json.RawMessage
		}
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &feature); err != nil || feature.Type != "Feature" {
		return errors.New(`must be a Feature: {"type":"Feature","geometry":{"type":"Point",…},"properties":{…}}`)
	}
	r.cells = map[string]string{}
	if g := feature.Geometry; g != nil {
		var at []json.Number
		if g.Type != "Point" || json.Unmarshal(g.Coordinates, &at) != nil || len(at) < 2 || len(at) > 3 {
			return errors.New("geometry must be a Point with a longitude and a latitude")
		}
		r.cells["lng"], r.cells["lat"] = at[0].String(), at[1].String()
	}
	names := slices.Sorted(maps.Keys(feature.Properties))
	found, err := m.columnsOf(names)
	if err != nil {
		return err
	}
	for i, column := range found {
		if column == "" || column == "lat" || column == "lng" {
			r.unused = append(r.unused, names[i])
			continue
		}
		r.cells[column] = cellOf(feature.Properties[names[i]])
	}
	return checkEncoding(string(text))
}

// cellOf returns what the first value that there is would be in a table.
func cellOf(values ...json.RawMessage) string {
	for _, value := range values {
		var text string
		switch {
		case len(value) == 0 || string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			return text
		default:
			return string(value)
		}
	}
	return ""
}
