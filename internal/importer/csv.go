package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Rows are the rows of a file; an error ends them. A row that cannot be read has a
// fault, and others may follow it.
type Rows iter.Seq2[row, error]

// maxRow limits the length of a row: more than a server accepts, and small enough to
// have many in memory.
const maxRow = 256 << 10

// boundedReader stops at a row that is too long, before it fills the memory.
type boundedReader struct {
	r    io.Reader
	left int
}

var errLongRow = fmt.Errorf("this is longer than %d KiB: is a quote missing?", maxRow>>10)

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRow
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}

// next allows another row.
func (b *boundedReader) next() { b.left = maxRow }

// source is the text of a file, in which a row may not be too long.
type source struct {
	*bufio.Reader
	bounded *boundedReader
}

// open begins to read a file.
func open(file io.Reader) (source, error) {
	bounded := &boundedReader{r: file}
	bounded.next()
	text := source{bufio.NewReader(bounded), bounded}
	return text, skipMark(text.Reader)
}

// table reads a table (RFC 4180). The first line names the columns.
func table(text source, m Mapping) (Rows, error) {
	table := csv.NewReader(text)
	var err error
	if table.Comma, err = separator(text.Reader); err != nil {
		return nil, err
	}
	table.FieldsPerRecord = -1 // a short line is a fault of that line, not of the file
	names, err := table.Read()
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		err = parse.Err // without its position
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	names = slices.Clone(names)
	found, err := tableColumns(names, m)
	if err != nil {
		return nil, err
	}
	table.ReuseRecord = true
	return func(yield func(row, error) bool) {
		for last := 1; ; {
			text.bounded.next()
			record, err := table.Read()
			parse, faulty := errors.AsType[*csv.ParseError](err)
			var r row
			switch {
			case errors.Is(err, io.EOF):
				return
			case faulty:
				last = parse.Line
				r = row{line: parse.StartLine, fault: parse.Err.Error() + "; a cell with quotes in it stands in quotes, and each of them is doubled"}
			case err != nil:
				yield(row{}, fmt.Errorf("after line %d: %w", last, err))
				return
			default:
				last, _ = table.FieldPos(len(record) - 1)
				r = csvRow(table, names, found, record)
			}
			if !yield(r, nil) {
				return
			}
		}
	}, nil
}

// csvRow converts a record to a row.
func csvRow(table *csv.Reader, names, found, record []string) row {
	line, _ := table.FieldPos(0)
	r := row{line: line, cells: map[string]string{}}
	for i, column := range found[:min(len(found), len(record))] {
		if column == "" {
			r.unused = append(r.unused, names[i])
			continue
		}
		r.cells[column] = record[i]
		if err := checkEncoding(record[i]); err != nil {
			r.fault = column + " " + err.Error()
		}
	}
	if len(record) != len(names) {
		r.fault = fmt.Sprintf("has %s, and the first line has %d", cellCount(len(record)), len(names))
	}
	return r
}

func cellCount(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

// skipMark skips a UTF-8 byte order mark, and refuses UTF-16 and a spreadsheet, which is a
// ZIP archive.
func skipMark(text *bufio.Reader) error {
	begin, err := text.Peek(3)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(begin) == 0:
		return errors.New("the file is empty")
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16: save it as UTF-8")
	case string(begin) == "PK\x03":
		return errors.New("the file is a spreadsheet or an archive: save it as CSV")
	case string(begin) == "\xef\xbb\xbf":
		_, err := text.Discard(len(begin))
		return err
	}
	return nil
}

// separator returns the most frequent separator in the first line.
func separator(text *bufio.Reader) (rune, error) {
	begin, err := text.Peek(text.Size() / 2)
	if err != nil && !errors.Is(err, io.EOF) && len(begin) == 0 {
		return 0, err
	}
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	best, most := ',', 0
	for _, candidate := range ",;\t|" {
		if n := strings.Count(string(line), string(candidate)); n > most {
			best, most = candidate, n
		}
	}
	return best, nil
}

// tableColumns returns the columns of a table by the names in its first line, and checks
// them for what a table needs.
func tableColumns(names []string, m Mapping) ([]string, error) {
	found, err := m.columnsOf(names)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	for _, column := range slices.Sorted(maps.Keys(m.From)) {
		if !slices.Contains(found, column) {
			return nil, fmt.Errorf("line 1: there is no column %s; it names %s", m.From[column], strings.Join(names, ", "))
		}
	}
	if missing := m.missing(found); len(missing) > 0 {
		return nil, fmt.Errorf("line 1: there is no column %s; name the file's own with --map, or give all rows a value with --set: see --help", strings.Join(missing, ", "))
	}
	return found, nil
}
