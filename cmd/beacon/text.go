package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// instant is a time as the API writes it: in UTC, with three digits of milliseconds.
type instant time.Time

func (i instant) String() string { return beacon.FormatTime(time.Time(i)) }

// MarshalText returns the same text as String.
func (i instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// instantOf returns nil for the zero time.
func instantOf(t time.Time) *instant {
	if t.IsZero() {
		return nil
	}
	i := instant(t)
	return &i
}

// count formats a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// between names the first and the last of some days or months.
func between[T interface {
	comparable
	fmt.Stringer
}](first, last T) string {
	if first == last {
		return first.String()
	}
	return fmt.Sprintf("%s to %s", first, last)
}

// newTable returns a table with a header. The caller writes rows to it, with tabs between
// cells, and flushes it.
func newTable(out io.Writer, header string) *tabwriter.Writer {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	return table
}
