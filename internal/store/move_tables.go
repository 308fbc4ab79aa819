package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// movedTable is a table as its migrations describe it, for Move: all of its columns, and
// the key that its rows are in order of.
type movedTable struct {
	name    string
	columns []movedColumn
	key     []int // which columns are its primary key
}

type movedColumn struct {
	name string
	kind movedKind
}

// movedKind is what a column holds, whatever an engine calls it.
type movedKind byte

const (
	movedText  movedKind = 's'
	movedWhole movedKind = 'i'
	movedReal  movedKind = 'f'
	movedBytes movedKind = 'b'
)

// kinds are the types of columns that migrations use.
var kinds = map[string]movedKind{
	"{key}": movedText, "text": movedText, "bigint": movedWhole, "double precision": movedReal, "bytea": movedBytes,
}

// tablesOf returns the tables that migrations create, in order. What it cannot parse, and a
// type of column that Move does not know, is an error, so that nothing is left behind.
func tablesOf(steps []Migration) (tables []movedTable, err error) {
	for _, step := range steps {
		for _, statement := range step.Statements {
			if tables, err = withStatement(tables, statement); err != nil {
				return nil, fmt.Errorf("migration %s: %w", step.Name, err)
			}
		}
	}
	return tables, nil
}

func withStatement(tables []movedTable, statement string) ([]movedTable, error) {
	if m := tableText.FindStringSubmatch(statement); m != nil {
		table := movedTable{name: m[1]}
		err := table.parse(m[2])
		return append(tables, table), err
	}
	if m := alterText.FindStringSubmatch(statement); m != nil {
		i := slices.IndexFunc(tables, func(t movedTable) bool { return t.name == m[1] })
		if i < 0 {
			return nil, fmt.Errorf("there is no table %s", m[1])
		}
		return tables, tables[i].add(m[2], m[3])
	}
	if indexText.MatchString(statement) {
		return tables, nil
	}
	return nil, fmt.Errorf("cannot parse this statement: %.60s", statement)
}

// parse adds the columns and the key in the body of a CREATE TABLE.
func (t *movedTable) parse(body string) error {
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if line == "" {
			continue
		}
		if m := keyText.FindStringSubmatch(line); m != nil {
			for name := range strings.SplitSeq(m[1], ", ") {
				t.key = append(t.key, slices.IndexFunc(t.columns, func(c movedColumn) bool { return c.name == name }))
			}
			continue
		}
		m := columnText.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("cannot parse this statement: %.60s", line)
		}
		if err := t.add(m[1], m[2]); err != nil {
			return err
		}
	}
	if len(t.key) == 0 || slices.Contains(t.key, -1) {
		return fmt.Errorf("table %s has no primary key", t.name)
	}
	return nil
}

// add adds a column, whose type comes before NOT NULL and the like.
func (t *movedTable) add(name, definition string) error {
	written, _, _ := strings.Cut(definition, " NOT NULL")
	kind, known := kinds[written]
	if !known {
		return fmt.Errorf("column %s.%s: Move does not know the type %s", t.name, name, written)
	}
	t.columns = append(t.columns, movedColumn{name, kind})
	return nil
}

func (t *movedTable) columnNames() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// keyNames returns the columns of the key, each with a suffix.
func (t *movedTable) keyNames(suffix string) string {
	names := make([]string, len(t.key))
	for i, k := range t.key {
		names[i] = t.columns[k].name + suffix
	}
	return strings.Join(names, ", ")
}

func (t *movedTable) insertSQL() string {
	return "INSERT INTO " + t.name + " (" + t.columnNames() + ") VALUES " + listMark
}

// rowsSQL selects the rows after a key, in its order, or all rows.
func (t *movedTable) rowsSQL(after bool) string {
	text := "SELECT " + t.columnNames() + " FROM " + t.name
	if after {
		marks := make([]string, len(t.key))
		for i := range marks {
			marks[i] = "$" + strconv.Itoa(i+1)
		}
		text += " WHERE (" + t.keyNames("") + ") > (" + strings.Join(marks, ", ") + ")"
	}
	return text + " ORDER BY " + t.keyNames("")
}

// lastKey returns the key of the last row, or nil if there is none.
func (t *movedTable) lastKey(ctx context.Context, on queryer) (key []any, err error) {
	text := "SELECT " + t.keyNames("") + " FROM " + t.name + " ORDER BY " + t.keyNames(" DESC") + " LIMIT 1"
	rows, err := on.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		kinds := make([]movedKind, len(t.key))
		for i, k := range t.key {
			kinds[i] = t.columns[k].kind
		}
		if key, err = readValues(rows, kinds); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return key, rows.Err()
}

// each calls fn with the values of each row after a key, or of all rows if it is nil, in the
// order of the key. Fn may keep them.
func (t *movedTable) each(ctx context.Context, on queryer, after []any, fn func(values []any) error) error {
	rows, err := on.QueryContext(ctx, t.rowsSQL(after != nil), after...)
	if err != nil {
		return err
	}
	defer rows.Close()
	kinds := make([]movedKind, len(t.columns))
	for i, c := range t.columns {
		kinds[i] = c.kind
	}
	for rows.Next() {
		values, err := readValues(rows, kinds)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		if err := fn(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t *movedTable) count(ctx context.Context, on *sql.Conn) (rows int64, err error) {
	err = on.QueryRowContext(ctx, "SELECT count(*) FROM "+t.name).Scan(&rows)
	return rows, err
}

// digest writes all rows to a hash, in the order of their keys, and returns how many they are.
// The same values are the same bytes from every engine.
func (t *movedTable) digest(ctx context.Context, on *sql.Conn, sum io.Writer, each func()) (rows int64, err error) {
	var said []byte
	err = t.each(ctx, on, nil, func(values []any) error {
		said = said[:0]
		for i, value := range values {
			said = append(said, byte(t.columns[i].kind))
			switch value := value.(type) {
			case nil:
				said[len(said)-1] = 0
			case string:
				said = append(binary.AppendUvarint(said, uint64(len(value))), value...)
			case int64:
				said = binary.LittleEndian.AppendUint64(said, uint64(value))
			case float64:
				said = binary.LittleEndian.AppendUint64(said, math.Float64bits(value))
			case []byte:
				said = append(binary.AppendUvarint(said, uint64(len(value))), value...)
			}
		}
		rows++
		_, err := sum.Write(said)
		if each != nil {
			each()
		}
		return err
	})
	return rows, err
}

// readValues returns the columns of a row: a string, int64, float64 or []byte, or nil for
// NULL, whichever engine it came from. A value of another type than its column is an error.
func readValues(rows *sql.Rows, kinds []movedKind) ([]any, error) {
	values, targets := make([]any, len(kinds)), make([]any, len(kinds))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return nil, err
	}
	for i, value := range values {
		var kind movedKind
		switch value := value.(type) {
		case nil:
			continue
		case string:
			kind = movedText
		case int64:
			kind = movedWhole
		case float64:
			kind = movedReal
			values[i] = value + 0 // SQLite has no -0
		case []byte:
			kind = movedBytes
			values[i] = append([]byte{}, value...) // an empty one is not NULL
		}
		if kind != kinds[i] {
			return nil, fmt.Errorf("a column holds a %T; run beacon doctor", value)
		}
	}
	return values, nil
}
