package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/internal/store"
)

// newScan returns a function that reads packed rows: all text and integer columns of a
// row are returned as one text, separated by NUL, which no stored text contains. The driver
// takes a lock three times for each column of each row; a million hotspots of 19 columns load
// almost twice as fast with five columns (2.4 µs of CPU a row against 4.1). It calls the
// driver directly, because database/sql takes two more locks for each row.
func newScan() store.Scan {
	var queries sync.Map // of *packedQuery, by text
	return func(ctx context.Context, conn *sql.Conn, text string, targets, args []any, each func() error) error {
		query, ok := queries.Load(text)
		if !ok {
			query, _ = queries.LoadOrStore(text, packQuery(text, targets))
		}
		return query.(*packedQuery).scan(ctx, conn, targets, args, each)
	}
}

// packedQuery is a query whose first column has the text of those that are packed. It packs
// none if they are not simply names: a NULL would be left out.
type packedQuery struct {
	text  string
	packs []bool // which columns are packed
	any   bool
}

var selectNames = regexp.MustCompile(`^SELECT ([\w., \n\t]+?)\s+FROM\s`)

func packQuery(text string, targets []any) *packedQuery {
	q := &packedQuery{text: positional(text), packs: make([]bool, len(targets))}
	found := selectNames.FindStringSubmatch(text)
	if found == nil {
		return q
	}
	names := strings.Split(found[1], ",")
	if len(names) != len(targets) {
		return q
	}
	var packed, others []string
	for i, target := range targets {
		switch target.(type) {
		case *string, *int, *int64:
			q.packs[i], q.any, packed = true, true, append(packed, names[i])
		default: // a real would lose digits, and a blob may contain a NUL
			others = append(others, names[i])
		}
	}
	if q.any {
		all := append([]string{"concat_ws(char(0), " + strings.Join(packed, ", ") + ")"}, others...)
		q.text = positional("SELECT " + strings.Join(all, ", ") + text[len("SELECT ")+len(found[1]):])
	}
	return q
}

func (q *packedQuery) scan(ctx context.Context, conn *sql.Conn, targets, args []any, each func() error) error {
	return conn.Raw(func(raw any) error {
		rows, err := raw.(driver.QueryerContext).QueryContext(ctx, q.text, named(args))
		if err != nil {
			return err
		}
		defer rows.Close()
		values := make([]driver.Value, len(rows.Columns()))
		for err == nil {
			if err = rows.Next(values); err == nil {
				err = q.unpack(values, targets)
			}
			if err == nil {
				err = each()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// unpack stores a row in the targets. Its texts share memory.
func (q *packedQuery) unpack(values []driver.Value, targets []any) (err error) {
	var packed string
	if q.any {
		packed, _ = values[0].(string)
		values = values[1:]
	}
	for i, target := range targets {
		if !q.packs[i] {
			if len(values) == 0 {
				return fmt.Errorf("too few columns for %d targets", len(targets))
			}
			if err := assign(target, values[0]); err != nil {
				return err
			}
			values = values[1:]
			continue
		}
		var field string
		field, packed, _ = strings.Cut(packed, "\x00")
		switch target := target.(type) {
		case *string:
			*target = field
		case *int:
			*target, err = strconv.Atoi(field)
		case *int64:
			*target, err = strconv.ParseInt(field, 10, 64)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// assign stores a value that is not packed.
func assign(target any, value driver.Value) error {
	ok := true
	switch target := target.(type) {
	case *float64:
		*target, _ = value.(float64)
	case *[]byte:
		*target, _ = value.([]byte)
	case *string:
		*target, ok = value.(string)
	case *int64:
		*target, ok = value.(int64)
	case *int:
		var n int64
		n, ok = value.(int64)
		*target = int(n)
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("cannot read a %T into a %T", value, target)
	}
	return nil
}

// positional replaces numbered placeholders by "?" if they count up from $1. To SQLite
// "$1" is a name, and the driver looks up each name in the list of all of them: a page
// of a day's rewards, in inserts of up to 256 rows of 14 columns, took 340 µs a row
// with names and 52 without, on a busy machine.
//
// It also hides the placeholder of a LIMIT from the planner: SQLite plans for the value,
// and so would parse the statement again each time it is bound.
func positional(text string) string {
	text = strings.ReplaceAll(text, "LIMIT $", "LIMIT 0+$")
	var out strings.Builder
	rest := text
	for n := 1; ; n++ {
		before, after, found := strings.Cut(rest, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		number := strconv.Itoa(n)
		if !strings.HasPrefix(after, number) || startsWithDigit(after[len(number):]) {
			return text
		}
		out.WriteByte('?')
		rest = after[len(number):]
	}
}

func startsWithDigit(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9'
}
