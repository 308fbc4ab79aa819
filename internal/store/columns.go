package store

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// fields returns what the columns of a row are read into and written from, in their
// order: a *string, *int, *int64, *float64, *[]byte or a cell for each. Everything that a
// row has is a field, since a T is used again for the next row. A named may be among them.
type fields[T any] func(row *T) []any

// cell is a field that is stored in another form.
type cell interface {
	target() any         // what the column is read into
	finish() error       // sets the field once the row is read
	value() (any, error) // what is written; it sets the target too
}

// named says what to call a row that cannot be read.
type named struct {
	what string
	id   *string
}

// bind returns what the columns are read into, and a function that completes the row after
// that.
func bind(fields []any) (targets []any, finish func() error) {
	targets = make([]any, 0, len(fields))
	var cells []cell
	var name *named
	for _, field := range fields {
		switch field := field.(type) {
		case named:
			name = &field
		case cell:
			cells = append(cells, field)
			targets = append(targets, field.target())
		default:
			targets = append(targets, field)
		}
	}
	return targets, func() (err error) {
		for _, c := range cells {
			err = cmp.Or(err, c.finish())
		}
		if err != nil && name != nil {
			return &rowError{name.what + " " + *name.id, err}
		}
		return err
	}
}

// appendValues appends what is written for the fields.
func appendValues(values []any, fields []any) ([]any, error) {
	for _, field := range fields {
		switch field := field.(type) {
		case *string:
			values = append(values, *field)
		case *int:
			values = append(values, int64(*field))
		case *int64:
			values = append(values, *field)
		case *float64:
			values = append(values, *field)
		case *[]byte:
			values = append(values, *field)
		case cell:
			value, err := field.value()
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
	}
	return values, nil
}

// setTargets stores values as a scan of their row would.
func setTargets(targets, values []any) {
	for i, target := range targets {
		switch target := target.(type) {
		case *string:
			*target = values[i].(string)
		case *int:
			*target = int(values[i].(int64))
		case *int64:
			*target = values[i].(int64)
		case *float64:
			*target = values[i].(float64)
		case *[]byte:
			*target = values[i].([]byte)
		}
	}
}

// coded is a cell of a column of type S.
type coded[S any] struct {
	stored S
	encode func() (S, error)
	decode func(S) error
}

func (c *coded[S]) target() any   { return &c.stored }
func (c *coded[S]) finish() error { return c.decode(c.stored) }

func (c *coded[S]) value() (_ any, err error) {
	c.stored, err = c.encode()
	return c.stored, err
}

// as returns the cell of a field.
func as[S, T any](field *T, encode func(T) (S, error), decode func(S) (T, error)) cell {
	return &coded[S]{
		encode: func() (S, error) { return encode(*field) },
		decode: func(stored S) (err error) {
			*field, err = decode(stored)
			return err
		},
	}
}

// always is for what cannot fail.
func always[S, T any](convert func(S) T) func(S) (T, error) {
	return func(s S) (T, error) { return convert(s), nil }
}

// number and label are cells for results of one column.
func number[T ~int64](n *T) []any {
	return []any{as(n, func(n T) (int64, error) { return int64(n), nil }, func(n int64) (T, error) { return T(n), nil })}
}

func label[T ~string](t *T) []any {
	return []any{as(t, func(t T) (string, error) { return string(t), nil }, func(t string) (T, error) { return T(t), nil })}
}

// moment is a time in a column of microseconds.
func moment(t *time.Time) cell { return &momentCell{field: t} }

type momentCell struct {
	field  *time.Time
	stored int64
}

func (c *momentCell) target() any { return &c.stored }

func (c *momentCell) finish() error {
	*c.field = fromMicros(c.stored)
	return nil
}

func (c *momentCell) value() (any, error) {
	c.stored = micros(*c.field)
	return c.stored, nil
}

// micros returns a time as stored in a row; 0 is the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

func hash[T ~[sha256.Size]byte](h *T) cell {
	return as(h, func(h T) ([]byte, error) { return h[:], nil }, func(data []byte) (h T, err error) {
		if len(data) != sha256.Size {
			return h, fmt.Errorf("a hash of %d bytes", len(data))
		}
		return T(data), nil
	})
}

// tier rejects what is not a tier, because it would have no name.
func tier(t *beacon.Tier) cell {
	return as(t, func(t beacon.Tier) (int64, error) { return int64(t), nil }, func(n int64) (beacon.Tier, error) {
		if n < int64(beacon.Standard) || n > int64(beacon.Premium) {
			return 0, fmt.Errorf("unknown tier %d in the ledger", n)
		}
		return beacon.Tier(n), nil
	})
}

// unsigned is a number whose values above 2^63 are stored as negative ones.
func unsigned(n *uint64) cell {
	return as(n, func(n uint64) (int64, error) { return int64(n), nil }, func(n int64) (uint64, error) { return uint64(n), nil }) //nolint:gosec // see above
}

func ground(g *beacon.Ground) cell {
	return as(g, func(g beacon.Ground) (string, error) { return ledger.GroundText(&g), nil }, ledger.ParseGround)
}

func flag(b *bool) cell {
	return as(b, func(b bool) (int64, error) { return bit(b), nil }, func(n int64) (bool, error) { return n != 0, nil })
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// storableText rejects what databases handle differently: PostgreSQL rejects NUL and
// invalid UTF-8, and SQLite stores them.
func storableText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return errors.New("a text cannot be stored: it is not UTF-8, or has a NUL in it") // the text may be someone's address, so it is not in the error
		}
	}
	return nil
}
