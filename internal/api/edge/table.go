package edge

import (
	"context"
	"net/http"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Table is a response as a CSV file (RFC 4180). Its first line names the columns.
type Table struct {
	file string // file name for a browser that saves it
	Body []byte
}

// NewTable returns a table with a header line.
func NewTable(file string, columns ...string) *Table {
	t := &Table{file: file}
	t.Line(columns...)
	return t
}

// Line adds cells that need no quotes: ids, numbers and our own names.
func (t *Table) Line(cells ...string) {
	t.Body = append(t.Body, strings.Join(cells, ",")...)
	t.Body = append(t.Body, "\r\n"...)
}

// formulas are the characters at the start of a cell that make a spreadsheet evaluate
// it instead of showing it. The full-width ones do so in Japanese locales.
const formulas = "=+-@\t\r＝＋－＠"

// QuotedCell returns text from outside as a quoted cell. Text that a spreadsheet would
// evaluate as a formula gets a leading apostrophe, which marks it as text.
func QuotedCell(text string) string {
	if strings.IndexAny(text, formulas) == 0 {
		text = "'" + text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

var CsvType = []string{"text/csv; charset=utf-8; header=present"}

// ServeForms is like serve, but its response is a CSV table if there is one and the client
// prefers that to JSON.
func ServeForms[In, Out any](
	e *Edge, status int, decode decoder[In], do verb[In, Out], encode encoder[Out], tabulate func(In, Out) *Table,
) Endpoint {
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		if tabulate != nil {
			w.Header()["Vary"] = e.VaryForm
		}
		in, err := decode(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), e.Patience)
		defer cancel()
		out, err := do(ctx, p, in)
		if err != nil {
			return err
		}
		if tabulate == nil || !Wants(r, AsCSV) {
			return e.Write(w, status, encode(w.Header(), out))
		}
		t := tabulate(in, out)
		w.Header().Set("Content-Disposition", `attachment; filename="`+t.file+`"`)
		WriteAs(w, status, CsvType, t.Body)
		return nil
	}
}
