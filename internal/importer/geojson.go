package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// points reads the features of a collection one by one.
type points struct {
	bounded *boundedReader
	lines   *lineReader
	decoder *json.Decoder
	number  int
}

// GeoJSON reads a FeatureCollection of Points (RFC 7946).
func GeoJSON(file io.Reader) (Rows, error) {
	p := &points{bounded: &boundedReader{r: file}}
	p.bounded.next()
	text := bufio.NewReader(p.bounded)
	if err := skipMark(text); err != nil {
		return nil, err
	}
	p.lines = &lineReader{r: text}
	p.decoder = json.NewDecoder(p.lines)
	return func(yield func(row, error) bool) {
		if err := p.collection(func(r row) bool { return yield(r, nil) }); err != nil && !errors.Is(err, errStopped) {
			yield(row{}, fmt.Errorf("after line %d: %w", p.lines.at(p.decoder.InputOffset()), err))
		}
	}, nil
}

var (
	errStopped      = errors.New("stopped")
	errNoCollection = errors.New(`this is no GeoJSON: want {"type":"FeatureCollection","features":[…]}`)
)

// collection reads the whole document.
func (p *points) collection(yield func(row) bool) error {
	if !p.delimiter('{') {
		return errNoCollection
	}
	kind, found := "", false
	for p.decoder.More() {
		name, err := p.decoder.Token()
		if err != nil {
			return broken(err)
		}
		switch name {
		case "type":
			err = p.decoder.Decode(&kind)
		case "features":
			found = true
			err = p.features(yield)
		default:
			p.bounded.next()
			err = p.decoder.Decode(new(json.RawMessage))
		}
		if err != nil {
			return broken(err)
		}
	}
	if _, err := p.decoder.Token(); err != nil {
		return broken(err)
	}
	if kind != "FeatureCollection" || !found {
		return errNoCollection
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the collection")
	}
	return nil
}

func (p *points) delimiter(want json.Delim) bool {
	token, err := p.decoder.Token()
	return err == nil && token == want
}

// broken replaces an unexpected end of a document with a plain message.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle")
	}
	return err
}

func (p *points) features(yield func(row) bool) error {
	if !p.delimiter('[') {
		return errNoCollection
	}
	for p.decoder.More() {
		p.bounded.next()
		p.number++
		var text json.RawMessage
		err := p.decoder.Decode(&text)
		if err != nil {
			return err
		}
		begin := p.decoder.InputOffset() - int64(len(text))
		r := row{line: p.lines.at(begin), feature: p.number}
		if err := r.point(text); err != nil {
			r.fault = err.Error()
		}
		if !yield(r) {
			return errStopped
		}
	}
	_, err := p.decoder.Token()
	return err
}

// point reads a feature into the same cells as a table has.
func (r *row) point(text []byte) error {
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
	var at []json.Number
	if g := feature.Geometry; g == nil || g.Type != "Point" || json.Unmarshal(g.Coordinates, &at) != nil || len(at) < 2 || len(at) > 3 {
		return errors.New("geometry must be a Point with a longitude and a latitude")
	}
	r.cells = map[string]string{"lng": at[0].String(), "lat": at[1].String()}
	for name, value := range feature.Properties {
		if name == "lat" || name == "lng" || !slices.Contains(columns, name) {
			r.unused = append(r.unused, name)
			continue
		}
		if !bytes.Equal(value, []byte("null")) {
			r.cells[name] = cellOf(value)
		}
	}
	return nil
}

// cellOf returns what a value would be in a table.
func cellOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
