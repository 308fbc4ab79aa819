package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
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

// CSV reads a table (RFC 4180). The first line names the columns.
func CSV(file io.Reader) (Rows, error) {
	bounded := &boundedReader{r: file}
	bounded.next()
	text := bufio.NewReader(bounded)
	if err := skipMark(text); err != nil {
		return nil, err
	}
	table := csv.NewReader(text)
	var err error
	if table.Comma, err = separator(text); err != nil {
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
	if names, err = columnNames(names); err != nil {
		return nil, err
	}
	table.ReuseRecord = true
	return func(yield func(row, error) bool) {
		for last := 1; ; {
			bounded.next()
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
				r = csvRow(table, names, record)
			}
			if !yield(r, nil) {
				return
			}
		}
	}, nil
}

// csvRow converts a record to a row.
func csvRow(table *csv.Reader, names, record []string) row {
	line, _ := table.FieldPos(0)
	r := row{line: line, cells: map[string]string{}}
	if len(record) != len(names) {
		r.fault = fmt.Sprintf("has %s, and the first line has %d", cellCount(len(record)), len(names))
		return r
	}
	for i, name := range names {
		if slices.Contains(columns, name) {
			r.cells[name] = record[i]
		} else {
			r.unused = append(r.unused, name)
		}
	}
	return r
}

func cellCount(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

// skipMark skips a UTF-8 byte order mark, and refuses UTF-16.
func skipMark(text *bufio.Reader) error {
	begin, err := text.Peek(3)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(begin) == 0:
		return errors.New("the file is empty")
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16: save it as UTF-8")
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

// columnNames checks the first line for what a table needs.
func columnNames(record []string) ([]string, error) {
	names := make([]string, len(record))
	for i, name := range record {
		names[i] = strings.ToLower(strings.TrimSpace(name))
		if name := names[i]; slices.Contains(names[:i], name) && slices.Contains(columns, name) {
			return nil, fmt.Errorf("line 1: the column %s is there twice", name)
		}
	}
	var missing []string
	for _, name := range needed {
		if !slices.Contains(names, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("line 1: there is no column %s; the first line must name the columns, see beacon import --help", strings.Join(missing, ", "))
	}
	return names, nil
}
