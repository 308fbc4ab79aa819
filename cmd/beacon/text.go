package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/beacon-wifi/beacon/internal/api/edge"
)

// printJSON prints a value of package client as the API writes it.
func (c *console) printJSON(v any) error {
	line, err := edge.EncodeJSON(v)
	if err == nil {
		_, err = c.stdout.Write(line)
	}
	return err
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
