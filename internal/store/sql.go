package store

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

const (
	keyColumns    = `id, user_id, name, scopes, secret_hash, created_at, expires_at, revoked_at, last_used_at, restrictions, enrolment, enrolled, created_by, seal`
	changeColumns = `node, seq, kind, target, version, key_id, user_id, request_id, at, note, person_id`
	eventColumns  = `seq, kind, target, user_id, at`
)

// listMark stands for a list of placeholders: in "VALUES (…)" for the values of any number of
// rows, elsewhere for any number of values, which come after the other arguments.
const listMark = "(…)"

// fill writes out the list of a statement, if it has one, for a number of arguments.
func fill(text string, args int) string {
	before, after, found := strings.Cut(text, listMark)
	if !found {
		return text
	}
	var filled strings.Builder
	filled.WriteString(before)
	columns, n := args, 1
	if strings.HasSuffix(before, "VALUES ") {
		names, _, _ := strings.Cut(before, ")")
		columns = strings.Count(names, ",") + 1
	} else {
		n += strings.Count(text, "$")
	}
	for first := n; n <= args; n++ {
		switch {
		case n == first:
			filled.WriteString("($")
		case (n-1)%columns == 0:
			filled.WriteString("), ($")
		default:
			filled.WriteString(", $")
		}
		filled.WriteString(strconv.Itoa(n))
	}
	filled.WriteString(")" + after)
	return filled.String()
}

// maxRows is how many rows a statement inserts at most.
const maxRows = 256

// inChunks calls write with the rows from (included) to to (excluded) of n, in chunks of 1,
// 2, 4, … rows, so that any number of rows needs few statements, all of them prepared.
func inChunks(n int, write func(from, to int) error) error {
	for from := 0; from < n; {
		to := from + min(1<<(bits.Len(uint(n-from))-1), maxRows)
		if err := write(from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// putRows inserts rows.
func putRows[T any](tx *transaction, text string, rows []T, row fields[T]) error {
	return inChunks(len(rows), func(from, to int) error { return tx.write(text, valuesOf(tx, rows[from:to], row)...) })
}

// valuesOf returns what is written for rows. If there is nothing, the transaction fails.
func valuesOf[T any](tx *transaction, rows []T, row fields[T]) (values []any) {
	for i := range rows {
		var err error
		if values, err = appendValues(values, row(&rows[i])); err != nil {
			tx.failed = cmp.Or(tx.failed, err)
			return nil
		}
		if i == 0 {
			values = slices.Grow(values, len(values)*(len(rows)-1))
		}
	}
	return values
}

// keysIn adds the keys that a query finds to a set.
func keysIn[K ~string](tx *transaction, set map[K]bool, text string, args ...any) error {
	found, err := list(tx.ctx, tx, label[K], text, args...)
	for _, key := range found {
		set[key] = true
	}
	return err
}
