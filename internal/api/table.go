package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// table is an answer as a CSV file (RFC 4180): the first line names the columns.
type table struct {
	file string // its name, where a browser keeps it
	body []byte
}

// newTable begins a table.
func newTable(file string, columns ...string) *table {
	t := &table{file: file}
	t.line(columns...)
	return t
}

// line adds a line of texts that need no quotes: ids, numbers and names of ours.
func (t *table) line(cells ...string) {
	t.body = append(t.body, strings.Join(cells, ",")...)
	t.body = append(t.body, "\r\n"...)
}

// formulas are the characters that make a spreadsheet calculate what is in a
// cell instead of showing it; the wide ones do so where people write Japanese.
const formulas = "=+-@\t\r＝＋－＠"

// quotedCell is a text that someone else chose as a cell. One that a spreadsheet
// would take for a formula gets an apostrophe in front, which is how people tell
// a spreadsheet that they mean a text.
func quotedCell(text string) string {
	if strings.IndexAny(text, formulas) == 0 {
		text = "'" + text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

var (
	csvType    = []string{"text/csv; charset=utf-8; header=present"}
	varyAccept = []string{"Accept"}
)

// markTable writes the header of an answer that is a table.
func markTable(h http.Header, file string) {
	h["Content-Type"] = csvType
	h.Set("Content-Disposition", `attachment; filename="`+file+`"`)
}

// serveForms makes an endpoint like serve does, whose answer is JSON or, where
// the client would rather have that, a table.
func serveForms[In, Out any](
	a *API,
	decode func(http.ResponseWriter, *http.Request) (In, error),
	verb func(context.Context, beacon.Principal, In) (Out, error),
	encode func(http.Header, Out) payload,
	tabulate func(In, Out) *table,
) endpoint {
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		w.Header()["Vary"] = varyAccept
		in, err := decode(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		out, err := verb(ctx, p, in)
		if err != nil {
			return err
		}
		if !wants(r, asCSV) {
			return a.write(w, http.StatusOK, encode(w.Header(), out))
		}
		t := tabulate(in, out)
		markTable(w.Header(), t.file)
		w.Header()["Content-Length"] = decimal(len(t.body))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(t.body) // a client that left is no fault of ours
		return nil
	}
}
