package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// table is a response as a CSV file (RFC 4180). Its first line names the columns.
type table struct {
	file string // file name for a browser that saves it
	body []byte
}

// newTable returns a table with a header line.
func newTable(file string, columns ...string) *table {
	t := &table{file: file}
	t.line(columns...)
	return t
}

// line adds cells that need no quotes: ids, numbers and our own names.
func (t *table) line(cells ...string) {
	t.body = append(t.body, strings.Join(cells, ",")...)
	t.body = append(t.body, "\r\n"...)
}

// formulas are the characters at the start of a cell that make a spreadsheet evaluate
// it instead of showing it. The full-width ones do so in Japanese locales.
const formulas = "=+-@\t\r＝＋－＠"

// quotedCell returns text from outside as a quoted cell. Text that a spreadsheet would
// evaluate as a formula gets a leading apostrophe, which marks it as text.
func quotedCell(text string) string {
	if strings.IndexAny(text, formulas) == 0 {
		text = "'" + text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

var csvType = []string{"text/csv; charset=utf-8; header=present"}

// serveForms is like serve, but its response is a CSV table if there is one and the client
// prefers that to JSON.
func serveForms[In, Out any](
	a *API, status int, decode decoder[In], do verb[In, Out], encode encoder[Out], tabulate func(In, Out) *table,
) endpoint {
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		if tabulate != nil {
			w.Header()["Vary"] = a.varyForm
		}
		in, err := decode(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		out, err := do(ctx, p, in)
		if err != nil {
			return err
		}
		if tabulate == nil || !wants(r, asCSV) {
			return a.write(w, status, encode(w.Header(), out))
		}
		t := tabulate(in, out)
		w.Header().Set("Content-Disposition", `attachment; filename="`+t.file+`"`)
		writeAs(w, status, csvType, t.body)
		return nil
	}
}
